"""The journal: every change is written down before it happens, and can be undone.

    journal = Journal(data_folder)
    with journal.change(home, "rename", "Rename 3f2a to \"New title\"") as change:
        change.append(path, line, keep_mtime=True)
        change.commit()

Steps are collected first; `commit` takes the lock, rolls back what a crash left half done, makes sure that nothing they
rely on was changed meanwhile, writes the journal, does the steps in order, and notes that they are done. If a step fails,
the ones before it are undone and the error is reported. Each change has a folder ``<number>-<name>`` below ``changes/``.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ..errors import NotFound, RecollectError, Refused, StoreBusy
from . import disk
from .actions import Action, Append, Kept, MakeFolder, Move, Remove, RemoveFolder, Replace, kept
from .home import Home
from .paths import is_inside, is_secret

LOCK_SECONDS = 10.0


class Record(Struct):
    """What the journal says about a change."""

    number: int
    name: str
    title: str
    home: str
    time: float
    actions: list[Action]
    state: str = "started"
    """started (crashed, or being done right now), done, undone, failed."""


class Journal:
    """Changes to homes, kept in Recollect's own data folder."""

    def __init__(self, data_folder: Path, *, lock_seconds: float = LOCK_SECONDS) -> None:
        self.folder = data_folder / "changes"
        self.locks = data_folder / "locks"
        self.lock_seconds = lock_seconds

    # --- reading ------------------------------------------------------------------------------------------------------

    def records(self) -> list[Record]:
        """All changes, newest first."""
        found = [self._read(folder) for folder in self._folders()]
        return sorted((item for item in found if item is not None), key=lambda item: item.number, reverse=True)

    def record(self, number: int | None = None) -> Record:
        """A change by its number; without one, the newest that is not undone."""
        for item in self.records():
            if item.number == number or (number is None and item.state == "done"):
                return item
        what = "there is no change to undo" if number is None else f"there is no change {number}"
        raise NotFound(what, hint="`recollect changes` lists them", slug="no-such-change")

    def _folders(self) -> list[Path]:
        try:
            return [self.folder / name for name in os.listdir(self.folder) if name[:1].isdigit()]
        except FileNotFoundError:
            return []

    def _read(self, folder: Path) -> Record | None:
        try:
            record = msgspec.json.decode((folder / "change.json").read_bytes(), type=Record)
        except (OSError, msgspec.MsgspecError, ValueError):
            return None  # the crash came before anything was to happen
        for state in ("done", "failed", "undone"):
            if (folder / state).exists():
                record.state = state
        return record

    def folder_of(self, record: Record) -> Path:
        return self.folder / f"{record.number:06d}-{record.name}"

    # --- changing -----------------------------------------------------------------------------------------------------

    def change(self, home: Home, name: str, title: str) -> Change:
        return Change(self, home, name, title)

    @contextlib.contextmanager
    def locked(self, home: Home) -> Iterator[None]:
        """One Recollect process at a time changes a home. Raises StoreBusy after `lock_seconds`."""
        from filelock import FileLock, Timeout

        self._make(self.locks)
        name = hashlib.sha256(home.real_root.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        lock = FileLock(self.locks / f"{name}.lock", timeout=self.lock_seconds, mode=0o600)
        try:
            lock.acquire()
        except Timeout as problem:
            raise StoreBusy(
                f"another Recollect process is changing {home.root}",
                hint=f"waited {self.lock_seconds:g} s; try again when it is done",
                slug="locked",
            ) from problem
        except OSError as problem:
            raise disk.explain(problem, self.locks) from problem
        try:
            yield
        finally:
            lock.release()

    def recover(self, home: Home) -> list[Record]:
        """Roll back what a crash left half done in this home. Call with the lock held."""
        found: list[Record] = []
        for record in self.records():
            if record.state != "started" or record.home != home.real_root:
                continue
            folder = self.folder_of(record)
            for action in reversed(record.actions):
                action.roll_back(folder)
            self._mark(folder, "failed")
            found.append(record)
        self._sweep()
        return found

    def _sweep(self) -> None:
        """Remove what a crash left of changes that never began (a day old, so nobody is still preparing them)."""
        with contextlib.suppress(OSError):
            for name in os.listdir(self.folder):
                path = self.folder / name
                if name.startswith("new-") and time.time() - path.stat().st_mtime > 86_400:
                    disk.remove_tree(path)

    def undo(self, record: Record, home: Home) -> None:
        """Put everything back as it was before: bytes and times."""
        with self.locked(home):
            self.recover(home)
            current = self._read(self.folder_of(record))
            if current is None or current.state != "done":
                state = "gone" if current is None else current.state
                raise Refused(f"change {record.number} is {state}, not done: nothing to undo", slug="not-undoable")
            folder = self.folder_of(record)
            try:
                for action in reversed(record.actions):
                    action.check_undo(folder)
                for action in reversed(record.actions):
                    action.undo(folder)
                self._mark(folder, "undone")
            except OSError as problem:
                raise disk.explain(problem, record.home) from problem

    def _mark(self, folder: Path, state: str, told: dict[str, Kept] | None = None) -> None:
        disk.write_new(folder / state, [msgspec.json.encode(told or {})])
        disk.sync_folder(folder)

    def note_left(self, record: Record, told: dict[str, Kept]) -> None:
        """How a writer left its file when it closed."""
        disk.write_new(self.folder_of(record) / "left.json", [msgspec.json.encode(told)])

    def left(self, path: Path) -> Kept | None:
        """How the newest change that wrote this file left it: a file that still is so was last written by us."""
        for record in self.records()[:200]:
            if record.state != "done":
                continue
            for name in ("left.json", "done"):
                with contextlib.suppress(OSError, msgspec.MsgspecError):
                    told = msgspec.json.decode((self.folder_of(record) / name).read_bytes(), type=dict[str, Kept])
                    if str(path) in told:
                        return told[str(path)]
        return None

    @staticmethod
    def _make(folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def _next_number(self) -> int:
        numbers = [int(folder.name[:6]) for folder in self._folders() if folder.name[:6].isdigit()]
        return max(numbers, default=0) + 1


class Change:
    """Steps that belong together. Nothing happens before `commit`; without it, leaving the block throws them away."""

    def __init__(self, journal: Journal, home: Home, name: str, title: str) -> None:
        self.journal = journal
        self.home = home
        self.name = name
        self.title = title
        self.steps: list[Action] = []
        self.expected: dict[str, Kept | None] = {}
        self.record: Record | None = None
        self._token = uuid.uuid4().hex[:12]
        self._staging = journal.folder / f"new-{self._token}"
        self._made: set[str] = set()

    def __enter__(self) -> Change:
        return self

    def __exit__(self, *_: object) -> None:
        self._throw_away()

    # --- collecting ---------------------------------------------------------------------------------------------------

    def rely_on(self, path: Path) -> None:
        """The plan was made from this file as it is now: if it changes before `commit`, nothing is done."""
        self.expected.setdefault(str(path), kept(path))

    def append(self, path: Path, data: bytes, *, keep_mtime: bool = False, create: bool = False) -> None:
        """Append bytes. A file that does not end in LF gets one first, so that the new line is a line of its own."""
        self._check(path)
        before = kept(path)
        pending = next((step for step in self.steps if isinstance(step, Append) and step.path == str(path)), None)
        if pending is not None:  # one write per file and change
            staged = self._staging / pending.staged
            staged.write_bytes(staged.read_bytes() + data)
            pending.length += len(data)
            return
        if before is None:
            if not create:
                raise NotFound(f"no such file: {path}", slug="no-such-file")
            self.folder(path.parent)
        elif create:
            raise Refused(f"{path} exists already", slug="exists")
        elif before.size and not _ends_with_newline(path, before.size):
            data = b"\n" + data
        self.rely_on(path)
        name = f"append-{len(self.steps)}"
        self._stage(name, [data])
        self.steps.append(Append(str(path), name, before, len(data), keep_mtime))

    def write(
        self,
        path: Path,
        chunks: Iterable[bytes],
        *,
        mtime_ns: int | None = None,
        replace: bool = False,
        elsewhere: bool = False,
    ) -> None:
        """A whole file, prepared now, put in its place by `commit`. An existing file is replaced only if asked.

        `elsewhere` permits a place outside the home: a file of the project that the user wants back.
        """
        self._check(path, elsewhere=elsewhere)
        before = kept(path)
        if before is not None and not replace:
            raise Refused(f"{path} exists already", slug="exists")
        self.rely_on(path)
        self.folder(path.parent, elsewhere=elsewhere)
        digest = hashlib.sha256()
        name = f"new-{len(self.steps)}"
        self._stage(name, _hashed(chunks, digest), mode=_mode_of(path))
        self.steps.append(Replace(str(path), name, f"old-{len(self.steps)}", before, digest.hexdigest(), mtime_ns))

    def move(self, source: Path, target: Path) -> None:
        self._check(source)
        self._check(target)
        if os.path.lexists(target):
            raise Refused(f"{target} exists already", slug="exists")
        self.folder(target.parent)
        self.steps.append(Move(str(source), str(target)))

    def remove(self, path: Path, *, elsewhere: bool = False) -> None:
        """Take a file or folder out; it is kept in the journal."""
        self._check(path, elsewhere=elsewhere)
        self.steps.append(Remove(str(path), f"removed-{len(self.steps)}"))

    def remove_folder(self, path: Path) -> None:
        """Remove a folder that the steps before leave empty."""
        self._check(path)
        self.steps.append(RemoveFolder(str(path), os.stat(path).st_mtime_ns))

    def folder(self, path: Path, *, elsewhere: bool = False) -> None:
        """Make a folder and those above it, inside the home, where they are not there yet."""
        missing: list[Path] = []
        step = path
        while not step.exists() and str(step) not in self._made:
            missing.append(step)
            step = step.parent
        for item in reversed(missing):
            self._check(item, elsewhere=elsewhere)
            self._made.add(str(item))
            self.steps.append(MakeFolder(str(item)))

    def _check(self, path: Path, *, elsewhere: bool = False) -> None:
        if is_secret(path):
            raise Refused(f"{path.name} holds secrets and is never touched", slug="secret")
        if not elsewhere and not is_inside(self.home, path):
            raise Refused(f"{path} is outside of {self.home.root}", slug="outside-home")
        if path.is_symlink():
            raise Refused(f"{path} is a link; links are not written through", slug="outside-home")

    def _stage(self, name: str, chunks: Iterable[bytes], *, mode: int = 0o600) -> None:
        try:
            self.journal._make(self._staging)
            disk.write_new(self._staging / name, chunks, mode=mode)
        except OSError as problem:
            raise disk.explain(problem, self._staging) from problem

    # --- doing --------------------------------------------------------------------------------------------------------

    def describe(self) -> list[str]:
        """The plan, a line a step."""
        return [step.describe() for step in self.steps]

    def commit(self) -> Record:
        """Do the steps, all or none. Raises what went wrong; then everything is as before."""
        try:
            with self.journal.locked(self.home):
                self.journal.recover(self.home)
                self._make_sure()
                record = self._write_down()
                self._do(record)
        except OSError as problem:
            raise disk.explain(problem, self.home.root) from problem
        self.record = record
        return record

    def begin(self) -> Record:
        """Write the change down and do its (small) steps; for a writer that goes on appending. Call with the lock held."""
        record = self._write_down()
        self._do(record)
        self.record = record
        return record

    def _make_sure(self) -> None:
        for name, before in self.expected.items():
            if kept(Path(name)) != before:
                raise StoreBusy(
                    f"{name} was changed by somebody else meanwhile",
                    hint="nothing was done; try again", slug="changed-meanwhile",
                )  # fmt: skip

    def _write_down(self) -> Record:
        record = Record(
            self.journal._next_number(), self.name, self.title, self.home.real_root, time.time(), self.steps
        )
        self.journal._make(self._staging)
        disk.write_new(self._staging / "change.json", [msgspec.json.encode(record)])
        disk.sync_folder(self._staging)
        os.rename(self._staging, self.journal.folder_of(record))
        disk.sync_folder(self.journal.folder)
        return record

    def _do(self, record: Record) -> None:
        folder = self.journal.folder_of(record)
        try:
            for step in self.steps:
                step.do(folder)
            self.journal._mark(folder, "done", _left_behind(self.steps))
        except (OSError, RecollectError):
            # The file whose step failed is back as it was, or `roll_back` sees to it; then the ones before, last first.
            with contextlib.suppress(OSError):
                for step in reversed(self.steps):
                    step.roll_back(folder)
                self.journal._mark(folder, "failed")
            raise
        record.state = "done"

    def _throw_away(self) -> None:
        if self.record is not None:
            return
        with contextlib.suppress(OSError):
            disk.remove_tree(self._staging)


def _ends_with_newline(path: Path, size: int) -> bool:
    with open(path, "rb") as stream:
        stream.seek(size - 1)
        return stream.read(1) == b"\n"


def _left_behind(steps: list[Action]) -> dict[str, Kept]:
    """Size and time of every file that was written, to know later that nobody else wrote it since."""
    found: dict[str, Kept] = {}
    for step in steps:
        if isinstance(step, (Append, Replace)):
            now = kept(Path(step.path))
            if now is not None:
                found[step.path] = now
    return found


def _hashed(chunks: Iterable[bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    for chunk in chunks:
        digest.update(chunk)
        yield chunk


def _mode_of(path: Path) -> int:
    try:
        return os.stat(path).st_mode & 0o777
    except OSError:
        return 0o600
