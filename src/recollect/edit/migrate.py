"""Migrate a session from the layout of an old version to that of 2.1: run the steps on a draft, then one change.

What a resume sends must be the same before and after, block for block: each step is checked for that before anything is written.
"""

from __future__ import annotations

import contextlib
import hashlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..errors import DamagedData, Refused, Unavailable
from ..format.entries import decode_exactly
from ..format.json_edit import encode_value
from ..format.row_edit import set_in_message, set_members
from ..format.session_meta import call_input, subagent_meta_bytes
from ..format.todos import HIGH_WATER_MARK_NAME, task_bytes
from ..graph.session import Subagent
from ..graph.thread import find_thread
from ..journal import disk
from ..journal.changes import Change, Journal
from ..journal.guard import refuse_if_busy
from ..store.home import Home
from ..store.layout import meta_of, subagent_name, subagents_folder, tasks_folder
from ..store.read import EntryBytes
from ..store.scan import SessionFile
from ..store.side_files import todo_lists
from .fork import subagents_of
from .repair.draft import Draft, Piece, entry_of

TARGET: Final = "2.1"

Said = tuple[str, tuple[str | None, ...], tuple[str, ...]]


@dataclass
class LayoutDraft:
    """A session during its migration: its main file, the files to write, and those to move or remove."""

    file: SessionFile
    main: Draft
    subagents: list[Subagent]
    written: dict[Path, list[bytes]] = field(default_factory=dict)
    moved: dict[Path, Path] = field(default_factory=dict)
    removed: list[Path] = field(default_factory=list)

    @property
    def subagent_folder(self) -> Path:
        return subagents_folder(self.file.path)

    def said(self) -> list[Said]:
        """List what a resume sends, in a form that does not depend on how it is spread over lines."""
        found: list[Said] = []
        for row in find_thread(self.main.transcript()).sent:
            calls = [ident for ident, _ in row.tool_uses]
            for kind in row.block_types:
                ident = calls.pop(0) if kind == "tool_use" and calls else ""
                found.append((row.type, (kind,), (ident, *(row.tool_results if kind == "tool_result" else ()))))
        return found


class Layout(NamedTuple):
    """One step from an old layout to a newer one."""

    name: str
    since: str
    """The first known version of Claude Code with the old layout."""
    until: str
    """The first known version with the new layout."""
    description: str
    migrate: Callable[[LayoutDraft], int]
    """Changes the draft; gives the number of places that were changed (0 where there was nothing to do)."""
    verify: Callable[[LayoutDraft], str | None]
    """Says what is wrong with the outcome; None where it is right."""


@dataclass(frozen=True, slots=True)
class StepTaken:
    """A step that found something to do."""

    name: str
    description: str
    places: int


@dataclass
class MigrateResult:
    """What lifting a session does."""

    session_id: str
    path: Path
    steps: list[StepTaken] = field(default_factory=list)

    @property
    def changes_something(self) -> bool:
        return any(step.places for step in self.steps)


def plan_migrate(journal: Journal, file: SessionFile, *, to: str = TARGET) -> tuple[Change, MigrateResult]:
    """Plan the migration of a session in place; `undo` takes it back. To keep the original, copy the home first (`copy_home`)."""
    if to != TARGET and not to.startswith(f"{TARGET}."):
        raise Unavailable(f"layouts are lifted to {TARGET}, not to {to}", slug="no-migration")
    refuse_if_busy(file.home, file.session_id, file.path, journal, rewrite=True)
    result = MigrateResult(file.session_id, file.path)
    with contextlib.ExitStack() as thrown_away_on_errors:
        change = Change(journal, file.home, "migrate", f"Migrate {file.session_id} to the layout of {TARGET}")
        thrown_away_on_errors.enter_context(change)
        for path in (file.path, *(subagent.path for subagent in file.subagents)):
            change.rely_on(path, content=True)
        with contextlib.closing(Draft.of(file.path, file.home)) as main:
            draft = LayoutDraft(file, main, subagents_of(file, main.transcript()))
            result.steps = _take_steps(draft)
            if result.changes_something:
                _write(change, draft, main)
        thrown_away_on_errors.pop_all()
    return change, result


def _take_steps(draft: LayoutDraft) -> list[StepTaken]:
    """Run every step on the draft. Raises DamagedData if one fails; the draft is dropped then."""
    before = draft.said()
    taken = []
    for layout in LAYOUTS:
        places = layout.migrate(draft)
        problem = layout.verify(draft)
        if draft.said() != before:
            problem = "a resume would send something else than before"
        if problem is not None:
            raise DamagedData(f"{layout.name}: {problem}", slug="migration-failed", hint="nothing was changed")
        if places:
            taken.append(StepTaken(layout.name, layout.description, places))
    return taken


def _write(change: Change, draft: LayoutDraft, main: Draft) -> None:
    file = draft.file
    mtime = file.path.stat().st_mtime_ns
    if any(piece.data is not None for piece in main.pieces) or _lost_pieces(draft):
        change.write(file.path, main.chunks(), replace=True, mtime_ns=mtime)
    for source, target in draft.moved.items():
        change.move(source, target)
    for path, chunks in draft.written.items():
        change.write(path, chunks, mtime_ns=mtime if path.suffix == ".jsonl" else None)
    for path in draft.removed:
        change.remove(path)


def _lost_pieces(draft: LayoutDraft) -> bool:
    """Whether rows were moved from the main file into other files."""
    return any(path.suffix == ".jsonl" for path in draft.written)


#: What belongs to sessions. Nothing else is copied: no account, no key, no setting.
FOLDERS: Final = ("projects", "todos", "tasks", "file-history", "plans")


def copy_home(source: Home, target: Path) -> Home:
    """Copy the sessions of a home and what belongs to them into a new folder."""
    if target.exists() and any(target.iterdir()):
        raise Refused(f"{target} is not empty", hint="name a folder that does not exist yet", slug="exists")
    real = target.absolute().resolve()
    if real.is_relative_to(source.real_root):
        raise Refused(f"{target} lies in {source.root}", hint="name a folder outside of it", slug="outside-home")
    try:
        disk.make_folders(target)
        for name in FOLDERS:
            if (source.root / name).is_dir():
                disk.copy_tree(source.root / name, target / name)
    except OSError as problem:
        raise disk.explain(problem, target) from problem
    return Home(target)


_NAMESPACE: Final = uuid.UUID("0c2a1a39-6f0e-5d35-9a2b-5a4d7c1fd0a7")
#: What a row says of the whole answer: on one of its lines only, or sums over lines would be too high.
_ONCE: Final = ("costUSD", "durationMs")


def _migrate_block_lines(draft: LayoutDraft) -> int:
    """Claude Code up to 1.0.0 wrote a whole answer on one line. Since 1.0.30 each block of it has a line of its own.

    The last line keeps the row's uuid, so that what follows still hangs on it; the lines before get uuids derived from it.
    """
    pieces: list[Piece] = []
    split = 0
    for piece in draft.main.pieces:
        entry = piece.entry
        head = entry.message if entry is not None and entry.type == "assistant" else None
        if head is None or not isinstance(head.content, list) or len(head.content) < 2 or not piece.client_reads:
            pieces.append(piece)
            continue
        lines = split_blocks(draft.main.bytes_of(piece))
        if len(lines) < 2:
            pieces.append(piece)
            continue
        split += 1
        pieces += [
            Piece(piece.number, piece.start, piece.end, entry_of(line), piece.start, piece.end, data=line)
            for line in lines
        ]
    draft.main.pieces = pieces
    return split


def _verify_block_lines(draft: LayoutDraft) -> str | None:
    uuids = [piece.entry.uuid for piece in draft.main.pieces if piece.entry is not None and piece.is_row]
    return None if len(set(uuids)) == len(uuids) or not uuids else _repeated(draft)


def _repeated(draft: LayoutDraft) -> str | None:
    """Return the uuids that stand in the file twice. Those that did so before are not the fault of this step."""
    made = [piece.entry.uuid for piece in draft.main.pieces if piece.entry is not None and piece.data is not None]
    return None if len(set(made)) == len(made) else "two lines got the same uuid"


def split_blocks(data: bytes) -> list[bytes]:
    """A line for each block of an answer's line; the line itself where it has one block, no uuid, or cannot be read."""
    value = decode_exactly(data)
    message = value.get("message") if isinstance(value, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(value, dict) or not isinstance(content, list) or len(content) < 2:
        return [data]
    own = value.get("uuid")
    if not isinstance(own, str):
        return [data]
    lines: list[bytes] = []
    parent: Any = value.get("parentUuid")
    for number, block in enumerate(content):
        is_last = number == len(content) - 1
        own_or_new = own if is_last else str(uuid.uuid5(_NAMESPACE, f"{own}/{number}"))
        if is_last:
            line = set_members(set_in_message(data, {"content": [block]}), {"parentUuid": parent})
        else:
            said = {name: item for name, item in value.items() if name not in _ONCE}
            said |= {"parentUuid": parent, "uuid": own_or_new, "message": {**(message or {}), "content": [block]}}
            line = encode_value(said)
        lines.append(line)
        parent = own_or_new
    return lines


def _migrate_subagent_files(draft: LayoutDraft) -> int:
    """Claude Code 2.0.28 - 2.1.8 wrote subagents into files beside the session, since 2.1.9 into `<session>/subagents/`."""
    beside = [subagent for subagent in draft.file.subagents if subagent.layout == "beside"]
    for subagent in beside:
        draft.moved[subagent.path] = draft.subagent_folder / subagent.path.name
    return len(beside)


def _verify_subagent_files(draft: LayoutDraft) -> str | None:
    taken = [path.name for path in draft.moved.values() if path.exists() or path in draft.written]
    return f"there is a {taken[0]} already" if taken else None


def _migrate_subagent_meta(draft: LayoutDraft) -> int:
    """Since 2.1.70 a small file beside a subagent's transcript says what it is and which call started it."""
    known = {subagent.subagent_id: subagent for subagent in draft.subagents}
    written = 0
    for item in draft.file.subagents:
        subagent = known.get(item.subagent_id)
        if item.meta_path is not None or subagent is None or subagent.tool_use_id is None:
            continue
        place = draft.moved.get(item.path, item.path)
        draft.written[place.with_suffix(".meta.json")] = [described(draft, subagent)]
        written += 1
    return written


def _verify_subagent_meta(draft: LayoutDraft) -> str | None:
    there = [path.name for path in draft.written if path.name.endswith(".meta.json") and path.exists()]
    return f"there is a {there[0]} already" if there else None


def described(draft: LayoutDraft, subagent: Subagent) -> bytes:
    """Return what the call that started a subagent says of it."""
    for piece in draft.main.pieces:
        head = piece.entry.message if piece.entry is not None and piece.entry.type == "assistant" else None
        blocks = head.content if head is not None and isinstance(head.content, list) else []
        if any(block.id == subagent.tool_use_id for block in blocks):
            given = call_input(draft.main.bytes_of(piece), subagent.tool_use_id or "")
            break
    else:
        given = _in_other_subagents(draft, subagent)
    return subagent_meta_bytes(given, subagent.tool_use_id, subagent.parent_subagent)


def _in_other_subagents(draft: LayoutDraft, subagent: Subagent) -> dict[str, Any]:
    """Return the input of a call that another subagent made."""
    for other in draft.subagents:
        for row in other.rows:
            if row.file and any(ident == subagent.tool_use_id for ident, _ in row.tool_uses):
                with EntryBytes(draft.file.subagents[row.file - 1].path, draft.file.home) as source:
                    return call_input(source.bytes_at(row.offset, row.length), subagent.tool_use_id or "")
    return {}


def _migrate_subagents_inside(draft: LayoutDraft) -> int:
    """Claude Code up to 2.0.26 wrote subagents into the main file. Since 2.1.9 each has a file in `<session>/subagents/`."""
    inside = [subagent for subagent in draft.subagents if subagent.layout == "inside"]
    if not inside:
        return 0
    owner = {(row.line, row.offset): subagent for subagent in inside for row in subagent.rows}
    names = {subagent.subagent_id: _own_id(subagent.subagent_id, draft.file.session_id) for subagent in inside}
    lines: dict[str, list[bytes]] = {names[subagent.subagent_id]: [] for subagent in inside}
    seen: dict[str, set[str]] = {name: set() for name in lines}
    kept = []
    for piece in draft.main.pieces:
        subagent = (
            owner.get((piece.number, piece.object_start)) if piece.entry is not None and piece.data is None else None
        )
        if subagent is None and piece.entry is not None and piece.is_row and piece.entry.isSidechain:
            # A line that a step before has split: it goes where the line before it went.
            subagent = next(
                (item for item in inside if item.rows and piece.number in {row.line for row in item.rows}), None
            )
        if subagent is None or piece.entry is None:
            kept.append(piece)
            continue
        name = names[subagent.subagent_id]
        values: dict[str, object] = {"agentId": name}
        parent = piece.entry.parentUuid
        if isinstance(parent, str) and parent not in seen[name]:
            values["parentUuid"] = (
                None  # what it hung on stays in the main file: the description says which call it was
            )
        if piece.entry.uuid:
            seen[name].add(piece.entry.uuid)
        lines[name].append(set_members(draft.main.bytes_of(piece), values) + b"\n")
    draft.main.pieces = kept
    for subagent in inside:
        name = names[subagent.subagent_id]
        path = draft.subagent_folder / subagent_name(name)
        draft.written[path] = lines[name]
        draft.written[meta_of(path)] = [described(draft, subagent)]
    return len(inside)


def _verify_subagents_inside(draft: LayoutDraft) -> str | None:
    left = sum(1 for piece in draft.main.pieces if piece.is_row and piece.entry is not None and piece.entry.isSidechain)
    if left and any(subagent.layout == "inside" for subagent in draft.subagents):
        return f"{left} lines of subagents are still in the main file"
    return None


def _own_id(subagent_id: str, session_id: str) -> str:
    """Return a subagent's id as Claude Code makes them; lines without one get the same one each time."""
    if subagent_id.startswith("sidechain-") or not subagent_id.isalnum():
        return "a" + hashlib.sha256(f"{session_id}/{subagent_id}".encode()).hexdigest()[:16]
    return subagent_id


_STATES: Final = frozenset({"pending", "in_progress", "completed"})


def _migrate_todo_tasks(draft: LayoutDraft) -> int:
    """Claude Code up to 2.1.50 kept to-do lists in `todos/`; those of 2.1.325 keep tasks, a file each, in `tasks/<session>/`.

    Only the session's own list becomes tasks: those of subagents are done with. The old files go, and undo brings them back.
    """
    home, session_id = draft.file.home, draft.file.session_id
    folder = tasks_folder(home.root, session_id)
    lists = todo_lists(home, session_id)
    if not lists or folder.exists() or any(found.todos.problem for found in lists):
        return 0
    written = 0
    for found in lists:
        if found.subagent_id is None:
            for item in found.todos.items:
                if item.content:
                    written += 1
                    status = item.status if item.status in _STATES else "completed"
                    data = task_bytes(written, item.content, status or "pending", item.active_form)
                    draft.written[folder / f"{written}.json"] = [data]
        draft.removed.append(found.file.path)
    if written:
        draft.written[folder / HIGH_WATER_MARK_NAME] = [str(written).encode()]
    return len(lists)


def _verify_todo_tasks(draft: LayoutDraft) -> str | None:
    return None


#: The steps, the oldest layout first.
LAYOUTS: Final[tuple[Layout, ...]] = (
    Layout(
        "a line for each block",
        "0.2.126",
        "1.0.30",
        "Give every block of an answer a line of its own.",
        _migrate_block_lines,
        _verify_block_lines,
    ),
    Layout(
        "subagents out of the main file",
        "2.0.26",
        "2.1.9",
        "Give every subagent whose lines stand in the main file a file of its own.",
        _migrate_subagents_inside,
        _verify_subagents_inside,
    ),
    Layout(
        "subagents into the session's folder",
        "2.0.28",
        "2.1.9",
        "Move the files of subagents from beside the session into its folder.",
        _migrate_subagent_files,
        _verify_subagent_files,
    ),
    Layout(
        "descriptions of subagents",
        "2.1.9",
        "2.1.70",
        "Write down for every subagent what it is and which call started it.",
        _migrate_subagent_meta,
        _verify_subagent_meta,
    ),
    Layout(
        "to-do lists into tasks",
        "2.1.50",
        "2.1.70",
        "Turn the to-do list of the session into tasks.",
        _migrate_todo_tasks,
        _verify_todo_tasks,
    ),
)
