"""Collect the steps of a change and commit them: all or none, written down before they happen, undone on request.

    journal = Journal(data_folder)
    with journal.change(home, "rename", "Rename 3f2a to \"New title\"") as change:
        change.append(path, line, keep_mtime=True)
        change.commit()

The protocol is told in the docstring of the package. If a step fails, the steps before it are undone and the error is raised.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Iterable
from pathlib import Path

from ..errors import DamagedData, NotFound, Refused, StoreBusy
from ..store.home import Home, is_inside, is_secret, is_session_link, place_to_write
from ..store.stamp import Stamp, stamp_below, stamp_of
from . import disk, locks
from .actions import Action, Append, MakeFolder, Mask, Move, Remove, RemoveFolder, Replace
from .disk import hash_of, hashed, new_hash
from .guard import is_recent
from .journal import LOCK_SECONDS as LOCK_SECONDS
from .journal import Journal as Journal
from .journal import Record as Record
from .journal import encode_record


class Change:
    """Collects steps that belong together. Nothing happens before `commit`; leaving the block without it drops them."""

    def __init__(self, journal: Journal, home: Home, name: str, title: str) -> None:
        self.journal = journal
        self.home = home
        self.name = name
        self.title = title
        self.steps: list[Action] = []
        self.expected: dict[str, Stamp | None] = {}
        """The stamps of the files that the plan was made from, by path."""
        self._hashes: dict[str, str] = {}
        """The hashes of those whose content matters, too."""
        self.record: Record | None = None
        self._staging = journal.staging / uuid.uuid4().hex
        self._process = os.getpid()
        self._has_staging = False
        self._claim: int | None = None
        self._made: set[str] = set()
        self._appended: dict[str, list[bytes]] = {}
        if home.kept_from is not None:
            raise Refused(
                f"this session is no longer in {home.kept_from}: only the vault has it",
                hint="`recollect restore SESSION` brings it back", slug="only-kept",
            )  # fmt: skip

    def __enter__(self) -> Change:
        return self

    def __exit__(self, *_: object) -> None:
        self._throw_away()

    def __del__(self) -> None:
        if self._process == os.getpid():  # not the copy of it in a forked child
            self._throw_away()  # a plan that was only looked at

    # --- collecting ---------------------------------------------------------------------------------------------------

    def rely_on(self, path: Path, *, content: bool = False) -> None:
        """Refuse to commit if this file changes from now on, since the plan is made from it. Call it before reading.

        Size and time tell. With `content` a hash does as well, both at `commit` and of the copy that is kept for undo:
        a copy that is not what was read could not be undone to.
        """
        self.expected.setdefault(str(path), stamp_of(path))
        if content:
            try:
                self._hashes[str(path)] = hash_of(path)
            except FileNotFoundError as problem:
                raise NotFound(f"no such file: {path}", slug="no-such-file") from problem
            except OSError as problem:
                why = f"cannot read {path}: {problem.strerror or problem}"
                raise DamagedData(why, slug="unreadable-file") from problem

    def append(self, path: Path, data: bytes, *, keep_mtime: bool = False, create: bool = False) -> None:
        """Append bytes to a file, after an LF where it does not end in one, so that they are a line of their own.

        The file may grow before `commit`; where the bytes depend on what it holds, call `rely_on` as well.
        """
        path = self._place(path)
        pending = next((step for step in self.steps if isinstance(step, Append) and step.path == str(path)), None)
        if pending is not None:  # one write per file and change
            self._appended[str(path)].append(data)
            pending.length += len(data)
            return
        before = stamp_of(path)
        if before is None:
            if not create:
                raise NotFound(f"no such file: {path}", slug="no-such-file")
            self.folder(path.parent)
        elif create:
            raise Refused(f"{path} exists already", slug="exists")
        self._appended[str(path)] = [data]
        length = len(data) + (before is not None and lacks_newline(path, before))
        self.steps.append(Append(str(path), f"append-{len(self.steps)}", before, length, keep_mtime))

    def write(
        self,
        path: Path,
        chunks: Iterable[disk.Piece],
        *,
        mtime_ns: int | None = None,
        replace: bool = False,
        elsewhere: bool = False,
    ) -> None:
        """Write a whole file: staged now, put in its place by `commit`. An existing file is replaced only with `replace`.

        `elsewhere` permits a place outside the home: a file of the project that the user wants back.
        """
        path = self._place(path, elsewhere=elsewhere)
        before = stamp_of(path)
        if before is not None and not replace:
            raise Refused(f"{path} exists already", slug="exists")
        self.rely_on(path)
        self.folder(path.parent, elsewhere=elsewhere)
        digest = new_hash()
        name = f"new-{len(self.steps)}"
        self._stage(name, hashed(chunks, digest), mode=_mode_of(path))
        self.steps.append(Replace(str(path), name, f"old-{len(self.steps)}", before, digest.hexdigest(), mtime_ns))

    def mask(self, path: Path, chunks: Iterable[disk.Piece], before: Stamp, before_hash: str) -> None:
        """Replace a file by its masked bytes, which are staged now; it keeps its time, and nothing of the old bytes is kept.

        `before` and `before_hash` are the stamp and the hash of what was read.
        """
        self._check(path)
        digest = new_hash()
        name = f"new-{len(self.steps)}"
        self._stage(name, hashed(chunks, digest), mode=_mode_of(path))
        self.steps.append(Mask(str(path), name, before, before_hash, digest.hexdigest()))

    def drop_mask(self) -> None:
        """Drop the step that `mask` added last: the file changed while it was read."""
        step = self.steps.pop()
        if isinstance(step, Mask):
            disk.remove_if_there(self._staging / step.staged)

    def move(self, source: Path, target: Path) -> None:
        """Rename a file or folder to a name that does not exist."""
        self._check(source)
        self._check(target)
        if os.path.lexists(target):
            raise Refused(f"{target} exists already", slug="exists")
        self.folder(target.parent)
        self.steps.append(Move(str(source), str(target)))

    def remove(self, path: Path, *, elsewhere: bool = False) -> None:
        """Remove a file or folder and keep it in the journal. Of a session that is a link, only the link is removed."""
        if not is_session_link(self.home, path):
            self._check(path, elsewhere=elsewhere)
        self.steps.append(Remove(str(path), f"removed-{len(self.steps)}"))

    def remove_folder(self, path: Path) -> None:
        """Remove a folder that earlier steps leave empty."""
        self._check(path)
        info = os.stat(path)
        self.steps.append(RemoveFolder(str(path), info.st_mtime_ns, info.st_mode & 0o7777))

    def folder(self, path: Path, *, elsewhere: bool = False) -> None:
        """Make a folder inside the home, and the missing folders above it."""
        missing: list[Path] = []
        step = path
        while not step.exists() and str(step) not in self._made:
            missing.append(step)
            step = step.parent
        if str(step) not in self._made and not step.is_dir():
            raise Refused(f"{path} cannot be made: {step} is not a folder", slug="no-place")
        for item in reversed(missing):
            self._check(item, elsewhere=elsewhere)
            self._made.add(str(item))
            self.steps.append(MakeFolder(str(item)))

    def _place(self, path: Path, *, elsewhere: bool = False) -> Path:
        """Return the path to write to: for a session that is a link, the file it leads to."""
        if is_session_link(self.home, path):
            return place_to_write(self.home, path)
        self._check(path, elsewhere=elsewhere)
        return path

    def _check(self, path: Path, *, elsewhere: bool = False) -> None:
        if is_secret(path):
            raise Refused(f"{path.name} holds secrets and is never touched", slug="secret")
        if not elsewhere and not is_inside(self.home, path):
            raise Refused(f"{path} is outside of {self.home.root}", slug="outside-home")
        if path.is_symlink():
            raise disk.is_a_link(path)

    def _stage(self, name: str, chunks: Iterable[disk.Piece], *, mode: int = 0o600) -> None:
        try:
            self._make_staging()
            disk.write_new(self._staging / name, chunks, mode=mode)
        except OSError as problem:
            self._throw_away()
            raise disk.explain(problem, self._staging) from problem

    def _make_staging(self) -> None:
        if not self._has_staging:
            self._has_staging = True
            self._claim = locks.make_claimed_folder(self._staging, disk.make_folders)

    @property
    def takes_away(self) -> bool:
        """Whether a step removes, moves or rewrites something. Appending and new files do not count."""
        return any(
            isinstance(step, (Remove, RemoveFolder, Move)) or (isinstance(step, Replace) and step.before is not None)
            for step in self.steps
        )

    # --- doing --------------------------------------------------------------------------------------------------------

    def describe(self) -> list[str]:
        """Return the plan in words, one line for each step."""
        return [step.describe() for step in self.steps]

    def commit(self) -> Record:
        """Do all steps. If one fails, undo those before it and raise the error."""
        try:
            with self.journal.locked(self.home):
                return self.commit_locked()
        finally:
            self._throw_away()

    def commit_locked(self) -> Record:
        """Do what `commit` does, for a caller that holds the lock of the home."""
        try:
            self.journal.recover(self.home)
            self._compare_with_what_was_read()
            self._stage_appended()
            return self.begin()
        except OSError as problem:
            raise disk.explain(problem, self.home.root) from problem
        finally:
            self._throw_away()

    def begin(self) -> Record:
        """Write the record and do the steps. Call with the lock held, after `Journal.recover`."""
        for step in self.steps:
            if isinstance(step, Replace) and step.before is not None:
                step.before_hash = self._hashes.get(step.path)
        try:
            record = self._write_down()
            self._do(record)
        finally:
            self._throw_away()
        self.record = record
        return record

    def note(self) -> Record:
        """Write the record of steps that do nothing by themselves: with the record, they are done.

        Call with the lock held, after `Journal.recover`.
        """
        try:
            self.record = self._write_down("done")
            disk.sync_folder(self.journal.folder)
        finally:
            self._throw_away()
        return self.record

    def _compare_with_what_was_read(self) -> None:
        """Raise StoreBusy if a file that the plan was made from is no longer what was read."""
        for name, before in self.expected.items():
            if stamp_of(name) != before:
                raise _changed_meanwhile(name)
        for name, digest in self._hashes.items():
            if hash_of(Path(name)) != digest:
                raise _changed_meanwhile(name)

    def _stage_appended(self) -> None:
        """Stage the bytes to append, for the files as they are now that the lock is held."""
        for step in self.steps:
            if not isinstance(step, Append):
                continue
            now = stamp_of(step.path)
            if (now is None) != (step.before is None):
                raise _changed_meanwhile(step.path)
            data = b"".join(self._appended[step.path])
            if now is not None and lacks_newline(step.path, now):
                data = b"\n" + data
            step.before, step.length = now, len(data)
            self._stage(step.staged, [data])

    def _write_down(self, state: str = "started") -> Record:
        self._make_staging()
        disk.make_folders(self.journal.folder)
        with self.journal.numbering():
            number = self.journal.next_number()
            record = Record(number, self.name, self.title, self.home.real_root, time.time(), self.steps, state)
            disk.write_new(self._staging / "change.json", [encode_record(record)])
            disk.sync_folder(self._staging)
            if state == "started":
                self.journal.announce("doing", self._staging, self.home)
            try:
                disk.rename(self._staging, self.journal.folder_of(record))
            except OSError:
                self.journal.withdraw("doing", self.home)
                raise
        return record

    def _do(self, record: Record) -> None:
        folder = self.journal.folder_of(record)
        stamps: dict[str, Stamp] = {}
        try:
            disk.sync_folder(self.journal.folder)
            for step in self.steps:
                left = step.do(folder)
                if isinstance(step, Remove) and (removed := stamp_below(folder / step.backup)) is not None:
                    stamps[step.backup] = removed  # `check_undo` compares the copy with it
                if left is not None and not self._hides_a_foreign_write(step):
                    stamps[step.path] = left
            self.journal.mark(folder, "done", stamps)
            self._remember_own_lines(stamps)
        except BaseException as problem:
            # The step that failed has put its file back, or `roll_back` does; then the steps before it, last first.
            try:
                self.journal.roll_back(record)
            except OSError as another:
                why = disk.explain(problem, self.home.root) if isinstance(problem, OSError) else problem
                raise DamagedData(
                    f"{why}; it could not be taken back at once: {disk.explain(another, self.home.root)}",
                    slug="write-failed",
                    hint="nothing is lost; the next changing command takes it back",
                ) from problem  # fmt: skip
            self.journal.withdraw("doing", self.home)
            raise
        self.journal.withdraw("doing", self.home)
        record.state = "done"

    def _remember_own_lines(self, stamps: dict[str, Stamp]) -> None:
        """Note the files of which this process has now written the last line, because it had written the line before."""
        for step in self.steps:
            if not isinstance(step, Append) or step.path not in stamps:
                continue
            if step.before is None or self.journal.is_of_this_process(Path(step.path), step.before):
                self.journal.written[step.path] = stamps[step.path]

    def _hides_a_foreign_write(self, step: Action) -> bool:
        """Whether a step keeps the time at which another program wrote the file just now.

        The journal must then not say that this change left the file so, or the other program's write would pass for ours.
        """
        if not isinstance(step, Append) or step.before is None or not step.keep_mtime:
            return False
        return is_recent(step.before) and not self.journal.is_ours(Path(step.path), step.before)

    def _throw_away(self) -> None:
        if self._has_staging:
            self._has_staging = False
            with contextlib.suppress(OSError):
                disk.remove_tree(self._staging)
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None


def _changed_meanwhile(name: str) -> StoreBusy:
    return StoreBusy(
        f"{name} was changed by somebody else meanwhile", hint="nothing was done; try again", slug="changed-meanwhile"
    )


def lacks_newline(path: str | Path, now: Stamp) -> bool:
    """Whether a file does not end in LF, so that a new line cannot follow yet."""
    if not now.size:
        return False
    try:
        with open(path, "rb") as stream:
            stream.seek(now.size - 1)
            return stream.read(1) != b"\n"
    except OSError as problem:
        raise disk.explain(problem, Path(path)) from problem


def _mode_of(path: Path) -> int:
    try:
        return os.stat(path).st_mode & 0o777
    except OSError:
        return 0o600
