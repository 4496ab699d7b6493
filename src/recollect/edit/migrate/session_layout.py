"""A session in the layout of an old client, lifted into that of 2.1: the steps of `layouts/` on a draft of it, then one change.

What a resume sends must be the same before and after, block for block: each step is held to that before anything is written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...errors import Refused, Unavailable
from ...graph.subagents import Subagent
from ...graph.thread import find_thread
from ...journal import disk
from ...journal.changes import Change, Journal
from ...journal.guard import refuse_if_busy
from ...store.home import Home
from ...store.scan import SessionFile
from ..fork_subagents import subagents_of
from ..repair.draft import Draft
from .framework import Done, Migration, carry_through

TARGET: Final = "2.1"

Said = tuple[str, tuple[str | None, ...], tuple[str, ...]]


@dataclass
class LayoutDraft:
    """A session while it is lifted: its main file, what will be written beside it, and what will be moved or go."""

    file: SessionFile
    main: Draft
    subagents: list[Subagent]
    written: dict[Path, list[bytes]] = field(default_factory=dict)
    moved: dict[Path, Path] = field(default_factory=dict)
    removed: list[Path] = field(default_factory=list)
    states: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def subagent_folder(self) -> Path:
        return self.file.session_folder / "subagents"

    def remember(self, name: str) -> None:
        """What `go_back` returns to."""
        self.states[name] = (self.main.state(), dict(self.written), dict(self.moved), list(self.removed))

    def go_back(self, name: str) -> None:
        if name in self.states:
            main, written, moved, removed = self.states[name]
            self.main.restore(main)
            self.written, self.moved, self.removed = dict(written), dict(moved), list(removed)

    def said(self) -> list[Said]:
        """What a resume sends, in a form that does not depend on how it is spread over lines."""
        found: list[Said] = []
        for row in find_thread(self.main.transcript()).sent:
            calls = [ident for ident, _ in row.tool_uses]
            for kind in row.block_types:
                ident = calls.pop(0) if kind == "tool_use" and calls else ""
                found.append((row.type, (kind,), (ident, *(row.tool_results if kind == "tool_result" else ()))))
        return found


@dataclass
class MigrateResult:
    session_id: str
    path: Path
    steps: list[Done] = field(default_factory=list)

    @property
    def changes_something(self) -> bool:
        return any(step.places for step in self.steps)


def plan_migrate(journal: Journal, file: SessionFile, *, to: str = TARGET) -> tuple[Change, MigrateResult]:
    """Prepare the lifting of a session. In place: `undo` takes it back; for a copy, copy the home first (`copied_home`)."""
    from .layouts import LAYOUTS  # its steps work on the draft of this module

    if to != TARGET and not to.startswith(f"{TARGET}."):
        raise Unavailable(f"layouts are lifted to {TARGET}, not to {to}", slug="no-migration")
    refuse_if_busy(file.home, file.session_id, file.path, journal, rewrite=True)
    result = MigrateResult(file.session_id, file.path)
    with contextlib.ExitStack() as thrown_away_on_errors:
        change = Change(journal, file.home, "migrate", f"Lift {file.session_id} to the layout of {TARGET}")
        thrown_away_on_errors.enter_context(change)
        for path in (file.path, *(subagent.path for subagent in file.subagents)):
            change.rely_on(path, content=True)
        with contextlib.closing(Draft.of(file.path, file.home)) as main:
            draft = LayoutDraft(file, main, subagents_of(file, main.transcript()))
            result.steps = [step for step in carry_through(draft, _guarded(LAYOUTS, draft)) if step.places]
            if result.changes_something:
                _write(change, draft, main)
        thrown_away_on_errors.pop_all()
    return change, result


def _guarded(layouts: Sequence[Migration[LayoutDraft]], draft: LayoutDraft) -> list[Migration[LayoutDraft]]:
    """The steps, each with a check that what a resume sends stays the same."""
    before = draft.said()

    def guarded(step: Migration[LayoutDraft]) -> Migration[LayoutDraft]:
        def migrate(subject: LayoutDraft) -> int:
            subject.remember(step.name)
            return step.migrate(subject)

        def verify(subject: LayoutDraft) -> str | None:
            if subject.said() != before:
                return "a resume would send something else than before"
            return step.verify(subject)

        return Migration(
            step.name, step.from_version, step.to_version, step.description, migrate,
            lambda subject: subject.go_back(step.name), verify,
        )  # fmt: skip

    return [guarded(step) for step in layouts]


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
    """Whether rows went from the main file into others."""
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
