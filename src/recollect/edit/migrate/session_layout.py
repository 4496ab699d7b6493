"""Migrate a session from the layout of an old version to that of 2.1: run the steps of `layouts/` on a draft, then one change.

What a resume sends must be the same before and after, block for block: each step is checked for that before anything is written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from ...errors import DamagedData, Refused, Unavailable
from ...graph.subagents import Subagent
from ...graph.thread import find_thread
from ...journal import disk
from ...journal.changes import Change, Journal
from ...journal.guard import refuse_if_busy
from ...store.home import Home
from ...store.layout import subagents_folder
from ...store.scan import SessionFile
from ..fork_subagents import subagents_of
from ..repair.draft import Draft

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


class Layout(Protocol):
    """One step from an old layout to a newer one: a module of `layouts/`."""

    @property
    def NAME(self) -> str: ...
    @property
    def FROM(self) -> str: ...
    @property
    def TO(self) -> str: ...
    @property
    def DESCRIPTION(self) -> str: ...
    def migrate(self, draft: LayoutDraft, /) -> int:
        """Change the draft; return the number of places that were changed (0 where there was nothing to do)."""
        ...

    def verify(self, draft: LayoutDraft, /) -> str | None:
        """Say what is wrong with the outcome; None where it is right."""
        ...


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
    from .layouts import LAYOUTS  # its steps work on the draft of this module

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
            result.steps = _take_steps(draft, LAYOUTS)
            if result.changes_something:
                _write(change, draft, main)
        thrown_away_on_errors.pop_all()
    return change, result


def _take_steps(draft: LayoutDraft, layouts: Sequence[Layout]) -> list[StepTaken]:
    """Run every step on the draft. Raises DamagedData if one fails; the draft is dropped then."""
    before = draft.said()
    taken = []
    for layout in layouts:
        places = layout.migrate(draft)
        problem = layout.verify(draft)
        if draft.said() != before:
            problem = "a resume would send something else than before"
        if problem is not None:
            raise DamagedData(f"{layout.NAME}: {problem}", slug="migration-failed", hint="nothing was changed")
        if places:
            taken.append(StepTaken(layout.NAME, layout.DESCRIPTION, places))
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
