"""Fork a session: copy a conversation up to a message into a new session, with what belongs to it. The source is only read.

    change, result = plan_fork(journal, file, at=uuid)
    with change:
        change.commit()

The fork stands in the project folder of its source. It holds the rows of one conversation (the active one, or the one that
ends on a named message or branch), with everything before its compactions; other branches stay behind.
"""

from __future__ import annotations

import contextlib
import uuid as uuids
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from msgspec import UNSET

from ..errors import NotFound, Refused
from ..format.blocks import ToolUseBlock, parse_blocks, text_of
from ..format.decode import Located, parse_row_entries
from ..format.entries import REQUEST_LOG_TYPES, ROW_TYPES, GraphEntry
from ..format.line import Damage
from ..format.names import Names, RowNames
from ..format.relink import custom_title_file, renamed_row, renamed_state, with_new_outputs
from ..format.row_edit import on_one_line
from ..format.session_meta import parse_subagent_meta
from ..graph.fork_point import ForkPoint, fork_point_at, fork_point_at_end
from ..graph.rows import Row, Transcript, gc_paused
from ..graph.session import Conversation, Subagent, find_branches
from ..graph.thread import Thread, find_thread
from ..journal.changes import Change, Journal
from ..store.home import Home, open_inside
from ..store.layout import SUBAGENTS, TOOL_RESULTS, backups_folder, tool_results_folder
from ..store.read import EntryBytes, read_transcript, stream_lines, transcript_of
from ..store.scan import SessionFile, SubagentFile, refuse_taken_id
from ..store.side_files import custom_title, file_backups, read_if_there, tool_results
from ..store.summary import SessionSummary, summarise
from .fork_lines import UNREADABLE, ForkLines, Titles, entry_bytes, plan_rows
from .state_lines import find_row, title_words

# Find the subagents that belong to a fork, and rename the lines of their files.

CHUNK = 1 << 20


def subagents_of(file: SessionFile, transcript: Transcript) -> list[Subagent]:
    """Return all subagents of a session in every layout, each with the call that started it if that is known.

    If the session has no line of a subagent, those that are only mentioned are not looked for.
    """
    if not file.subagents and not any(transcript.rows[index].side is True for index in transcript.others):
        return []
    own: list[Subagent] = []
    for number, item in enumerate(file.subagents, 1):
        meta = read_if_there(file.home, item.meta_path, parse_subagent_meta) if item.meta_path else None
        rows = read_transcript(item.path, file.home, file=number).rows
        subagent = Subagent(item.subagent_id, item.layout, rows, number, workflow=item.workflow)
        if meta is not None:
            subagent.tool_use_id, subagent.parent_subagent = meta.tool_use_id, meta.parent_subagent_id
        own.append(subagent)
    return Conversation(transcript, own, _prompts(file)).subagents


def _prompts(file: SessionFile) -> Callable[[Row], str | None]:
    """Return the text of a prompt, or the prompt that a call gives to a subagent."""

    def words(row: Row) -> str | None:
        path = file.path if row.file == 0 else file.subagents[row.file - 1].path
        message = EntryBytes(path, file.home).value_at(row.offset, row.length).get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in parse_blocks(content):
            if isinstance(block, ToolUseBlock) and isinstance(block.input, dict):
                prompt = block.input.get("prompt")
                return prompt if isinstance(prompt, str) else None
        return text_of(content)

    return words


def subagents_of_ending(subagents: Iterable[Subagent], ending: ForkPoint) -> list[Subagent]:
    """Return the subagents that a conversation started, theirs, and those without a known call that began by then."""
    waiting = list(subagents)
    if not waiting:
        return []
    rows = [*ending.before, *ending.live]
    calls = {ident for row in rows for ident, _ in row.tool_uses}

    def belongs(subagent: Subagent) -> bool:
        if subagent.parent_subagent is not None and subagent.parent_subagent != subagent.subagent_id:
            return subagent.parent_subagent in kept
        if subagent.tool_use_id is not None:
            return subagent.tool_use_id in calls
        begun = subagent.first_time
        end = _newest(rows)
        return begun is None or end is None or begun <= end

    kept: dict[str, Subagent] = {}
    found = True
    while found:
        found = False
        for subagent in [item for item in waiting if belongs(item)]:
            kept[subagent.subagent_id] = subagent
            calls.update(ident for row in subagent.rows for ident, _ in row.tool_uses)
            found = True
        waiting = [item for item in waiting if item.subagent_id not in kept]
    return list(kept.values())


def subagent_target(file: SessionFile, item: SubagentFile, new_folder: Path) -> Path:
    """Return the path of a subagent's copy.

    The copy of one that stands beside its session (2.0.28 - 2.1.8) cannot stand there, since its name is taken by the
    original: it goes where later versions look.
    """
    if item.layout == "subagents":
        return new_folder / item.path.relative_to(file.session_folder)
    return new_folder / SUBAGENTS / item.path.name


def subagent_chunks(file: SessionFile, item: SubagentFile, names: Names, damage: list[Damage]) -> Iterator[bytes]:
    """Yield the lines of a subagent's file with new names. Unreadable lines are left out."""
    parts: list[bytes] = []
    waiting = 0
    for line in stream_lines(item.path, file.home):
        for located in parse_row_entries([line], damage):
            if not located.client_reads or located.entry.type in REQUEST_LOG_TYPES:
                continue
            start = located.offset - line.offset
            data = line.data[start : start + located.length]
            data = _renamed(on_one_line(data) if b"\n" in data else data, located, names)
            parts += (data, b"\n")
            waiting += len(data)
        if waiting >= CHUNK:
            yield b"".join(parts)
            parts.clear()
            waiting = 0
    yield b"".join(parts)


def _renamed(data: bytes, located: Located[GraphEntry], names: Names) -> bytes:
    entry = located.entry
    data = with_new_outputs(data, names)
    if entry.type not in ROW_TYPES or entry.uuid is None:
        return renamed_state(data, names)
    old = entry.parentUuid if isinstance(entry.parentUuid, str) else None
    new = None if old is None else names.row(old)
    link = entry.sourceToolAssistantUUID
    line = RowNames(entry.uuid, names.row(entry.uuid), old, new, entry.sessionId, link)
    plain = entry.type != "system" and entry.parentUuid is not UNSET
    return renamed_row(data, line, names, plain=plain)[0]


def _newest(rows: Iterable[Row]) -> float | None:
    times = (row.time for row in rows)
    return max((moment for moment in times if moment is not None), default=None)


@dataclass
class ForkResult:
    """What a fork holds, and what it does not."""

    session_id: str
    path: Path
    source: str
    at: str | None
    """The row of the source on which the fork ends."""
    leaf: str | None = None
    """That row's uuid in the fork (of the last message, where it was none)."""
    title: str = ""
    keep_uuids: bool = False
    rows: int = 0
    messages: int = 0
    sent: int = 0
    """Rows that reach the model on resume."""
    state_lines: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    """rows, progress, subagent_rows, state_lines, request_log, damaged_lines, subagents, file_backups (lost or linked)."""
    subagents: list[str] = field(default_factory=list)
    tool_results: int = 0
    file_backups: int = 0

    def uuid_of(self, old: str) -> str:
        """Return the uuid that a row of the source has in the fork."""
        return Names(self.source, self.session_id, self.keep_uuids).row(old)


def plan_fork(
    journal: Journal,
    file: SessionFile,
    *,
    at: str | None = None,
    branch: int | None = None,
    keep_uuids: bool = False,
    title: str | None = None,
    with_subagents: bool = True,
    with_tool_results: bool = True,
    with_file_history: bool = True,
    new_id: str | None = None,
) -> tuple[Change, ForkResult]:
    """Plan a fork. `at` is a row's uuid or the start of one, `branch` a number as `recollect tree` shows it.

    Uuids are new and say where they came from (`forkedFrom`, as the SDK and Claude Code's /branch do), or are kept (as
    `--fork-session` does).
    """
    wanted = _ForkOptions(
        _new_id(file.home, new_id), at, branch, keep_uuids, _given_title(title), with_subagents, with_tool_results,
        with_file_history,
    )  # fmt: skip
    change = journal.change(file.home, "fork", f"Fork {file.session_id}")
    with contextlib.ExitStack() as thrown_away_on_errors:
        thrown_away_on_errors.enter_context(change)
        with gc_paused():  # until all that was read of the session is gone again
            result = _plan(change, file, wanted)
        thrown_away_on_errors.pop_all()
    return change, result


class _ForkOptions(NamedTuple):
    """The options of `plan_fork`."""

    session_id: str
    at: str | None
    branch: int | None
    keep_uuids: bool
    title: str | None
    with_subagents: bool
    with_tool_results: bool
    with_file_history: bool


def _plan(change: Change, file: SessionFile, wanted: _ForkOptions) -> ForkResult:
    for path in (file.path, *(item.path for item in file.subagents if wanted.with_subagents)):
        change.rely_on(path)
    target = file.path.with_name(f"{wanted.session_id}.jsonl")
    names = Names(file.session_id, wanted.session_id, wanted.keep_uuids)
    result = ForkResult(wanted.session_id, target, file.session_id, None, keep_uuids=names.keep_uuids)
    if wanted.with_tool_results:
        folder = tool_results_folder(target)
        found = tool_results(file.home, file.session_folder).values()
        names.outputs = {info.path.name: str(folder / info.path.name) for info in found}
    with EntryBytes(file.path, file.home) as source:
        lines, subagents = _planned_lines(source, file, wanted, names, result)
        change.title = f"Fork {file.session_id} at {result.at} as {result.session_id} ({result.title})"
        change.write(target, lines.chunks())
    result.rows, result.messages, result.state_lines = lines.rows, lines.messages, lines.states
    result.left_out = lines.left_out
    _copy_subagents(change, file, subagents, names, result)
    result.left_out["subagents"] = len(file.subagents) - len(_files_of(file, subagents))
    _copy_side_files(change, file, names, lines, result)
    result.left_out = +result.left_out
    return result


def _planned_lines(
    source: EntryBytes, file: SessionFile, wanted: _ForkOptions, names: Names, result: ForkResult
) -> tuple[ForkLines, list[Subagent]]:
    """Return the lines to write and the subagents to copy. Only the lines refer to the transcript, so that it can be freed."""
    transcript = transcript_of(source.from_start(), check_text=False)
    ending = find_ending(file, transcript, wanted.at, wanted.branch)
    subagents = subagents_of_ending(subagents_of(file, transcript), ending) if wanted.with_subagents else []
    plan = plan_rows(
        transcript, ending, names, _rows_inside(subagents, transcript), lambda row: entry_bytes(source, row)
    )
    titles = _titles(summarise(file, lambda _: contextlib.nullcontext(source.from_start())), wanted.title)
    result.at, result.leaf, result.sent = ending.live[-1].uuid, plan.leaf, len(ending.sent)
    result.title = titles.title
    return ForkLines(source, transcript, plan, names, titles, wanted.with_file_history), subagents


def _new_id(home: Home, given: str | None) -> str:
    if given is None:
        return str(uuids.uuid4())
    refuse_taken_id(home, given, with_folder=True)
    return given


def _given_title(title: str | None) -> str | None:
    return None if title is None else title_words(title)


def find_ending(file: SessionFile, transcript: Transcript, at: str | None, branch: int | None) -> ForkPoint:
    """Return the conversation to fork. Raises if there is none."""
    if at is not None and branch is not None:
        raise Refused("a fork ends at a message or is made of a branch, not both", slug="bad-fork")
    thread = find_thread(transcript)
    found: ForkPoint | None
    if at is not None:
        found = fork_point_at(transcript, thread, find_row(transcript, at, file.session_id))
    elif branch:
        found = _branch_ending(file, transcript, thread, branch)
    else:
        found = fork_point_at_end(transcript, thread)
    if found is None or found.leaf is None:
        why = thread.leaf_reason if at is None and branch is None else "no prompt or answer stands there or above it"
        raise Refused(
            f"there is no conversation to fork in {file.session_id}: {why}", slug="nothing-to-fork",
            hint="name a message with --at, or a branch with --branch (`recollect tree SESSION` shows them)",
        )  # fmt: skip
    return found


def _branch_ending(file: SessionFile, transcript: Transcript, thread: Thread, number: int) -> ForkPoint | None:
    for item in find_branches(transcript.rows, thread):
        if item.number == number:
            if item.leaf.uuid is None:
                return None
            return fork_point_at(transcript, thread, item.leaf.uuid, max(row.index for row in item.rows))
    raise NotFound(
        f"session {file.session_id} has no branch {number}", slug="no-such-branch",
        hint="`recollect tree SESSION` shows the branches",
    )  # fmt: skip


def _titles(summary: SessionSummary, given: str | None) -> Titles:
    """Return the given title, or the title of the source followed by "(fork)"; the display name follows if it was the same."""
    old = summary.title or "Untitled"
    derived = old.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", "\ufffd")
    follows = summary.subagent_name is not None and summary.subagent_name == summary.custom_title
    return Titles(given or f"{derived} (fork)", subagent_name=follows)


def _rows_inside(subagents: list[Subagent], transcript: Transcript) -> list[Row]:
    """Return the rows of subagents in the main file."""
    own = {row.index for subagent in subagents if subagent.layout == "inside" for row in subagent.rows}
    if not own:
        return []
    return [row for row in transcript.rows if row.index in own and row.client_reads]


def _files_of(file: SessionFile, subagents: list[Subagent]) -> list[int]:
    return [subagent.file - 1 for subagent in subagents if 0 < subagent.file <= len(file.subagents)]


def _copy_subagents(
    change: Change, file: SessionFile, subagents: list[Subagent], names: Names, result: ForkResult
) -> None:
    result.subagents = [subagent.subagent_id for subagent in subagents if subagent.layout != "mentioned"]
    folder = result.path.with_suffix("")
    for number in _files_of(file, subagents):
        item = file.subagents[number]
        damage: list[Damage] = []
        target = subagent_target(file, item, folder)
        change.write(target, subagent_chunks(file, item, names, damage))
        result.left_out["damaged_lines"] += len({found.line for found in damage if found.kind in UNREADABLE})
        if item.meta_path is not None:
            _copy(change, file.home, item.meta_path, target.with_suffix(".meta.json"))


def _copy_side_files(change: Change, file: SessionFile, names: Names, lines: ForkLines, result: ForkResult) -> None:
    folder = result.path.with_suffix("")
    for name in sorted(names.outputs_met):
        _copy(change, file.home, file.session_folder / TOOL_RESULTS / name, folder / TOOL_RESULTS / name)
        result.tool_results += 1
    backups = file_backups(file.home, file.session_id)
    for name in sorted(lines.backups & backups.keys()):
        _copy(change, file.home, backups[name].path, backups_folder(file.home.root, result.session_id) / name)
        result.file_backups += 1
    result.left_out["file_backups"] = len(lines.backups - backups.keys())
    if custom_title(file.home, file.session_folder) is not None:
        change.write(folder / "custom-title.json", [custom_title_file(result.title)])


def _copy(change: Change, home: Home, source: Path, target: Path) -> None:
    change.rely_on(source)
    change.write(target, _bytes_of(home, source))


def _bytes_of(home: Home, path: Path) -> Iterator[bytes]:
    with open_inside(home, path) as stream:
        while piece := stream.read(CHUNK):
            yield piece
