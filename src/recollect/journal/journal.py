"""Keep the journal of all changes in Recollect's own data folder; recover after a crash, and undo.

    changes/000012-rename/          one change: change.json (the record), the bytes it brings, the files it replaced or
                                    removed, and a file named `done`, `failed`, `undone`, `pruned` or `masked` that says how
                                    it ended and how it left its files. The record of a writer, whose only step is to append
                                    lines, says `done` itself, and `grown.json` says what was written until it closed
    changes/doing-<home>            a second name of the change.json that is being done in a home right now
    changes/undoing-<home>          a second name of the change.json that is being undone right now
    staging/<token>/                a change in preparation
    locks/<home>.lock               its size says how often something was announced as `doing` or `undoing`

If `doing` or `undoing` exists while the lock is free, a process died: `recover` rolls the change back, or completes the undo.
`pruned` lists removed files of which the journal deleted its copies because the vault has them; undoing such a change first
fetches them from the vault into the folder of the change, and then is an undo like any other. `masked` says that the change
can no longer be undone, because secrets were masked in what it kept or in what it wrote (masking.py).
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
from .actions import Action, Mask, Move, Remove, RemoveFolder, Replace, masked_for_good, read_left
from .disk import hash_of
from .guard import refuse_undo_of_foreign_writes, refuse_undo_while_open
from .locks import LockFile, remove_if_abandoned
from .undo_order import refuse_before_later_ones, refuse_without_place, what_to_undo_first

if TYPE_CHECKING:
    from .changes import Change

LOCK_SECONDS = 10.0
_STATES = ("done", "pruned", "failed", "undone", "masked")
_STANDING = ("done", "pruned")
"""The states in which a change can be undone."""


class Record(Struct):
    """One change as the journal knows it."""

    number: int
    name: str
    title: str
    home: str
    time: float
    actions: list[Action]
    state: str = "started"
    """started (crashed, or being done right now), done, undone, failed, pruned (the vault has what it removed), or masked
    (done, and no longer to be undone: secrets were masked in what it kept or wrote)."""

    @property
    def is_masking(self) -> bool:
        """Whether the change masked files, which is never undone: no other change has to wait for that."""
        return any(isinstance(action, Mask) for action in self.actions)


class DiscardedBackup(Struct, frozen=True):
    """A file that was removed from a home, and from the journal because the vault has it."""

    path: str
    """The path below the home, its bytes as Latin-1 text, since a name may not be UTF-8."""
    size: int
    mtime_ns: int
    mode: int
    hash: str

    @property
    def place(self) -> str:
        """The path below the home, as the system names it."""
        return _from_text(self.path)


class Journal:
    """The changes to all homes, in Recollect's own data folder."""

    def __init__(self, data_folder: Path, *, lock_seconds: float = LOCK_SECONDS) -> None:
        self.folder = data_folder / "changes"
        self.staging = data_folder / "staging"
        self.locks = data_folder / "locks"
        self.lock_seconds = lock_seconds
        self.written: dict[str, Stamp | None] = {}
        """The files of which this process wrote the last line, and their stamps after it."""

    # --- reading ------------------------------------------------------------------------------------------------------

    def records(self, homes: Collection[Home] | None = None) -> list[Record]:
        """Return all changes, newest first; with `homes`, only those made there."""
        roots = _roots(homes)
        return [item for item in self._newest_first() if roots is None or item.home in roots]

    def record(self, number: int | None = None, homes: Collection[Home] | None = None) -> Record:
        """Return a change by its number, or the newest that can be undone. With `homes`, it must have been made there."""
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
        """Whether a change of ours left the file as it is now, so that no other program has written to it since.

        With `before`, only changes made before that one count. The file may have been moved since.
        """
        if self.is_of_this_process(path, current):
            return True
        names = {
            path.name,
            os.path.basename(os.path.realpath(path)),
        }  # a session that is a link was written where the link leads
        for count, record in enumerate(self._newest_first()):
            if count == 200:
                break
            if record.state in (*_STANDING, "masked") and (before is None or record.number < before.number):
                stamps = read_left(self.folder_of(record))
                if any(left == current and os.path.basename(name) in names for name, left in stamps.items()):
                    return True
        return False

    def is_of_this_process(self, path: Path, current: Stamp) -> bool:
        """Whether this process wrote the last line of the file, and nothing changed it since."""
        return current in (self.written.get(str(path)), self.written.get(os.path.realpath(path)))

    # --- changing -----------------------------------------------------------------------------------------------------

    def change(self, home: Home, name: str, title: str) -> Change:
        """Begin to collect the steps of a change."""
        from .changes import Change

        return Change(self, home, name, title)

    def locked(self, home: Home) -> AbstractContextManager[None]:
        """Hold the lock of a home: one Recollect process at a time changes it. Raises StoreBusy after `lock_seconds`."""
        return self._hold(self.lock_of(home))

    def lock_of(self, home: Home) -> LockFile:
        """Return the lock that `locked` holds, for a writer that takes it for every line (see `take`)."""
        return self._lock_file(_key(home), f"another Recollect process is changing {home.root}")

    def numbering(self) -> AbstractContextManager[None]:
        """Hold the lock of the change numbers, which all homes share."""
        return self._hold(self._lock_file("numbers", "another Recollect process is writing down a change"))

    def _lock_file(self, name: str, held_by: str) -> LockFile:
        return LockFile(self._lock_path(name), held_by)

    def _lock_path(self, name: str) -> str:
        return f"{self.locks}{os.sep}{name}.lock"

    @contextlib.contextmanager
    def _hold(self, lock: LockFile) -> Iterator[None]:
        self.take(lock)
        try:
            yield
        finally:
            lock.close()

    def take(self, lock: LockFile) -> None:
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
        """Whether a crash left a change or an undo half done in this home. Call with the lock held."""
        start, key = f"{self.folder}{os.sep}", _key(home)
        return os.path.lexists(f"{start}doing-{key}") or os.path.lexists(f"{start}undoing-{key}")

    def recover(self, home: Home) -> list[Record]:
        """Roll back the change that a crash left half done in this home, complete the undo. Call with the lock held."""
        try:
            recovered = self._recover(home)
        except OSError as problem:
            raise disk.explain(problem, home.root) from problem
        self._remove_abandoned_staging()
        return recovered

    def _recover(self, home: Home) -> list[Record]:
        recovered: list[Record] = []
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
                recovered.append(record)
            disk.remove_if_there(self._pointer(kind, home))
        return recovered

    def _interrupted(self, kind: str, state: str, home: Home) -> list[Record]:
        named = _decode(self._pointer(kind, home))
        if named is not None:
            current = self._read(self.folder_of(named))
            return [current] if current is not None and current.state == state else []
        if (
            kind == "undoing"
        ):  # the undo never began, or the pointer is damaged: the change stays done, and can be undone
            return []
        return [item for item in self._newest_first() if item.state == state and item.home == home.real_root]

    def roll_back(self, record: Record) -> None:
        """Take back a change that is not complete, as if it had never begun."""
        folder = self.folder_of(record)
        disk.remove_if_there(folder / "done")
        for action in reversed(record.actions):
            action.roll_back(folder)
        self.mark(folder, "failed")
        for action in record.actions:
            if isinstance(action, Replace) and not action.brought_back_another(
                folder
            ):  # bytes that are not needed any more
                with contextlib.suppress(OSError):
                    disk.remove_if_there(folder / action.staged)

    def _remove_abandoned_staging(self) -> None:
        """Remove the staged files of changes whose process died."""
        with contextlib.suppress(OSError):
            for name in os.listdir(self.staging):
                with contextlib.suppress(OSError):
                    remove_if_abandoned(self.staging / name, disk.remove_tree)

    def undo(self, record: Record, home: Home, refill: Callable[[Record], None] | None = None) -> None:
        """Put everything back as it was before a change: bytes and times. On failure everything stays as it is.

        `refill` brings back the copies that the journal deleted of a pruned change (see `take_backups_again`).
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
        """Raise the reason why a change cannot be undone now, or return its record as it is in the journal."""
        try:
            return self._check_undo(record, home)
        except OSError as problem:
            raise disk.explain(problem, record.home) from problem

    def _check_undo(self, record: Record, home: Home) -> Record:
        folder = self.folder_of(record)
        current = self._read(folder)
        if current is not None and current.state == "masked":
            raise masked_for_good(
                f"secrets were masked in what change {record.number} kept or wrote",
                "what it would bring back is gone for good; `recollect changes` lists what can still be undone",
            )
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
        """Return what undoing a change would do now, one line for each step."""
        folders = [f"make folder {folder}" for folder in _folders_to_make(record)]
        return folders + [action.describe_undo() for action in reversed(record.actions)]

    def _later(self, record: Record) -> list[Record]:
        """Return the later changes of the same home that could be undone, newest first."""
        later = []
        for item in self._newest_first():
            if item.number <= record.number:
                break
            if item.state in _STANDING and item.home == record.home and not item.is_masking:
                later.append(item)
        return later

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
        """Restore what a change had made, after a failed undo."""
        folder = self.folder_of(record)
        try:
            disk.remove_if_there(folder / "undone")
            for action in record.actions:
                action.redo(folder, was[action.path])
            disk.remove_empty(folders)
        except OSError as another:
            raise DamagedData(
                f"change {record.number} is undone only in part: {problem}", slug="write-failed",
                hint="nothing is lost; the next changing command ends it",
            ) from another  # fmt: skip

    # --- files that the vault keeps instead -------------------------------------------------------------------------

    def discard_backups(self, record: Record, home: Home) -> None:
        """Delete the files that a change moved into the journal, after noting them in `pruned`. Empty folders stay."""
        folder = self.folder_of(record)
        listed: dict[str, DiscardedBackup] = {}
        try:
            for action in record.actions:
                if isinstance(action, Remove):
                    below = os.path.relpath(action.path, home.root)
                    for name in _files(folder / action.backup):
                        path, rest = folder / name, os.path.relpath(folder / name, folder / action.backup)
                        info = os.lstat(path)
                        place = os.path.normpath(os.path.join(below, rest))
                        listed[_to_text(name)] = DiscardedBackup(
                            _to_text(place), info.st_size, info.st_mtime_ns, info.st_mode & 0o777, hash_of(path)
                        )
            self.mark(folder, "pruned", listed)
            record.state = "pruned"
            for name in listed:
                disk.remove_file(folder / _from_text(name))
        except OSError as problem:
            raise disk.explain(problem, folder) from problem

    def discarded_backups(self, record: Record) -> dict[str, DiscardedBackup]:
        """Return the copies that were deleted of a change, by their names in its folder. Raises DamagedData."""
        path = self.folder_of(record) / "pruned"
        try:
            return msgspec.json.decode(path.read_bytes(), type=dict[str, DiscardedBackup])
        except (OSError, msgspec.MsgspecError) as problem:
            raise DamagedData(
                f"the list of what change {record.number} pruned cannot be read: {path}: {problem}", slug="damaged-journal",
                hint="nothing was changed; `recollect restore` brings sessions back from the vault",
            ) from problem  # fmt: skip

    def take_backups_again(self, record: Record, chunks: Callable[[DiscardedBackup], Iterator[bytes]]) -> None:
        """Write every deleted copy into the journal again, with the bytes that `chunks` returns for it. All or none."""
        folder = self.folder_of(record)
        made: list[Path] = []
        try:
            for name, file in self.discarded_backups(record).items():
                path = folder / _from_text(name)
                disk.remove_if_there(path)  # left by an earlier attempt
                made.append(path)
                disk.write_new(path, chunks(file), mode=file.mode)
                disk.set_times(path, file.mtime_ns)
            disk.remove_file(folder / "pruned")
        except BaseException:
            for path in made:
                with contextlib.suppress(OSError):
                    disk.remove_if_there(path)
            raise

    # --- what the change and the writer note --------------------------------------------------------------------------

    def announce(self, kind: str, folder: Path, home: Home) -> None:
        """Note that the change in `folder` is being done or undone (`kind`); the caller syncs the journal's folder."""
        disk.grow_by_one(self._lock_path(_key(home)))  # first: writers look for announcements only when it grew
        disk.link_or_copy(folder / "change.json", self._pointer(kind, home))

    def withdraw(self, kind: str, home: Home) -> None:
        """Remove the announcement of a change that has ended."""
        with contextlib.suppress(OSError):  # `recover` sees from the folder of the change that it has ended
            disk.remove_if_there(self._pointer(kind, home))

    def _pointer(self, kind: str, home: Home) -> Path:
        return self.folder / f"{kind}-{_key(home)}"

    def mark(self, folder: Path, state: str, notes: Mapping[str, Struct] | None = None) -> None:
        """Write the file that says how a change ended, in one step and synced; `notes` is its content, by path."""
        fresh = folder / f"{state}.new"
        disk.remove_if_there(fresh)
        disk.write_new(fresh, [msgspec.json.encode({to_text(name): left for name, left in (notes or {}).items()})])
        disk.replace(fresh, folder / state)


def _bringing_back(record: Record) -> list[Move | Remove | RemoveFolder]:
    """Return the steps whose undo brings something back into a folder, in the order of the undo."""
    return [action for action in reversed(record.actions) if isinstance(action, (Move, Remove, RemoveFolder))]


def _folders_to_make(record: Record) -> list[Path]:
    """Return the missing folders above what an undo brings back, the topmost first."""
    steps = _bringing_back(record)
    brought = {action.path for action in steps}
    missing: dict[Path, None] = {}
    for action in steps:
        for folder in disk.missing_above(Path(action.path)):
            if str(folder) in brought:  # the undo brings back this folder itself, with its content
                break
            missing[folder] = None
    return list(missing)


def _number_in(name: str) -> int:
    digits = name.partition("-")[0]
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def encode_record(record: Record) -> bytes:
    """Return a record as JSON, with paths as text."""
    title = record.title.encode("utf-8", "replace").decode()
    return msgspec.json.encode(msgspec.structs.replace(_with_paths(record, to_text), title=title))


def _with_paths(record: Record, change: Callable[[str], str]) -> Record:
    actions: list[Action] = []
    for action in record.actions:
        paths = {"path": change(action.path)} | ({"target": change(action.target)} if isinstance(action, Move) else {})
        actions.append(msgspec.structs.replace(action, **paths))
    return msgspec.structs.replace(record, home=change(record.home), actions=actions)


def _decode(path: Path) -> Record | None:
    try:
        return _with_paths(msgspec.json.decode(path.read_bytes(), type=Record), to_path)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None  # the crash came before the record was complete, so no step was done


def _key(home: Home) -> str:
    return _hashed(home.real_root)


@functools.lru_cache(maxsize=64)
def _hashed(root: str) -> str:
    return hashlib.sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _roots(homes: Collection[Home] | None) -> set[str] | None:
    return None if homes is None else {home.real_root for home in homes}


def _files(top: Path) -> Iterator[str]:
    """Yield the regular files at a path or below it, by their paths relative to its parent folder."""
    if not top.is_dir() or top.is_symlink():
        paths = [top]
    else:
        paths = [Path(folder, name) for folder, _, names in os.walk(top) for name in names]
    for path in paths:
        if path.is_file() and not path.is_symlink():
            yield os.path.relpath(path, top.parent)


def _to_text(name: str) -> str:
    return os.fsencode(name).decode("latin-1")


def _from_text(text: str) -> str:
    return os.fsdecode(text.encode("latin-1"))
