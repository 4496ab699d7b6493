"""Summarise a session from the first and last bytes of its file, so that thousands are listed without reading them.

The rules by which lines give title, prompt and project (`SessionFacts`) serve lists, index and watch alike.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

import msgspec

from ..errors import RecollectError
from ..format.blocks import one_line, text_of
from ..format.entries import REFUSED, Entry, decode_loosely
from ..format.line import BOM, RawLine, join_lines
from ..format.path_text import repository_of, same_project_key
from ..format.salvage import salvage_line
from ..format.times import parse_time, to_datetime
from .home import open_inside
from .scan import SessionFile

TITLE_SOURCES: Final = {"custom_title": "custom", "ai_title": "ai", "old_summary": "summary", "first_prompt": "prompt"}
"""The facts that can be a session's title, the preferred one first, and the name that users see for each."""
#: State lines: the fact, the member that holds it, and whether an empty value clears what an earlier line set.
_STATES: Final = {
    "custom-title": ("custom_title", "customTitle", True),
    "ai-title": ("ai_title", "aiTitle", True),
    "summary": ("old_summary", "summary", False),
    "tag": ("tag", "tag", True),
    "last-prompt": ("last_prompt", "lastPrompt", False),
    "relocated": ("relocated", "relocatedCwd", False),
    "agent-name": ("subagent_name", "agentName", True),
    "pr-link": ("pr_url", "prUrl", True),
}
#: Beginnings of prompts that nobody typed: wrappers of slash commands, shell mode, reminders, interruptions.
_NOT_TYPED: Final = re.compile(
    r"\s*(?:<(?:local-command-[a-z]+|command-[a-z]+|bash-(?:input|stdout|stderr)|system-reminder|task-notification|"
    r"user-memory-input|ide_[a-z_]+)\b|\[Request interrupted by user|Caveat: The messages below were generated)"
)
_COMMAND: Final = re.compile(r"<command-name>\s*(/?[^<]{1,200}?)\s*</command-name>")
_ARGUMENTS: Final = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)


def state_of(entry: Any) -> tuple[str, str | None] | None:
    """Return which fact of its session a state line sets, and its value; None for a line that sets none.

    Accepts any view of a line. Of several lines about a fact, the last one counts.
    """
    if entry.type == "worktree-state":
        worktree = decode_loosely(getattr(entry, "worktreeSession", b""))
        original = worktree.get("originalCwd") if isinstance(worktree, dict) else None
        return "worktree_of", original if isinstance(original, str) else None
    found = _STATES.get(entry.type or "")
    if found is None:
        return None
    fact, member, may_be_empty = found
    value = getattr(entry, member, None) or None
    return (fact, value) if value is not None or may_be_empty else None


def title_of(facts: Any) -> str | None:
    """Return the title from the facts of a session (any object with these attributes); a prompt is put on one line."""
    for name in TITLE_SOURCES:
        if value := getattr(facts, name):
            return one_line(value) if name == "first_prompt" else value
    return None


def project_of(relocated: str | None, cwds: Sequence[str], folder: str) -> str | None:
    """Return the project: where the session was relocated, else the cwd that fits its folder's name, else the first cwd."""
    if relocated is not None:
        return relocated
    fitting = (cwd for cwd in cwds if same_project_key(folder, cwd))
    return next(fitting, cwds[0] if cwds else None)


def repository_for(worktree_of: str | None, project: str | None) -> str | None:
    """Return the repository of which a session's project is a git worktree; None if it is not a worktree."""
    return repository_of(project) if worktree_of is None or worktree_of == project else worktree_of


def prompt_of(content: Any) -> tuple[str | None, str | None]:
    """Return (typed text, None) from a prompt's content, or (None, slash command) if nothing was typed."""
    text = typed_text(content)
    return (text, None) if text is not None else (None, command_text(content))


def typed_text(content: Any) -> str | None:
    """Return the text that a person typed in a prompt; None if Claude Code wrote all of it (wrapped commands, reminders)."""
    text = content if isinstance(content, str) else text_of(content)
    return None if not text.strip() or _NOT_TYPED.match(text) else text


def command_text(content: Any) -> str | None:
    """Return the slash command that a wrapped prompt stands for."""
    text = content if isinstance(content, str) else text_of(content)
    match = _COMMAND.search(text[:2000])
    if match is None:
        return None
    arguments = _ARGUMENTS.search(text[:10_000])
    return f"{match[1]} {arguments[1].strip()}".strip() if arguments else match[1]


HEAD: Final = 64 << 10
TAIL: Final = 64 << 10
_HEAD_LIMIT: Final = 8 << 20
"""How far the head may grow in search of the first prompt."""

_decode = msgspec.json.Decoder(Entry).decode


@dataclass(slots=True)
class SessionSummary:
    """The facts of a session that a list shows."""

    file: SessionFile
    project: str | None = None
    """The working directory: `relocated` if set, else the one that fits the folder's name, else the first."""
    relocated: str | None = None
    """Where the session was moved to."""
    cwds: list[str] = field(default_factory=list)
    first_prompt: str | None = None
    custom_title: str | None = None
    ai_title: str | None = None
    old_summary: str | None = None
    last_prompt: str | None = None
    subagent_name: str | None = None
    tag: str | None = None
    created: datetime | None = None
    """When the first row was written, in UTC."""
    last_activity: datetime | None = None
    """When the last row was written, in UTC."""
    git_branch: str | None = None
    version: str | None = None
    worktree_of: str | None = None
    """The repository, if the session ran in a git worktree of it."""
    lines: int | None = None
    messages: int | None = None
    subagents: int = 0
    sidechain_only: bool = False
    pr_url: str | None = None
    problem: str | None = None
    """Why the file could not be read, in words."""

    @property
    def session_id(self) -> str:
        return self.file.session_id

    @property
    def title(self) -> str | None:
        return title_of(self)

    @property
    def title_source(self) -> str | None:
        """The source of the title: "custom", "ai", "summary" or "prompt"."""
        return next((source for name, source in TITLE_SOURCES.items() if getattr(self, name)), None)

    @property
    def is_empty(self) -> bool:
        return self.file.size == 0


def summarise(
    file: SessionFile, opened: Callable[[Path], AbstractContextManager[BinaryIO]] | None = None, *, count: bool = False
) -> SessionSummary:
    """Read head and tail of a session (all of it if `count`). Never raises: `problem` holds the error.

    `opened` returns a file that its caller already has open.
    """
    summary = SessionSummary(file, subagents=len(file.subagents), problem=file.problem)
    try:
        path = file.subagents[0].path if file.is_gone else file.path
        with _opened(file, path) if opened is None else opened(path) as stream:
            _read(summary, stream, count and not file.is_gone)
    except RecollectError as error:
        summary.problem = error.message
    except OSError as error:
        summary.problem = error.strerror or str(error)
    return summary


def _opened(file: SessionFile, path: Path) -> BinaryIO:
    return file.source() if file.source else open_inside(file.home, path, buffering=0)


def _read(summary: SessionSummary, stream: BinaryIO, count: bool) -> None:
    size = summary.file.size
    head = stream.read(HEAD)
    whole = len(head) >= size
    if whole:
        tail = head
    else:
        # One byte more than the tail, to know whether its first line is complete.
        start = max(len(head), size - TAIL)
        tail = _read_at(stream, start - 1)
        tail = tail[tail.find(b"\n") + 1 :]
    state = _Head(summary)
    while not state.scan(head, complete=len(head) >= size) and len(head) < min(size, _HEAD_LIMIT):
        more = stream.read(min(len(head) * 3, _HEAD_LIMIT - len(head)))
        if not more:
            break
        head += more
    state.finish()
    _scan_tail(summary, tail)
    summary.project = project_of(summary.relocated, summary.cwds, summary.file.folder)
    summary.worktree_of = repository_for(summary.worktree_of, summary.project)
    if count:
        _count(summary, stream, head if len(head) >= size else None)


def _read_at(stream: BinaryIO, offset: int) -> bytes:
    if hasattr(os, "pread") and isinstance(stream, io.FileIO):
        return os.pread(stream.fileno(), TAIL + 1, offset)
    position = stream.tell()
    stream.seek(offset)
    data = stream.read(TAIL + 1)
    stream.seek(position)
    return data


class _Head:
    """Reads the first lines until the first prompt is found."""

    def __init__(self, summary: SessionSummary) -> None:
        self.summary = summary
        self.position = 0
        self.number = 0
        self.command: str | None = None
        self.sidechain_rows = 0
        self.main_rows = 0

    def scan(self, data: bytes, *, complete: bool) -> bool:
        """Continue with the lines of `data` not read yet; return True when nothing more is needed."""
        end = len(data) if complete else data.rfind(b"\n") + 1
        for line in join_lines(_lines(data, self.position, end, self.number + 1), small=True):
            if line.unclosed and not complete:
                break
            self.position, self.number = line.offset + len(line.data), line.last_number
            entry = _entry(line.data.removesuffix(b"\n"), line.number)
            if entry is not None:
                self._note(entry)
            if self._done():
                return True
        return complete

    def _done(self) -> bool:
        return self.summary.first_prompt is not None and bool(self.summary.cwds)

    def _note(self, entry: Entry) -> None:
        summary = self.summary
        if entry.type in ("user", "assistant", "system", "attachment", "progress"):
            if entry.isSidechain:
                self.sidechain_rows += 1
            else:
                self.main_rows += 1
            if summary.created is None:
                summary.created = to_datetime(parse_time(entry.timestamp))
            if entry.cwd and entry.cwd not in summary.cwds:
                summary.cwds.append(entry.cwd)
            summary.version = summary.version or entry.version
            summary.git_branch = summary.git_branch or entry.gitBranch
        if entry.type == "user" and summary.first_prompt is None and (not entry.isSidechain or summary.file.is_gone):
            self._note_prompt(entry)
        elif (state := state_of(entry)) is not None and state[0] in TITLE_SOURCES:
            setattr(summary, *state)
        elif entry.type == "queue-operation" and summary.created is None:
            summary.created = to_datetime(parse_time(entry.timestamp))

    def _note_prompt(self, entry: Entry) -> None:
        if entry.isMeta or entry.isCompactSummary or entry.toolUseResult:
            return
        message = decode_loosely(entry.message)
        content = message.get("content") if isinstance(message, dict) else None
        if content is None or (isinstance(content, list) and _has_result(content)):
            return
        self.summary.first_prompt, command = prompt_of(content)
        self.command = self.command or command

    def finish(self) -> None:
        if self.summary.first_prompt is None and self.command is not None:
            self.summary.first_prompt = self.command
        self.summary.sidechain_only = self.sidechain_rows > 0 and self.main_rows == 0


def _has_result(content: list[Any]) -> bool:
    return any(isinstance(block, dict) and block.get("type") == "tool_result" for block in content)


def _lines(data: bytes, start: int, end: int, number: int) -> Iterator[RawLine]:
    while start < end:
        stop = data.find(b"\n", start, end) + 1 or end
        yield RawLine(data[start:stop], start, number)
        start, number = stop, number + 1


def _entry(line: bytes, number: int) -> Entry | None:
    if number == 1 and line.startswith(BOM):
        line = line[3:]
    if not line.strip():
        return None
    try:
        return _decode(line)
    except REFUSED:
        found = salvage_line(RawLine(line, 0, max(number, 2))).found
        return found[0].entry if found else None


def _scan_tail(summary: SessionSummary, tail: bytes) -> None:
    """Read from the end upwards: the newest titles and states, and the time, branch and version of the last row."""
    seen: set[str] = set()
    need_row = True
    for line in _lines_upwards(tail):
        # Rows begin with their parent, state lines never do: rows above the last one need not be decoded.
        if (not need_row and line.startswith(b'{"parentUuid"')) or not line.strip():
            continue
        entry = _entry(line, 2)
        if entry is None:
            continue
        if entry.type in ("user", "assistant", "system", "attachment"):
            if need_row:
                moment = to_datetime(parse_time(entry.timestamp))
                if moment is not None:
                    summary.last_activity = moment
                    summary.git_branch = entry.gitBranch or summary.git_branch
                    summary.version = entry.version or summary.version
                    if entry.cwd and entry.cwd not in summary.cwds:
                        summary.cwds.append(entry.cwd)
                    need_row = False
        elif (state := state_of(entry)) is not None and state[0] not in seen:
            seen.add(state[0])
            setattr(summary, *state)
    if summary.last_activity is None:
        summary.last_activity = summary.created


def _lines_upwards(data: bytes) -> Iterator[bytes]:
    """Yield the lines from the last to the first.

    If a line does not begin with an object, all lines before it are joined first: an object may span several lines.
    """
    position = len(data)
    while position > 0:
        start = data.rfind(b"\n", 0, position - 1 if data[position - 1 : position] == b"\n" else position) + 1
        line = data[start:position]
        if line[:1] != b"{" and line.strip():
            for joined in reversed(list(join_lines(_lines(data, 0, position, 2), small=True))):
                yield joined.data
            return
        yield line
        position = start


_decode_all: Final = msgspec.json.Decoder(Entry).decode_lines


def _count(summary: SessionSummary, stream: BinaryIO, whole: bytes | None) -> None:
    """Count lines, user and assistant rows, and subagents exactly, by reading the whole file."""
    if whole is not None:
        try:
            entries = _decode_all(whole)
        except REFUSED:
            pass  # something is damaged: read it line by line
        else:
            summary.lines = whole.count(b"\n") + (1 if whole and not whole.endswith(b"\n") else 0)
            _note_counts(summary, entries)
            return
    from ..format.decode import parse_lines
    from ..format.line import read_entry_lines

    stream.seek(0)
    lines = _LineCounter()
    with _buffered(stream) as reader:
        found = (item.entry for item in parse_lines(lines.through(read_entry_lines(reader)), []))
        _note_counts(summary, found)
    summary.lines = lines.count


def _buffered(stream: BinaryIO) -> AbstractContextManager[BinaryIO]:
    if isinstance(stream, io.FileIO):
        return os.fdopen(os.dup(stream.fileno()), "rb", buffering=1 << 20)
    return nullcontext(stream)


def _note_counts(summary: SessionSummary, entries: Iterable[Entry]) -> None:
    messages = roots = 0
    subagents: set[str] = set()
    for entry in entries:
        if entry.type == "user" or entry.type == "assistant":
            messages += 1
        if entry.isSidechain:
            if entry.agentId:
                subagents.add(entry.agentId)
            elif entry.parentUuid is None:
                roots += 1
    summary.messages = messages
    if not summary.sidechain_only:
        known = {subagent.subagent_id for subagent in summary.file.subagents}
        summary.subagents = len(known | subagents) + (roots if not subagents else 0)


class _LineCounter:
    def __init__(self) -> None:
        self.count = 0

    def through(self, lines: Iterable[RawLine]) -> Iterator[RawLine]:
        for line in lines:
            if not line.more:
                self.count += line.lines
            yield line
