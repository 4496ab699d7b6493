"""A change: steps that belong together, written down before they happen, done all or not at all, and undone on request.

    journal = Journal(data_folder)
    with journal.change(home, "rename", "Rename 3f2a to \"New title\"") as change:
        change.append(path, line, keep_mtime=True)
        change.commit()

Steps are collected first; `commit` takes the lock, rolls back what a crash left half done, makes sure that nothing they
rely on was changed meanwhile, writes the journal, does the steps in order, and notes that they are done. If a step fails,
the ones before it are undone and the error is reported.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Iterable
from pathlib import Path

from ..errors import DamagedData, NotFound, Refused, StoreBusy
from ..store.home import Home
from ..store.paths import is_inside, is_secret, is_session_link, place_to_write
from ..store.stamp import Stamp, stamp_below, stamp_of
from . import disk
from . import locks as presence
from .actions import Action, Append, MakeFolder, Move, Remove, RemoveFolder, Replace
from .background_write import Piece
from .content_hash import hashed, new_hash
from .guard import is_recent
from .journal import LOCK_SECONDS as LOCK_SECONDS
from .journal import Journal as Journal
from .journal import Record as Record
from .journal import encode_record


class Change:
    """Steps that belong together. Nothing happens before `commit`; without it, leaving the block throws them away."""

    def __init__(self, journal: Journal, home: Home, name: str, title: str) -> None:
        self.journal = journal
        self.home = home
        self.name = name
        self.title = title
        self.steps: list[Action] = []
        self.expected: dict[str, Stamp | None] = {}
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

    def rely_on(self, path: Path) -> None:
        """The plan was made from this file as it is now: if it changes before `commit`, nothing is done."""
        self.expected.setdefault(str(path), stamp_of(path))

    def append(self, path: Path, data: bytes, *, keep_mtime: bool = False, create: bool = False) -> None:
        """Append bytes. A file that does not end in LF gets one first, so that the new line is a line of its own.

        The file may grow before `commit`; where the bytes depend on what it holds, say `rely_on`, too.
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
        chunks: Iterable[Piece],
        *,
        mtime_ns: int | None = None,
        replace: bool = False,
        elsewhere: bool = False,
    ) -> None:
        """A whole file, prepared now, put in its place by `commit`. An existing file is replaced only if asked.

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

    def move(self, source: Path, target: Path) -> None:
        self._check(source)
        self._check(target)
        if os.path.lexists(target):
            raise Refused(f"{target} exists already", slug="exists")
        self.folder(target.parent)
        self.steps.append(Move(str(source), str(target)))

    def remove(self, path: Path, *, elsewhere: bool = False) -> None:
        """Take a file or folder out; it is kept in the journal. Of a session that is a link, that link alone."""
        if not is_session_link(self.home, path):
            self._check(path, elsewhere=elsewhere)
        self.steps.append(Remove(str(path), f"removed-{len(self.steps)}"))

    def remove_folder(self, path: Path) -> None:
        """Remove a folder that the steps before leave empty."""
        self._check(path)
        info = os.stat(path)
        self.steps.append(RemoveFolder(str(path), info.st_mtime_ns, info.st_mode & 0o7777))

    def folder(self, path: Path, *, elsewhere: bool = False) -> None:
        """Make a folder and those above it, inside the home, where they are not there yet."""
        missing: list[Path] = []
        step = path
        while not step.exists() and str(step) not in self._made:
            missing.append(step)
            step = step.parent
        if str(step) not in self._made and not step.is_dir():
            raise Refused(f"{path} cannot be made: {step} is no folder", slug="no-place")
        for item in reversed(missing):
            self._check(item, elsewhere=elsewhere)
            self._made.add(str(item))
            self.steps.append(MakeFolder(str(item)))

    def _place(self, path: Path, *, elsewhere: bool = False) -> Path:
        """Where bytes for a path go: a session that is a link is written where it leads to."""
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

    def _stage(self, name: str, chunks: Iterable[Piece], *, mode: int = 0o600) -> None:
        try:
            self._make_staging()
            disk.write_new(self._staging / name, chunks, mode=mode)
        except OSError as problem:
            self._throw_away()
            raise disk.explain(problem, self._staging) from problem

    def _make_staging(self) -> None:
        if not self._has_staging:
            self._has_staging = True
            self._claim = presence.make_claimed_folder(self._staging, disk.make_folders)

    @property
    def takes_away(self) -> bool:
        """Whether something that is there would be removed, moved or rewritten; what is only added to does not count."""
        return any(
            isinstance(step, (Remove, RemoveFolder, Move)) or (isinstance(step, Replace) and step.before is not None)
            for step in self.steps
        )

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
                self._stage_appended()
                return self.begin()
        except OSError as problem:
            raise disk.explain(problem, self.home.root) from problem
        finally:
            self._throw_away()

    def begin(self) -> Record:
        """Write the change down and do its steps. Call with the lock held, and nothing left to recover."""
        try:
            record = self._write_down()
            self._do(record)
        finally:
            self._throw_away()
        self.record = record
        return record

    def note(self) -> Record:
        """Write down steps that do nothing themselves. They are done with that: nothing can be left half done.

        Call with the lock held, and nothing left to recover.
        """
        try:
            self.record = self._write_down("done")
            disk.sync_folder(self.journal.folder)
        finally:
            self._throw_away()
        return self.record

    def _make_sure(self) -> None:
        for name, before in self.expected.items():
            if stamp_of(name) != before:
                raise _changed_meanwhile(name)

    def _stage_appended(self) -> None:
        """Where the files end now, under the lock, their new bytes go."""
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
        told: dict[str, Stamp] = {}
        try:
            disk.sync_folder(self.journal.folder)
            for step in self.steps:
                left = step.do(folder)
                if isinstance(step, Remove) and (removed := stamp_below(folder / step.backup)) is not None:
                    told[step.backup] = removed  # for `check_undo`: whether it still is what was taken out
                if left is not None and not self._hides_a_foreign_write(step):
                    told[step.path] = left
            self.journal.mark(folder, "done", told)
            self._remember_own_lines(told)
        except BaseException as problem:
            # The file whose step failed is back as it was, or `roll_back` sees to it; then the ones before, last first.
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

    def _remember_own_lines(self, told: dict[str, Stamp]) -> None:
        """A line behind the last one of this very process is its last one now."""
        for step in self.steps:
            if not isinstance(step, Append) or step.path not in told:
                continue
            if step.before is None or self.journal.is_of_this_process(Path(step.path), step.before):
                self.journal.written[step.path] = told[step.path]

    def _hides_a_foreign_write(self, step: Action) -> bool:
        """Whether a file keeps the time at which somebody else wrote it, just now: then it does not count as left by us."""
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
    """Whether the last line of a file is open, so that another one cannot follow yet."""
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
