"""Write the home: sessions, subagents and side files with planted texts, and return where everything stands."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from recollect.testing.secret_home.contexts import context_of
from recollect.testing.secret_home.harmless import HARMLESS
from recollect.testing.secret_home.marked_text import BASE62, BASE64, HEX, LOWER36, WORDS, Dice, Mark, MarkedText
from recollect.testing.secret_home.values import PERSONAL, SECRETS, Maker

Places = list[tuple[str, MarkedText]]
_TALK: Final = (
    "Look at the failing test and tell me what it expects.",
    "Now run the suite again, please.",
    "Why is the second request slower than the first?",
    "Split that function, it does two things.",
    "The cause is a missing await in the retry loop; the connection is returned to the pool too early.",
    "All 148 tests pass. The change is four lines.",
)


@dataclass(frozen=True)
class Planted:
    """A secret or a harmless text, and where it stands.

    `start` and `end` count code points of the string at `pointer`; in a text file, from the start of its line.
    """

    file: str
    line: int
    pointer: str | None
    start: int
    end: int
    kind: str
    family: str
    """`secret`, `personal` or `harmless`."""
    form: str
    confidence: str
    value: str


def build_secret_home(
    root: Path,
    seed: int = 1,
    *,
    per_kind: int = 4,
    per_harmless: int = 3,
    makers: Sequence[Maker] = (*SECRETS, *PERSONAL),
) -> list[Planted]:
    """Write a home below `root`, and return all that was planted in it."""
    dice = Dice(f"secrets:{seed}")
    texts = [context_of(dice, make(dice)) for make in makers for _ in range(per_kind)]
    for category, make_text in HARMLESS.items():
        for _ in range(per_harmless):
            body = make_text(dice)
            texts.append(MarkedText(body, [Mark(0, len(body), category, "harmless")]))
    dice.shuffle(texts)
    home = _Home(root, dice)
    while texts:
        session = _Session(home, f"/home/{dice.choice(['ada', 'linus', 'grace'])}/code/{dice.word()}")
        session.prompt(session.talk())
        session.say(session.talk())
        for text in [texts.pop() for _ in range(min(dice.randrange(12, 40), len(texts)))]:
            dice.choice(_PLACES)(session, text)
    home.write()
    return home.planted


class _Home:
    def __init__(self, root: Path, dice: Dice) -> None:
        self.root, self.dice = root, dice
        self.planted: list[Planted] = []
        self.files: dict[str, list[tuple[dict[str, Any], Places]]] = {}
        self.texts: dict[str, MarkedText] = {}
        self.documents: dict[str, tuple[Any, Places]] = {}

    def note(self, file: str, line: int, pointer: str | None, marks: list[Mark], line_start: int = 0) -> None:
        self.planted += [
            Planted(
                file, line, pointer, mark.start - line_start, mark.end - line_start,
                mark.kind, mark.family, mark.form, mark.confidence, mark.value,
            )
            for mark in marks
        ]  # fmt: skip

    def add_text(self, file: str, text: MarkedText) -> None:
        end = "" if text.body.endswith("\n") else "\n"
        self.texts.setdefault(file, MarkedText()).join(text).add(end)

    def write(self) -> None:
        for file, rows in self.files.items():
            lines = []
            for number, (row, places) in enumerate(rows, 1):
                is_ascii = self.dice.random() < 0.05
                lines.append(json.dumps(row, ensure_ascii=is_ascii, separators=(",", ":")) + "\n")
                for pointer, text in places:
                    self.note(file, number, pointer, text.marks)
            self._put(file, "".join(lines))
        for file, text in self.texts.items():
            self._put(file, text.body)
            for mark in text.marks:
                line_start = text.body.rfind("\n", 0, mark.start) + 1
                self.note(file, text.body.count("\n", 0, mark.start) + 1, None, [mark], line_start)
        for file, (value, places) in self.documents.items():
            self._put(file, json.dumps(value, indent=2, ensure_ascii=False) + "\n")
            for pointer, text in places:
                self.note(file, 1, pointer, text.marks)

    def _put(self, file: str, content: str) -> None:
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())


class _Session:
    def __init__(self, home: _Home, cwd: str, parent: _Session | None = None) -> None:
        dice = self.dice = home.dice
        self.home, self.cwd, self.folder = home, cwd, cwd.replace("/", "-")
        self.id: str = dice.uuid() if parent is None else parent.id
        self.subagent = None if parent is None else "a" + dice.of(HEX, 16)
        own = f"projects/{self.folder}/{self.id}"
        self.file = f"{own}.jsonl" if parent is None else f"{own}/subagents/agent-{self.subagent}.jsonl"
        self.rows: list[tuple[dict[str, Any], Places]] = []
        home.files[self.file] = self.rows
        self.parent_uuid: str | None = None
        self.seconds = 1_772_000_000 + dice.randrange(4_000_000)

    def talk(self) -> MarkedText:
        return MarkedText(self.dice.choice(_TALK))

    def time(self) -> str:
        self.seconds += self.dice.randrange(2, 40)
        return datetime.fromtimestamp(self.seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def row(self, kind: str, message: dict[str, Any], places: Places, **more: Any) -> str:
        uuid = self.dice.uuid()
        row = {
            "parentUuid": self.parent_uuid, "isSidechain": self.subagent is not None, "userType": "external",
            "cwd": self.cwd, "sessionId": self.id, "version": "2.1.210", "gitBranch": "main", "type": kind,
            "message": message, "uuid": uuid, "timestamp": self.time(), **more,
        }  # fmt: skip
        if self.subagent is not None:
            row["agentId"] = self.subagent
        self.rows.append((row, places))
        self.parent_uuid = uuid
        return uuid

    def assistant(self, block: dict[str, Any], places: Places, stop: str = "end_turn") -> str:
        dice = self.dice
        message = {
            "id": "msg_01" + dice.of(BASE62, 22), "type": "message", "role": "assistant", "model": "claude-opus-5-5",
            "content": [block], "stop_reason": stop, "stop_sequence": None,
            "usage": {"input_tokens": dice.randrange(400), "output_tokens": dice.randrange(900)},
        }  # fmt: skip
        return self.row("assistant", message, places, requestId="req_01" + dice.of(BASE62, 22))

    def prompt(self, text: MarkedText) -> None:
        if self.dice.random() < 0.5:
            content: Any = [{"type": "text", "text": text.body}]
            self.row("user", {"role": "user", "content": content}, [("/message/content/0/text", text)])
        else:
            self.row("user", {"role": "user", "content": text.body}, [("/message/content", text)])

    def say(self, text: MarkedText) -> None:
        self.assistant({"type": "text", "text": text.body}, [("/message/content/0/text", text)])

    def call(self, tool: str, arguments: dict[str, Any], places: Places) -> str:
        tool_id = "toolu_01" + self.dice.of(BASE62, 22)
        block = {"type": "tool_use", "id": tool_id, "name": tool, "input": arguments}
        self.assistant(block, [("/message/content/0/input" + pointer, text) for pointer, text in places], "tool_use")
        return tool_id

    def result(self, tool_id: str, text: MarkedText, structured: Any, places: Places) -> None:
        block = {"tool_use_id": tool_id, "type": "tool_result", "content": text.body}
        found = [("/message/content/0/content", text)] + [
            ("/toolUseResult" + pointer, item) for pointer, item in places
        ]
        self.row("user", {"role": "user", "content": [block]}, found, toolUseResult=structured)
        self.say(self.talk())


def _prompt(session: _Session, text: MarkedText) -> None:
    session.prompt(text)
    session.say(session.talk())


def _say(session: _Session, text: MarkedText) -> None:
    session.prompt(session.talk())
    session.say(text)


def _thought(session: _Session, text: MarkedText) -> None:
    session.prompt(session.talk())
    signature = "Er" + session.dice.of(BASE64, session.dice.randrange(300, 900)) + "GAE="
    block = {"type": "thinking", "thinking": text.body, "signature": signature}
    session.assistant(block, [("/message/content/0/thinking", text)])
    session.say(session.talk())


def _command(session: _Session, text: MarkedText) -> None:
    session.prompt(session.talk())
    tool_id = session.call("Bash", {"command": text.body, "description": "Run it"}, [("/command", text)])
    session.result(tool_id, MarkedText("ok"), {"stdout": "ok", "stderr": "", "interrupted": False}, [])


def _output(session: _Session, text: MarkedText) -> None:
    session.prompt(session.talk())
    tool_id = session.call("Bash", {"command": "make check", "description": "Run"}, [])
    stream = session.dice.choice(["stdout", "stderr"])
    structured = {"stdout": "", "stderr": "", "interrupted": False} | {stream: text.body}
    session.result(tool_id, text, structured, [("/" + stream, text)])


def _read(session: _Session, text: MarkedText) -> None:
    session.prompt(session.talk())
    path = f"{session.cwd}/config/{session.dice.word()}.env"
    tool_id = session.call("Read", {"file_path": path}, [])
    structured = {"type": "text", "file": {"filePath": path, "content": text.body, "numLines": 1, "startLine": 1}}
    session.result(tool_id, text.numbered(session.dice.choice("→\t")), structured, [("/file/content", text)])


def _write(session: _Session, text: MarkedText) -> None:
    session.prompt(session.talk())
    path = f"{session.cwd}/{session.dice.word()}.py"
    tool_id = session.call("Write", {"file_path": path, "content": text.body}, [("/content", text)])
    structured = {"type": "create", "filePath": path, "content": text.body, "structuredPatch": []}
    session.result(tool_id, MarkedText(f"File created at: {path}"), structured, [("/content", text)])
    name = hashlib.sha256((path + text.body).encode()).hexdigest()[:16]
    session.home.add_text(f"file-history/{session.id}/{name}@v1", text.copy())


def _edit(session: _Session, text: MarkedText) -> None:
    if "\n" in text.body:
        return _write(session, text)
    session.prompt(session.talk())
    path, old = f"{session.cwd}/{session.dice.word()}.py", "TIMEOUT = 30"
    arguments = {"file_path": path, "old_string": old, "new_string": text.body}
    tool_id = session.call("Edit", arguments, [("/new_string", text)])
    patch = MarkedText("+").join(text)
    structured = {
        "filePath": path, "oldString": old, "newString": text.body,
        "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-" + old, patch.body]}],
    }  # fmt: skip
    places = [("/newString", text), ("/structuredPatch/0/lines/1", patch)]
    session.result(tool_id, MarkedText(f"The file {path} has been updated."), structured, places)
    return None


def _subagent(session: _Session, text: MarkedText) -> None:
    session.prompt(session.talk())
    tool_id = session.call("Agent", {"description": "Look", "prompt": "Find the settings."}, [])
    subagent = _Session(session.home, session.cwd, session)
    subagent.prompt(MarkedText("Find the settings."))
    _output(subagent, text)
    meta = subagent.file.replace(".jsonl", ".meta.json")
    session.home.documents[meta] = ({"agentType": "general-purpose", "toolUseId": tool_id}, [])
    answer = MarkedText("They are in the deploy folder.")
    session.result(tool_id, answer, {"status": "completed", "agentId": subagent.subagent}, [])


def _long_output(session: _Session, text: MarkedText) -> None:
    session.prompt(session.talk())
    tool_id = session.call("Bash", {"command": "make verbose", "description": "Run"}, [])
    lines = range(session.dice.randrange(20, 80))
    whole = MarkedText("".join(f"[{number:04d}] compiling {session.dice.word()}.o\n" for number in lines)).join(text)
    file = f"projects/{session.folder}/{session.id}/tool-results/{session.dice.of(LOWER36, 9)}.txt"
    session.home.add_text(file, whole)
    preview = MarkedText(f"<persisted-output>\nFull output saved to: {file}\n</persisted-output>")
    session.result(tool_id, preview, {"stdout": preview.body, "persistedOutputPath": file}, [])


def _state(session: _Session, text: MarkedText) -> None:
    _prompt(session, text)
    row = {"type": "last-prompt", "lastPrompt": text.body, "leafUuid": session.parent_uuid, "sessionId": session.id}
    session.rows.append((row, [("/lastPrompt", text)]))


def _history(session: _Session, text: MarkedText) -> None:
    history = session.home.files.setdefault("history.jsonl", [])
    row = {"display": text.body, "pastedContents": {}, "timestamp": session.seconds * 1000, "project": session.cwd}
    if "\n" in text.body:
        row |= {"display": "[Pasted text #1]", "pastedContents": {"1": {"id": 1, "type": "text", "content": text.body}}}
        history.append((row, [("/pastedContents/1/content", text)]))
        name = hashlib.sha256(text.body.encode()).hexdigest()[:16]
        session.home.add_text(f"paste-cache/{name}.txt", text.copy())
    else:
        history.append((row, [("/display", text)]))


def _beside(session: _Session, text: MarkedText) -> None:
    home, dice = session.home, session.dice
    which = dice.randrange(5)
    if which == 0:
        home.add_text(f"debug/{session.id}.txt", MarkedText(f"{session.time()} [DEBUG] tool output: ").join(text))
    elif which == 1:
        name = f"snapshot-bash-{session.seconds}000-{dice.of(LOWER36, 6)}.sh"
        home.add_text(f"shell-snapshots/{name}", MarkedText("# Snapshot file\nshopt -s expand_aliases\n").join(text))
    elif which == 2:
        todo = [{"content": text.body, "status": "pending", "activeForm": "Working"}]
        home.documents[f"todos/{session.id}-agent-{dice.uuid()}.json"] = (todo, [("/0/content", text)])
    elif which == 3:
        name = "-".join(dice.sample(WORDS, 3))
        home.add_text(f"plans/{name}.md", MarkedText("# Plan\n\n1. Read the settings.\n\n").join(text))
    else:
        home.add_text(f"projects/{session.folder}/{session.id}/tool-results/{dice.of(LOWER36, 9)}.txt", text)


_PLACES: Final[list[Callable[[_Session, MarkedText], None]]] = [
    _prompt, _say, _thought, _command, _output, _output, _read, _read, _write, _edit, _subagent, _long_output, _state, _history,
    _beside,
]  # fmt: skip
