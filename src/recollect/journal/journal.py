"""The journal of all changes, in Recollect's own data folder.

    changes/000012-rename/          one change: change.json, the bytes it brings, the files it replaced or removed,
                                    and a file `done`, `failed`, `undone` or `pruned` (letting_go.py) that says how it
                                    ended; of a writer, which
                                    has nothing to do but its lines, change.json itself says `done`, and `grown.json`
                                    what it wrote until it closed
    changes/doing-<home>            a second name of the change.json of what is being done in a home right now
    changes/undoing-<home>          the same, of what is being undone
    staging/<token>/                a change in preparation
    locks/<home>.lock               its size says how often something was announced as `doing` or `undoing`

If `doing` or `undoing` is there when somebody holds the lock, a process died: `recover` rolls the change back, or ends the
undoing.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ..errors import DamagedData, NotFound, RecollectError, Refused, StoreBusy
from ..format.path_text import to_path, to_text
from ..store.home import Home
from ..store.stamp import Stamp, stamp_of
from . import disk
from . import locks as presence
from .actions import Action, Move, Remove, RemoveFolder, Replace
from .append_run import read_left
from .guard import refuse_undo_of_foreign_writes, refuse_undo_while_open
from .parent_folders import missing_above, refuse_without_place, remove_empty
from .undo_order import refuse_before_later_ones, what_to_undo_first

if TYPE_CHECKING:
    from .changes import Change

LOCK_SECONDS = 10.0
_STATES = ("done", "pruned", "failed", "undone")
_STANDING = ("done", "pruned")
"""States of changes that can be undone."""


class Record(Struct):
    """What the journal says about a change."""

    number: int
    name: str
    title: str
    home: str
    time: float
    actions: list[Action]
    state: str = "started"
    """started (crashed, or being done right now), done, undone, failed; pruned where the vault has what it took out."""


class Journal:
    """Changes to homes, kept in Recollect's own data folder."""

    def __init__(self, data_folder: Path, *, lock_seconds: float = LOCK_SECONDS) -> None:
        self.folder = data_folder / "changes"
        self.staging = data_folder / "staging"
        self.locks = data_folder / "locks"
        self.lock_seconds = lock_seconds
        self.written: dict[str, Stamp | None] = {}
        """By path: how this process left the files of which it wrote the last lines."""

    # --- reading ------------------------------------------------------------------------------------------------------

    def records(self, homes: Collection[Home] | None = None) -> list[Record]:
        """All changes, newest first; with `homes`, those that were made there."""
        roots = _roots(homes)
        return [item for item in self._newest_first() if roots is None or item.home in roots]

    def record(self, number: int | None = None, homes: Collection[Home] | None = None) -> Record:
        """A change by its number; without one, the newest that is not undone. With `homes`, it must be one of theirs."""
        roots = _roots(homes)
        for item in self._newest_first():
            is_theirs = roots is None or item.home in roots
            if item.number == number and not is_theirs:
                raise Refused(
                    f"change {number} was made in another home, {item.home}", slug="other-home",
                    hint=f"recollect --home {shlex.quote(item.home)} undo {number}",
                )  # fmt: skip
            if item.number == number or (number is None and is_theirs and item.state in _STANDING):
                return item
        what = "there is no change to undo" if number is None else f"there is no change {number}"
        raise NotFound(what, hint="`recollect changes` lists them", slug="no-such-change")

    def _newest_first(self) -> Iterator[Record]:
        for name in sorted(self._names(), key=_number_in, reverse=True):
            record = self._read(self.folder / name)
            if record is not None:
                yield record

    def _names(self) -> list[str]:
        try:
            return [name for name in os.listdir(self.folder) if _number_in(name)]
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise DamagedData(
                f"cannot read the journal of changes, {self.folder}: {problem.strerror or problem}",
                hint="it must be a folder that you may read; what stands there instead can be moved away",
                slug="damaged-journal",
            ) from problem

    def _read(self, folder: Path) -> Record | None:
        record = _decode(folder / "change.json")
        if record is not None:
            for state in _STATES:
                if (folder / state).exists():
                    record.state = state
        return record

    def folder_of(self, record: Record) -> Path:
        return self.folder / f"{record.number:06d}-{record.name}"

    def next_number(self) -> int:
        return max(map(_number_in, self._names()), default=0) + 1

    def is_ours(self, path: Path, current: Stamp, before: Record | None = None) -> bool:
        """Whether a change left the file as it is now, so that nobody else wrote to it since.

        With `before`, only changes that were made before that one count. The file may have been moved since.
        """
        if self.is_of_this_process(path, current):
            return True
        names = {
            path.name,
            os.path.basename(os.path.realpath(path)),
        }  # a session that is a link was written where it leads
        for count, record in enumerate(self._newest_first()):
            if count == 200:
                break
            if record.state in _STANDING and (before is None or record.number < before.number):
                told = read_left(self.folder_of(record))
                if any(left == current and os.path.basename(name) in names for name, left in told.items()):
                    return True
        return False

    def is_of_this_process(self, path: Path, current: Stamp) -> bool:
        """Whether this very process wrote the last lines of the file, as it is now."""
        return current in (self.written.get(str(path)), self.written.get(os.path.realpath(path)))

    # --- changing -----------------------------------------------------------------------------------------------------

    def change(self, home: Home, name: str, title: str) -> Change:
        from .changes import Change

        return Change(self, home, name, title)

    def locked(self, home: Home) -> AbstractContextManager[None]:
        """One Recollect process at a time changes a home. Raises StoreBusy after `lock_seconds`."""
        return self._hold(self.lock_of(home))

    def lock_of(self, home: Home) -> presence.LockFile:
        """What `locked` locks, for who does it again and again: see `take`."""
        return self._lock_file(_key(home), f"another Recollect process is changing {home.root}")

    def numbering(self) -> AbstractContextManager[None]:
        """One process at a time gives a change its number, whatever the home."""
        return self._hold(self._lock_file("numbers", "another Recollect process is writing down a change"))

    def _lock_file(self, name: str, held_by: str) -> presence.LockFile:
        return presence.LockFile(self._lock_path(name), held_by)

    def _lock_path(self, name: str) -> str:
        return f"{self.locks}{os.sep}{name}.lock"

    @contextlib.contextmanager
    def _hold(self, lock: presence.LockFile) -> Iterator[None]:
        self.take(lock)
        try:
            yield
        finally:
            lock.close()

    def take(self, lock: presence.LockFile) -> None:
        """Take a lock; the caller releases and closes it. Raises StoreBusy after `lock_seconds`."""
        try:
            try:
                lock.take(self.lock_seconds)
            except FileNotFoundError:
                disk.make_folders(self.locks)
                lock.take(self.lock_seconds)
        except TimeoutError as problem:
            hint = f"waited {self.lock_seconds:g} s; try again when it is done"
            raise StoreBusy(lock.held_by, hint=hint, slug="locked") from problem
        except OSError as problem:
            raise disk.explain(problem, self.locks) from problem

    def is_interrupted(self, home: Home) -> bool:
        """Whether a crash left something half done in this home. Call with the lock held."""
        start, key = f"{self.folder}{os.sep}", _key(home)
        return os.path.lexists(f"{start}doing-{key}") or os.path.lexists(f"{start}undoing-{key}")

    def recover(self, home: Home) -> list[Record]:
        """Roll back what a crash left half done in this home, end what was being undone. Call with the lock held."""
        try:
            found = self._recover(home)
        except OSError as problem:
            raise disk.explain(problem, home.root) from problem
        self._sweep()
        return found

    def _recover(self, home: Home) -> list[Record]:
        found: list[Record] = []
        for kind, state in (("doing", "started"), ("undoing", "done")):
            if not self._pointer(kind, home).exists():
                continue
            for record in self._interrupted(kind, state, home):
                folder = self.folder_of(record)
                if kind == "doing":
                    self.roll_back(record)
                else:
                    for action in reversed(record.actions):
                        action.undo_rest(folder)
                    self.mark(folder, "undone")
                found.append(record)
            disk.remove_if_there(self._pointer(kind, home))
        return found

    def _interrupted(self, kind: str, state: str, home: Home) -> list[Record]:
        named = _decode(self._pointer(kind, home))
        if named is not None:
            current = self._read(self.folder_of(named))
            return [current] if current is not None and current.state == state else []
        if kind == "undoing":  # it never began, or the disk lost the pointer: the change stays done, and can be undone
            return []
        return [item for item in self._newest_first() if item.state == state and item.home == home.real_root]

    def roll_back(self, record: Record) -> None:
        """As if it had never been."""
        folder = self.folder_of(record)
        disk.remove_if_there(folder / "done")
        for action in reversed(record.actions):
            action.roll_back(folder)
        self.mark(folder, "failed")
        for action in record.actions:
            if isinstance(action, Replace) and not action.brought_back_another(folder):  # bytes that nobody will need
                with contextlib.suppress(OSError):
                    disk.remove_if_there(folder / action.staged)

    def _sweep(self) -> None:
        """Remove what a crash left of changes in preparation."""
        with contextlib.suppress(OSError):
            for name in os.listdir(self.staging):
                with contextlib.suppress(OSError):
                    presence.remove_if_abandoned(self.staging / name, disk.remove_tree)

    def undo(self, record: Record, home: Home, refill: Callable[[Record], None] | None = None) -> None:
        """Put everything back as it was before: bytes and times. On failure everything stays as it is.

        `refill` fetches from elsewhere what the journal let go of a pruned change (letting_go.py).
        """
        if record.home != home.real_root:
            raise Refused(f"change {record.number} was made in another home, {record.home}", slug="not-undoable")
        with self.locked(home):
            try:
                self.recover(home)
                current = self.check_undo(record, home)
                if current.state == "pruned":
                    if refill is None:
                        raise Refused(
                            f"change {record.number} took out sessions that only the vault has now", slug="pruned",
                            hint=f"`recollect undo {record.number}` brings them back from the vault",
                        )  # fmt: skip
                    refill(current)
                    current = self.check_undo(record, home)
                self._undo(current, home)
            except OSError as problem:
                raise disk.explain(problem, record.home) from problem

    def check_undo(self, record: Record, home: Home) -> Record:
        """Raise what would keep the change from being undone now; the record as it is in the journal. Changes nothing."""
        try:
            return self._check_undo(record, home)
        except OSError as problem:
            raise disk.explain(problem, record.home) from problem

    def _check_undo(self, record: Record, home: Home) -> Record:
        folder = self.folder_of(record)
        current = self._read(folder)
        if current is None or current.state not in _STANDING:
            state = "gone" if current is None else current.state
            raise Refused(f"change {record.number} is {state}, not done: nothing to undo", slug="not-undoable")
        refuse_undo_while_open(current, home)
        later = self._later(current)
        for action in reversed(current.actions):
            try:
                action.check_undo(folder)
            except Refused as problem:
                problem.hint = problem.hint or what_to_undo_first(action.path, later)
                raise
        refuse_before_later_ones(current, later)
        refuse_undo_of_foreign_writes(current, self)
        for action in _bringing_back(current):
            refuse_without_place(Path(action.path), home)
        return current

    def describe_undo(self, record: Record) -> list[str]:
        """What undoing the change would do now, a line a step."""
        folders = [f"make folder {folder}" for folder in _folders_to_make(record)]
        return folders + [action.describe_undo() for action in reversed(record.actions)]

    def _later(self, record: Record) -> list[Record]:
        """Changes of the same home that came after it and are done, newest first."""
        found = []
        for item in self._newest_first():
            if item.number <= record.number:
                break
            if item.state in _STANDING and item.home == record.home:
                found.append(item)
        return found

    def _undo(self, current: Record, home: Home) -> None:
        folder = self.folder_of(current)
        was = {action.path: stamp_of(action.path) for action in current.actions}
        folders = _folders_to_make(current)
        self.announce("undoing", folder, home)
        try:
            disk.sync_folder(self.folder)
            for action in reversed(current.actions):
                action.undo(folder)
            self.mark(folder, "undone")
        except (OSError, RecollectError) as problem:
            self._redo(current, was, folders, problem)
            self.withdraw("undoing", home)
            raise
        self.withdraw("undoing", home)

    def _redo(self, record: Record, was: dict[str, Stamp | None], folders: list[Path], problem: Exception) -> None:
        """After a failed undo: everything as the change had left it."""
        folder = self.folder_of(record)
        try:
            disk.remove_if_there(folder / "undone")
            for action in record.actions:
                action.redo(folder, was[action.path])
            remove_empty(folders)
        except OSError as another:
            raise DamagedData(
                f"change {record.number} is undone only in part: {problem}", slug="write-failed",
                hint="nothing is lost; the next changing command ends it",
            ) from another  # fmt: skip

    # --- what the change and the writer note --------------------------------------------------------------------------

    def announce(self, kind: str, folder: Path, home: Home) -> None:
        """Say that the change in `folder` is being done or undone; the caller syncs the journal's folder."""
        disk.grow_by_one(self._lock_path(_key(home)))  # first, for who looks for pointers only where it grew
        disk.link_or_copy(folder / "change.json", self._pointer(kind, home))

    def withdraw(self, kind: str, home: Home) -> None:
        with contextlib.suppress(OSError):  # what was done is done; `recover` sees that from the change's own folder
            disk.remove_if_there(self._pointer(kind, home))

    def _pointer(self, kind: str, home: Home) -> Path:
        return self.folder / f"{kind}-{_key(home)}"

    def mark(self, folder: Path, state: str, told: Mapping[str, Struct] | None = None) -> None:
        """Note, at once and for good, how a change ended."""
        fresh = folder / f"{state}.new"
        disk.remove_if_there(fresh)
        disk.write_new(fresh, [msgspec.json.encode({to_text(name): left for name, left in (told or {}).items()})])
        disk.replace(fresh, folder / state)


def _bringing_back(record: Record) -> list[Move | Remove | RemoveFolder]:
    """The steps whose undoing needs a folder to bring something back to, in the order in which they are undone."""
    return [action for action in reversed(record.actions) if isinstance(action, (Move, Remove, RemoveFolder))]


def _folders_to_make(record: Record) -> list[Path]:
    """Folders that somebody removed since, above what an undo brings back; the topmost first."""
    steps = _bringing_back(record)
    brought = {action.path for action in steps}
    found: dict[Path, None] = {}
    for action in steps:
        for folder in missing_above(Path(action.path)):
            if str(folder) in brought:  # it comes back itself, with what was in it
                break
            found[folder] = None
    return list(found)


def _number_in(name: str) -> int:
    digits = name.partition("-")[0]
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def encode_record(record: Record) -> bytes:
    """The record as JSON, with paths as text."""
    title = record.title.encode("utf-8", "replace").decode()
    return msgspec.json.encode(msgspec.structs.replace(_with_paths(record, to_text), title=title))


def _with_paths(record: Record, change: Callable[[str], str]) -> Record:
    actions: list[Action] = []
    for action in record.actions:
        told = {"path": change(action.path)} | ({"target": change(action.target)} if isinstance(action, Move) else {})
        actions.append(msgspec.structs.replace(action, **told))
    return msgspec.structs.replace(record, home=change(record.home), actions=actions)


def _decode(path: Path) -> Record | None:
    try:
        return _with_paths(msgspec.json.decode(path.read_bytes(), type=Record), to_path)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None  # the crash came before anything was to happen


def _key(home: Home) -> str:
    return _hashed(home.real_root)


@functools.lru_cache(maxsize=64)
def _hashed(root: str) -> str:
    return hashlib.sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _roots(homes: Collection[Home] | None) -> set[str] | None:
    return None if homes is None else {home.real_root for home in homes}
