"""Conversations of extreme shape, of any length: what is harmless in hundreds of rows must stay so in a million."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from bench.generator.content import encode, iso
from bench.stores import cached_folder

Entry = dict[str, Any]

SESSION_ID: Final = str(uuid.UUID(int=1, version=4))
FOLDER: Final = "-home-dev-work-shapes"
_START: Final = 1_767_225_600.0


class _Writer:
    """Makes entries with running uuids and clock."""

    def __init__(self) -> None:
        self.made = 0

    def entry(self, kind: str, parent: str | None, **fields: object) -> Entry:
        self.made += 1
        return {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/work/shapes",
            "sessionId": SESSION_ID,
            "version": "2.1.44",
            "gitBranch": "main",
            "type": kind,
            "uuid": _uuid(self.made),
            "timestamp": iso(_START + self.made),
            **fields,
        }

    def user(self, parent: str | None, content: object = None, **fields: object) -> Entry:
        text = f"Line {self.made} of a very long conversation."
        return self.entry("user", parent, message={"role": "user", "content": content or text}, **fields)

    def result(self, parent: str, call: str) -> Entry:
        return self.user(
            parent, [{"type": "tool_result", "tool_use_id": call, "content": "done"}], toolUseResult="done"
        )

    def assistant(self, parent: str | None, block: Entry | None = None, response: int | None = None) -> Entry:
        number = self.made if response is None else response
        message = {
            "id": f"msg_{number:024d}",
            "type": "message",
            "role": "assistant",
            "model": "claude-haiku-4-5-20251001",
            "content": [block or {"type": "text", "text": f"Line {self.made} of a very long conversation."}],
            "stop_reason": "tool_use" if block else "end_turn",
            "usage": {"input_tokens": 3, "output_tokens": 12},
        }
        return self.entry("assistant", parent, message=message, requestId=f"req_{number:024d}")


def _uuid(number: int) -> str:
    return str(uuid.UUID(int=number + 2, version=4))


def _call(number: int) -> Entry:
    return {"type": "tool_use", "id": f"toolu_{number:024d}", "name": "Bash", "input": {"command": "true"}}


def chain(count: int) -> Iterator[Entry]:
    """Prompt, answer, prompt, answer, ..."""
    writer, parent = _Writer(), None
    for number in range(count):
        entry = writer.assistant(parent) if number % 2 else writer.user(parent)
        yield entry
        parent = entry["uuid"]


def tool_loop(count: int) -> Iterator[Entry]:
    """One prompt, then calls and results until the end."""
    writer = _Writer()
    entry = writer.user(None)
    yield entry
    for number in range(count // 2):
        entry = writer.assistant(entry["uuid"], _call(number))
        yield entry
        entry = writer.result(entry["uuid"], _call(number)["id"])
        yield entry


def parallel_calls(count: int) -> Iterator[Entry]:
    """One response with a great many calls, every result hanging on its own call."""
    writer = _Writer()
    entry = writer.user(None)
    yield entry
    calls: list[Entry] = []
    for number in range(count // 2):
        entry = writer.assistant(entry["uuid"], _call(number), response=0)
        calls.append(entry)
        yield entry
    for number, call in enumerate(calls):
        yield writer.result(call["uuid"], _call(number)["id"])


def compactions(count: int) -> Iterator[Entry]:
    """A compaction after every twenty rows."""
    writer = _Writer()
    parent: str | None = None
    for number in range(count):
        if number % 20 == 18:
            entry = writer.entry(
                "system",
                None,
                subtype="compact_boundary",
                logicalParentUuid=parent,
                content="Conversation compacted",
                compactMetadata={"trigger": "auto", "preTokens": 1000},
            )
        elif number % 20 == 19:
            entry = writer.user(parent, "This session is being continued.", isCompactSummary=True)
        else:
            entry = writer.assistant(parent) if number % 2 else writer.user(parent)
        yield entry
        parent = entry["uuid"]


def rewinds(count: int) -> Iterator[Entry]:
    """After every ten rows the conversation goes back by five."""
    writer = _Writer()
    recent: list[str] = []
    parent: str | None = None
    for number in range(count):
        entry = writer.assistant(parent) if number % 2 else writer.user(parent)
        yield entry
        parent = entry["uuid"]
        recent = [*recent[-9:], entry["uuid"]]
        if number % 10 == 9:
            parent = recent[-5]


def star(count: int) -> Iterator[Entry]:
    """Every prompt is a new start from the same row."""
    writer = _Writer()
    first = writer.user(None)
    yield first
    for _ in range(count - 1):
        yield writer.user(first["uuid"])


def forest(count: int) -> Iterator[Entry]:
    """No row has a parent."""
    writer = _Writer()
    for _ in range(count):
        yield writer.user(None)


def broken_links(count: int) -> Iterator[Entry]:
    """Every other row names a parent that is not there: the client mends by time."""
    writer, parent = _Writer(), None
    for number in range(count):
        missing = _uuid(10**12 + number) if number % 2 else parent
        entry = writer.assistant(missing) if number % 2 else writer.user(missing)
        yield entry
        parent = entry["uuid"]


def progress(count: int) -> Iterator[Entry]:
    """Progress rows in the chain, as in 2.1.0 - 2.1.42: nineteen rows of twenty."""
    writer, parent = _Writer(), None
    for number in range(count):
        if number % 20:
            entry = writer.entry("progress", parent, data={"type": "bash_progress", "output": ""})
        else:
            entry = writer.user(parent)
        yield entry
        parent = entry["uuid"]


def copies(count: int) -> Iterator[Entry]:
    """Every row is written twice."""
    for entry in chain(count // 2):
        yield entry
        yield entry


def checkpoints(count: int) -> Iterator[Entry]:
    """A checkpoint after every row."""
    for entry in chain(count // 2):
        yield entry
        yield {"type": "last-prompt", "leafUuid": entry["uuid"], "lastPrompt": "x", "sessionId": SESSION_ID}


def attachments(count: int) -> Iterator[Entry]:
    """One prompt, and a tail of attachments one below the other."""
    writer = _Writer()
    entry = writer.user(None)
    yield entry
    for _ in range(count - 1):
        entry = writer.entry("attachment", entry["uuid"], attachment={"type": "todo_reminder", "content": []})
        yield entry


def subagents_inside(count: int) -> Iterator[Entry]:
    """Subagents of ten rows each inside the main file."""
    writer = _Writer()
    last = writer.user(None)
    yield last
    for number in range(count // 12):
        last = writer.assistant(last["uuid"], _call(number) | {"name": "Task", "input": {"prompt": f"Task {number}"}})
        yield last
        parent: str | None = None
        for step in range(10):
            entry = writer.assistant(parent) if step % 2 else writer.user(parent, f"Task {number}")
            yield entry | {"isSidechain": True}
            parent = entry["uuid"]
        last = writer.result(last["uuid"], _call(number)["id"])
        yield last


def circle(count: int) -> Iterator[Entry]:
    """The first row names the last one as its parent."""
    for number, entry in enumerate(chain(count)):
        yield entry | {"parentUuid": _uuid(count)} if number == 0 else entry


SHAPES: Final[dict[str, Callable[[int], Iterator[Entry]]]] = {
    shape.__name__: shape
    for shape in (
        chain, tool_loop, parallel_calls, compactions, rewinds, star, forest, broken_links, progress, copies,
        checkpoints, attachments, subagents_inside, circle,
    )
}  # fmt: skip


def shape_home(name: str, count: int) -> Path:
    """A home with one session of this shape and about this many rows."""

    def make(home: Path) -> None:
        path = transcript_path(home)
        path.parent.mkdir(parents=True)
        with open(path, "wb") as file:
            file.writelines(encode(entry) + b"\n" for entry in SHAPES[name](count))

    return cached_folder(f"shape-{name.replace('_', '-')}-{count}", make, [Path(__file__)])


def transcript_path(home: Path) -> Path:
    return home / "projects" / FOLDER / f"{SESSION_ID}.jsonl"
