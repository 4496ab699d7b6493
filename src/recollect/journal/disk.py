"""Write to the disk: every system call that changes something is made here, checked and synced.

All other rooms call these functions to write, and nothing else. So a test that makes the Nth call fail, for every N, has tried
every fault there is. A failed sync is an error like any other: nothing is reported as done after it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct

from ..errors import DamagedData, Refused, StoreBusy
from ..store.stamp import Stamp, stamp_of_open
from . import locks

if TYPE_CHECKING:
    import queue
    import threading

    from xxhash import xxh3_128

    from ..store.home import Home


Piece = bytes | memoryview

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CAN_ADVISE = sys.platform == "linux" and hasattr(os, "posix_fadvise")
_ALWAYS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_APPENDING = os.O_RDWR | os.O_APPEND | _NOFOLLOW | _ALWAYS

WAITS: Final = 2.0
"""Seconds to wait for another writer to finish its line, or to close a file that is to be cut."""
QUIET_SECONDS: Final = 0.1
"""How long another program that keeps the file open must have written nothing before a line may follow its last one."""
UNFINISHED_SECONDS: Final = 60.0
"""How long a line without its LF may still be completed by another program that has the file open."""

SYNCED_AT_ONCE: Final = 16 << 20
"""Bytes after which a large file is synced while its next bytes are made, so that little is left to wait for at its end."""

AT_ONCE: Final = 4 << 20
"""Bytes that are written without a thread: most files are smaller, and need none."""
WAITING: Final = 8
"""How many pieces may wait for the thread."""

_LOOKS: Final = 8


def explain(problem: OSError, path: Path | str) -> Exception:
    """Return the error to raise for an error of the system, with what a person can do about it."""
    reason = problem.strerror or str(problem)
    where = problem.filename or path
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        where = problem.filename2 or where  # the target of a copy
        return Refused(
            f"no room to write {where}: {reason}", hint="nothing was changed; make room and try again", slug="disk-full"
        )
    if problem.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return Refused(f"may not write {where}: {reason}", hint="nothing was changed", slug="read-only")
    if problem.errno == errno.ELOOP:
        return is_a_link(where)
    if problem.errno in (errno.EAGAIN, errno.EBUSY):
        return StoreBusy(f"{where} is busy: {reason}")
    return DamagedData(f"cannot write {where}: {reason}", slug="write-failed")


def is_a_link(path: Path | str) -> Refused:
    """Return the error for a link at a path to be written: it may lead anywhere."""
    return Refused(f"{path} is a link; links are not written through", slug="outside-home")


class Appended(Struct, frozen=True, gc=False):
    """What an append wrote, and where."""

    start: int
    """The size of the file before."""
    data: bytes
    """The bytes that were written: the given ones, after an LF where the file did not end in one."""
    left: Stamp | None
    """The stamp of the file afterwards; None if another program wrote right after it."""


def append_bytes(
    path: Path,
    data: bytes,
    *,
    create: bool = False,
    sync: bool = True,
    expected: int | None = None,
    mtime_ns: int | None = None,
) -> Appended:
    """Append whole lines in one write. After a failure the file is as it was, unless another program wrote since.

    With `expected`, the file must still have that size, and the bytes are written as they are. With `mtime_ns`, the file
    gets that time. Raises StoreBusy while another program is writing a line.
    """
    fd = os.open(path, _APPENDING | os.O_CREAT | os.O_EXCL, 0o600) if create else open_at_rest(path)
    try:
        before = stamp_of_open(fd)
        if expected is not None and before.size != expected:
            raise StoreBusy(
                f"{path} was changed by somebody else meanwhile",
                hint="nothing was done; try again", slug="changed-meanwhile",
            )  # fmt: skip
        as_is = expected is not None
        return append_open(fd, path, data, before, created=create, sync=sync, line_ended=as_is, mtime_ns=mtime_ns)
    finally:
        os.close(fd)


def append_open(
    fd: int,
    path: Path | str,
    data: bytes,
    before: Stamp,
    *,
    created: bool = False,
    sync: bool = True,
    line_ended: bool = False,
    mtime_ns: int | None = None,
) -> Appended:
    """Append lines to a file that `open_at_rest` opened, when it had the stamp `before`. The caller closes it.

    `line_ended` says that the file is known to end in LF, so that this need not be looked up.
    """
    if not line_ended and not _ends_in_newline(fd, before.size):
        data = b"\n" + data
    written = 0
    try:
        written = os.write(fd, data)
        if written != len(data):
            raise OSError(errno.ENOSPC, "short write", str(path))
        if sync:
            _begin_to_sync(fd, before.size, written)
        if mtime_ns is not None:
            _set_open_times(fd, path, mtime_ns)
        after = stamp_of_open(fd)
        locks.end_lease(fd)
        if sync:
            os.fsync(fd)
            if created:
                sync_folder(Path(path).parent)
    except BaseException:  # also what a signal raises
        _take_back(path, fd, before, data, written, created=created)
        raise
    return Appended(before.size, data, after if after.size == before.size + written else None)


def _begin_to_sync(fd: int, offset: int, length: int) -> None:
    """Make the system begin to write these bytes now, so that `fsync` waits for less.

    On Linux the advice DONTNEED does this: it starts the write, and keeps in memory what is not on the disk yet.
    """
    if _CAN_ADVISE:
        try:
            os.posix_fadvise(fd, offset, length, os.POSIX_FADV_DONTNEED)
        except OSError:  # without the advice, `fsync` only takes longer
            return


def open_at_rest(path: Path | str) -> int:
    """Open a file for appending while no other program is writing a line. With leases, none can begin one either."""
    fd = os.open(path, _APPENDING)
    if locks.take_lease(fd) is not False:
        return fd
    os.close(fd)
    return _open_when_at_rest(path)


def open_if_unchanged(path: Path | str, seen: Stamp) -> int | None:
    """Open a file for appending if it still has the stamp `seen`; return None if it has changed or is gone."""
    try:
        fd = open_at_rest(path)
    except FileNotFoundError:
        return None
    now = os.fstat(fd)
    if now.st_size == seen.size and now.st_mtime_ns == seen.mtime_ns:
        return fd
    os.close(fd)
    return None


def _open_when_at_rest(path: Path | str) -> int:
    end = time.monotonic() + WAITS
    while True:
        fd, alone = _open_when_alone(path, _APPENDING, 0.0)
        if alone is not False:
            return fd
        info = stamp_of_open(fd)
        rest = QUIET_SECONDS if _ends_in_newline(fd, info.size) else UNFINISHED_SECONDS
        if time.time() - info.mtime_ns / 1e9 > rest:
            return fd
        os.close(fd)
        if time.monotonic() >= end:
            raise StoreBusy(
                f"another process is writing {path}", hint="nothing was written; try again when it is done",
                slug="session-running",
            )  # fmt: skip
        time.sleep(0.002)


def _ends_in_newline(fd: int, size: int) -> bool:
    if size == 0:
        return True
    os.lseek(fd, size - 1, os.SEEK_SET)
    return os.read(fd, 1) == b"\n"


def _take_back(path: Path | str, fd: int, before: Stamp, data: bytes, written: int, *, created: bool) -> None:
    """Restore size and time after a failed append, unless another program wrote after it."""
    with contextlib.suppress(OSError):
        locks.take_lease(fd)
        if os.fstat(fd).st_size != before.size + written and _behind(fd, before.size, len(data) + 1) != data:
            return
        if created:
            os.unlink(path)
            return
        os.ftruncate(fd, before.size)
        _set_open_times(fd, path, before.mtime_ns)


def _behind(fd: int, offset: int, length: int) -> bytes:
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, length)


def _open_when_alone(path: Path | str, flags: int, seconds: float) -> tuple[int, bool | None]:
    """Open a file when no other process has it open for writing, or after `seconds`; also return whether none has.

    That is None where the system cannot tell. Readers are not waited for. While there is one, no lease can be had that keeps
    others from opening the file, so it must be seen several times that none writes: Claude Code opens, appends and closes
    for each line, and may just have closed.
    """
    end = time.monotonic() + seconds
    unwritten = 0
    while True:
        fd = os.open(path, flags)
        alone = locks.take_lease(fd)
        if alone is not False:
            return fd, alone
        os.close(fd)
        if not locks.is_being_written(path):
            unwritten += 1
            if unwritten == _LOOKS:
                return os.open(path, flags), True
        elif time.monotonic() >= end:
            return os.open(path, flags), False
        else:
            unwritten = 0
        time.sleep(0.002)


def truncate(path: Path, size: int, *, expected: int, mtime_ns: int) -> None:
    """Cut a file that still has the expected size, and set its time. Refuses while another program has it open to write."""
    fd, alone = _open_when_alone(path, os.O_RDWR | _NOFOLLOW | _ALWAYS, WAITS)
    try:
        if alone is False:
            raise BlockingIOError(errno.EAGAIN, "another process is writing it", str(path))
        if os.fstat(fd).st_size != expected:
            raise BlockingIOError(errno.EAGAIN, "it was changed meanwhile", str(path))
        os.ftruncate(fd, size)
        _set_open_times(fd, path, mtime_ns)
        locks.end_lease(fd)
        os.fsync(fd)
    finally:
        os.close(fd)


def write_new(path: Path, chunks: Iterable[Piece], *, mode: int = 0o600) -> int:
    """Write a new file, synced, and return its size. It must not exist yet; after a failure it does not."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _ALWAYS, mode)
    size = synced = 0

    def write(chunk: Piece) -> None:
        nonlocal size, synced
        view = memoryview(chunk)
        while view:
            count = os.write(fd, view)
            if count == 0:
                raise OSError(errno.ENOSPC, "short write", str(path))
            view = view[count:]
            size += count
        if size - synced >= SYNCED_AT_ONCE:
            os.fsync(fd)
            synced = size

    try:
        with BackgroundWriter(write) as writer:
            for chunk in chunks:
                writer.take(chunk)
        os.fsync(fd)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    finally:
        os.close(fd)
    return size


def replace(source: Path, target: Path) -> None:
    """Rename `source` over `target`, in one step."""
    os.replace(source, target)
    sync_folder(target.parent)


def put_in_place(staged: Path, target: Path, beside: Path) -> None:
    """Rename `staged` over `target`. From another file system it is first copied to `beside`, a name in the same folder."""
    try:
        os.replace(staged, target)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
        copy_tree(staged, beside)
        os.replace(beside, target)
        os.unlink(staged)
    sync_folder(target.parent)


def replace_for_good(staged: Path, target: Path, beside: Path, expected: Stamp) -> None:
    """Put `staged` in the place of a file that still has the stamp `expected`. Nothing of the old bytes is kept.

    Refuses while another program has the file open to write. Where the system cannot tell, lines that were written into the
    old file at the last moment are appended to the new one.
    """
    fd, alone = _open_when_alone(target, os.O_RDWR | _NOFOLLOW | _ALWAYS, WAITS)
    try:
        if alone is False:
            raise BlockingIOError(errno.EAGAIN, "another process is writing it", str(target))
        if stamp_of_open(fd) != expected:
            raise BlockingIOError(errno.EAGAIN, "it was changed meanwhile", str(target))
        put_in_place(staged, target, beside)
        late = os.fstat(fd).st_size - expected.size
        if late > 0:
            append_bytes(target, _behind(fd, expected.size, late))
    finally:
        os.close(fd)


def move(source: Path, target: Path) -> None:
    """Rename to a name that does not exist. Across file systems: copy, swap the names, then remove (see `settle_move`)."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "exists already", str(target))
    try:
        os.rename(source, target)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
        coming, going = _names_on_the_way(source, target)
        copy_tree(source, coming)
        os.rename(source, going)
        os.rename(coming, target)
        sync_folder(target.parent)
        remove_tree(going)
    sync_folder(target.parent)
    if source.parent != target.parent:
        sync_folder(source.parent)


def settle_move(source: Path, target: Path) -> None:
    """Clean up after a move between file systems that was interrupted: complete it, or take it back."""
    coming, going = _names_on_the_way(source, target)
    if os.path.lexists(going):
        if not os.path.lexists(target) and not os.path.lexists(source):
            os.rename(going, source)
        else:
            if not os.path.lexists(target):  # another program made a new one where the old one was: keep both
                os.rename(coming, target)
            remove_tree(going)
    if os.path.lexists(coming):
        remove_tree(coming)


def _names_on_the_way(source: Path, target: Path) -> tuple[Path, Path]:
    return target.with_name(f".{target.name}.recollect-tmp"), source.with_name(f".{source.name}.recollect-gone")


def link_or_copy(source: Path, target: Path) -> None:
    """Give a file that will be replaced a second name, which keeps its bytes and time; a copy where links are impossible."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        copy_tree(source, target)


def copy_tree(source: Path, target: Path) -> None:
    """Copy a file or folder with times and modes, synced."""
    if source.is_symlink():
        os.symlink(os.readlink(source), target)
    elif source.is_dir():
        _copy_folder(source, target)
        for folder, _, _ in os.walk(target):
            sync_folder(Path(folder))
    else:
        _copy_file(str(source), str(target))


def _copy_folder(source: Path, target: Path) -> None:
    """Copy a folder, and raise the first OSError as it is: `copytree` itself would raise a list of texts."""
    problems: list[OSError] = []

    def copy(one: str, other: str) -> str:
        try:
            return _copy_file(one, other)
        except OSError as problem:
            problems.append(problem)
            raise

    try:
        shutil.copytree(source, target, symlinks=True, copy_function=copy)
    except shutil.Error as error:
        raise problems[0] if problems else error from error


def _copy_file(source: str, target: str) -> str:
    shutil.copy2(source, target, follow_symlinks=False)
    fd = os.open(target, os.O_RDONLY | _ALWAYS)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    return target


def remove_tree(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        os.unlink(path)


def remove_file(path: Path, *, expected: int | None = None) -> None:
    """Remove a file, if it still has the expected size."""
    if expected is not None and os.lstat(path).st_size != expected:
        raise BlockingIOError(errno.EAGAIN, "it was changed meanwhile", str(path))
    os.unlink(path)
    sync_folder(path.parent)


def remove_if_there(path: Path) -> None:
    """Remove a file of our own that may have been left behind. Not synced, since nothing depends on it."""
    if os.path.lexists(path):  # a read-only disk refuses to remove even what is not there
        os.unlink(path)


def make_folder(path: Path, mode: int = 0o700) -> None:
    os.mkdir(path, mode)
    sync_folder(path.parent)


def make_folders(path: Path) -> None:
    """Make a folder of our own and the missing ones above it, all private (`makedirs` would open those above to all)."""
    missing: list[Path] = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:  # another process just made it
            if not folder.is_dir():
                raise


def remove_folder(path: Path) -> None:
    """Remove an empty folder."""
    os.rmdir(path)
    sync_folder(path.parent)


def rename(source: Path, target: Path) -> None:
    """Rename inside one file system; the caller syncs."""
    os.rename(source, target)


def grow_by_one(path: Path | str) -> None:
    """Make a file of our own, which counts by its size, one byte longer. It takes no room on the disk."""
    fd = os.open(path, os.O_WRONLY | _NOFOLLOW | _ALWAYS)
    try:
        os.ftruncate(fd, os.fstat(fd).st_size + 1)
    finally:
        os.close(fd)


def set_times(path: Path, mtime_ns: int) -> None:
    """Set the modification time; the access time follows it."""
    os.utime(path, ns=(mtime_ns, mtime_ns), follow_symlinks=False)


def _set_open_times(fd: int, path: Path | str, mtime_ns: int) -> None:
    os.utime(fd if os.utime in os.supports_fd else path, ns=(mtime_ns, mtime_ns))


def sync_folder(path: Path) -> None:
    """Sync the names in a folder. Windows cannot open folders, and needs no such sync."""
    if os.name == "nt":
        return
    fd = os.open(path, os.O_RDONLY | _ALWAYS)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def missing_above(path: Path) -> list[Path]:
    """Return the folders above a path that do not exist, the topmost first."""
    missing = [folder for folder in path.parents if not os.path.lexists(folder)]
    return missing[::-1]


def make_above(path: Path) -> None:
    """Make the missing folders above a path."""
    for folder in missing_above(path):
        make_folder(folder)


def remove_empty(folders: list[Path]) -> None:
    """Remove those of some folders (the topmost first) that are empty: takes back `make_above`."""
    for folder in reversed(folders):
        if folder.is_dir() and not any(folder.iterdir()):
            remove_folder(folder)


def make_home(home: Home) -> None:
    """Make the folder of a home and its `projects/`, private to the user, if they do not exist."""
    missing = []
    step = home.projects
    while not step.exists():
        missing.append(step)
        step = step.parent
    try:
        for folder in reversed(missing):
            with contextlib.suppress(FileExistsError):  # another task just made it
                make_folder(folder)
    except OSError as problem:
        raise explain(problem, home.root) from problem


class BackgroundWriter:
    """Calls `work` with each piece in order: the first `at_once` bytes at once, all others in a thread.

    The caller makes the next pieces while the thread writes. An error of `work` is raised by `take`, or on leaving the block.
    After an error in the block, only the piece being written is waited for.
    """

    def __init__(self, work: Callable[[Piece], object], *, at_once: int = AT_ONCE) -> None:
        self._work = work
        self._left = at_once
        self._thread: threading.Thread | None = None
        self._pieces: queue.Queue[Piece | None]
        """The pieces that wait for the thread; set when the thread starts."""
        self._problem: BaseException | None = None
        self._stopped = False

    def take(self, piece: Piece) -> None:
        """Write a piece, or hand it to the thread."""
        if self._problem is not None:
            raise self._problem
        if self._left > 0:
            self._left -= len(piece)
            self._work(piece)
            return
        if self._thread is None:
            self._thread = self._start()
        self._pieces.put(piece)

    def __enter__(self) -> BackgroundWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._stopped = error is not None
            self._pieces.put(None)
            self._thread.join()
        if error is None and self._problem is not None:
            raise self._problem

    def _start(self) -> threading.Thread:
        import queue
        import threading

        self._pieces = queue.Queue(WAITING)
        thread = threading.Thread(target=self._run, name="background-writer", daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        """Write pieces until the end. After an error the rest is taken and dropped, so that `take` never blocks for ever."""
        while (piece := self._pieces.get()) is not None:
            if self._problem is None and not self._stopped:
                try:
                    self._work(piece)
                except BaseException as problem:
                    self._problem = problem


# Hash the content of files, to know later whether a file still holds what was read or written.

_Piece = TypeVar("_Piece", bytes, bytes | memoryview)


def new_hash() -> xxh3_128:
    """Return an empty hash to update. It shows changes by chance and by other programs, not forgeries: see decision 0040."""
    from xxhash import xxh3_128

    return xxh3_128()


def hashed(chunks: Iterable[_Piece], digest: xxh3_128) -> Iterator[_Piece]:
    """Yield the pieces unchanged and add each to `digest`, which is complete after the last one."""
    for chunk in chunks:
        digest.update(chunk)
        yield chunk


def hash_of(path: Path, offset: int = 0) -> str:
    """Return the hash of a file, or of its bytes from `offset` on."""
    digest = new_hash()
    with open(path, "rb") as stream:
        stream.seek(offset)
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()
