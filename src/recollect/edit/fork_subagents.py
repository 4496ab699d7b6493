"""Find the subagents that belong to a fork, and rename the lines of their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from msgspec import UNSET

from ..format.blocks import ToolUseBlock, parse_blocks, text_of
from ..format.decode import Located, parse_row_entries
from ..format.entries import REQUEST_LOG_TYPES, ROW_TYPES, GraphEntry
from ..format.line import Damage
from ..format.names import Names, RowNames
from ..format.relink import renamed_row, renamed_state, with_new_outputs
from ..format.row_edit import on_one_line
from ..format.session_meta import parse_subagent_meta
from ..graph.fork_point import ForkPoint
from ..graph.rows import Row, Transcript
from ..graph.session import Conversation, Subagent
from ..store.layout import SUBAGENTS
from ..store.read import EntryBytes, read_transcript, stream_lines
from ..store.scan import SessionFile, SubagentFile
from ..store.side_files import read_if_there

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
