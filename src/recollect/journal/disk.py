"""Every system call that changes something on disk, in one place: short, checked, synced.

The rest of `store/` calls these functions and nothing else to write, so a test that makes the Nth of them fail has tried
every fault there is. A failed sync is an error like any other: nothing is reported as done after it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from ..errors import DamagedData, Refused, StoreBusy
from ..store.stamp import Stamp, stamp_of_open
from . import locks as presence
from .background_write import BackgroundWriter, Piece

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CAN_ADVISE = sys.platform == "linux" and hasattr(os, "posix_fadvise")
_ALWAYS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_APPENDING = os.O_RDWR | os.O_APPEND | _NOFOLLOW | _ALWAYS

WAITS: Final = 2.0
"""Seconds to wait for another writer to come to rest, or to close a file that is to be cut."""
QUIET_SECONDS: Final = 0.1
"""How long a writer that keeps the file open must have written nothing before a line may follow its last one."""
UNFINISHED_SECONDS: Final = 60.0
"""How long a line without an end may still be in the making while somebody has the file open."""

SYNCED_AT_ONCE: Final = 16 << 20
"""Bytes of a large file after which it is synced while the next ones are made: at its end there is little left to wait for."""

_LOOKS: Final = 8


def explain(problem: OSError, path: Path | str) -> Exception:
    """An error of the system as one of ours, with what a person can do."""
    reason = problem.strerror or str(problem)
    where = problem.filename or path
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        where = problem.filename2 or where  # of a copy, the place that is written
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
    """Whoever made it may have it lead anywhere."""
    return Refused(f"{path} is a link; links are not written through", slug="outside-home")


class Appended(Struct, frozen=True, gc=False):
    """What an append did."""

    start: int
    """The size before."""
    data: bytes
    """What was written: the given bytes, after an LF where the file did not end in one."""
    left: Stamp | None
    """How it left the file; None where somebody else wrote behind at once."""


def append_bytes(
    path: Path,
    data: bytes,
    *,
    create: bool = False,
    sync: bool = True,
    expected: int | None = None,
    mtime_ns: int | None = None,
) -> Appended:
    """Append in one write, as lines of their own. On any failure the file is as it was, if nobody else wrote since.

    With `expected`, the file must still have that size, and the bytes are written as they are. With `mtime_ns`, it has
    that time afterwards. A line that somebody is still writing is not interrupted: then StoreBusy.
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
    """Append lines to a file that `open_at_rest` opened and that was as `before` says then. The caller closes it.

    `line_ended` says that the last line, as `before` left it, is known to have its end: then nobody needs to look.
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
        presence.end_lease(fd)
        if sync:
            os.fsync(fd)
            if created:
                sync_folder(Path(path).parent)
    except BaseException:  # also what a signal raises
        _take_back(path, fd, before, data, written, created=created)
        raise
    return Appended(before.size, data, after if after.size == before.size + written else None)


def _begin_to_sync(fd: int, offset: int, length: int) -> None:
    """Have the system begin to write these bytes while there are other things to do; `fsync` then waits for less.

    What looks like advice to forget them is, on Linux, the only way to say so: bytes that are not on the disk yet stay known.
    """
    if _CAN_ADVISE:
        try:
            os.posix_fadvise(fd, offset, length, os.POSIX_FADV_DONTNEED)
        except OSError:  # no advice, no harm
            return


def open_at_rest(path: Path | str) -> int:
    """The file opened for appending when nobody is writing a line of it, and nobody can begin one, where leases are known."""
    fd = os.open(path, _APPENDING)
    if presence.take_lease(fd) is not False:
        return fd
    os.close(fd)
    return _open_when_at_rest(path)


def open_if_unchanged(path: Path | str, seen: Stamp) -> int | None:
    """The same, if the file still is as it was seen; None where it is not, or is gone."""
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
    """After a failure: the old size and time again, unless somebody else wrote behind."""
    with contextlib.suppress(OSError):
        presence.take_lease(fd)
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
    """The file opened when no other process has it open for writing, or after `seconds`, and whether nobody has.

    None where the system cannot tell. Who merely reads is not waited for; but then nobody is kept from opening it either,
    so it must be seen several times that nobody writes: a client that opens, appends and closes may just have closed.
    """
    end = time.monotonic() + seconds
    unwritten = 0
    while True:
        fd = os.open(path, flags)
        alone = presence.take_lease(fd)
        if alone is not False:
            return fd, alone
        os.close(fd)
        if not presence.is_being_written(path):
            unwritten += 1
            if unwritten == _LOOKS:
                return os.open(path, flags), True
        elif time.monotonic() >= end:
            return os.open(path, flags), False
        else:
            unwritten = 0
        time.sleep(0.002)


def truncate(path: Path, size: int, *, expected: int, mtime_ns: int) -> None:
    """Cut a file that still has the expected size, and set its time. Refuses while somebody else has it open for writing."""
    fd, alone = _open_when_alone(path, os.O_RDWR | _NOFOLLOW | _ALWAYS, WAITS)
    try:
        if alone is False:
            raise BlockingIOError(errno.EAGAIN, "another process is writing it", str(path))
        if os.fstat(fd).st_size != expected:
            raise BlockingIOError(errno.EAGAIN, "it was changed meanwhile", str(path))
        os.ftruncate(fd, size)
        _set_open_times(fd, path, mtime_ns)
        presence.end_lease(fd)
        os.fsync(fd)
    finally:
        os.close(fd)


def write_new(path: Path, chunks: Iterable[Piece], *, mode: int = 0o600) -> int:
    """A new file with these bytes, synced. It must not exist yet; after a failure it does not. Returns its size."""
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
        with BackgroundWriter(write) as behind:
            for chunk in chunks:
                behind.take(chunk)
        os.fsync(fd)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    finally:
        os.close(fd)
    return size


def replace(source: Path, target: Path) -> None:
    """Put `source` in the place of `target`, at once."""
    os.replace(source, target)
    sync_folder(target.parent)


def put_in_place(staged: Path, target: Path, beside: Path) -> None:
    """Like `replace`, also from another file system: then over `beside`, a name in the target's own folder."""
    try:
        os.replace(staged, target)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
        copy_tree(staged, beside)
        os.replace(beside, target)
        os.unlink(staged)
    sync_folder(target.parent)


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
    """After a move between file systems that did not end: it has happened, or it has not, and nothing else is left of it."""
    coming, going = _names_on_the_way(source, target)
    if os.path.lexists(going):
        if not os.path.lexists(target) and not os.path.lexists(source):
            os.rename(going, source)
        else:
            if not os.path.lexists(target):  # somebody made a new one where the old one was: keep both
                os.rename(coming, target)
            remove_tree(going)
    if os.path.lexists(coming):
        remove_tree(coming)


def _names_on_the_way(source: Path, target: Path) -> tuple[Path, Path]:
    return target.with_name(f".{target.name}.recollect-tmp"), source.with_name(f".{source.name}.recollect-gone")


def link_or_copy(source: Path, target: Path) -> None:
    """A second name for a file that will be replaced (its bytes and times stay), or a copy where links cannot be."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        copy_tree(source, target)


def copy_tree(source: Path, target: Path) -> None:
    """A copy with times and modes, everything synced."""
    if source.is_symlink():
        os.symlink(os.readlink(source), target)
    elif source.is_dir():
        _copy_folder(source, target)
        for folder, _, _ in os.walk(target):
            sync_folder(Path(folder))
    else:
        _copy_file(str(source), str(target))


def _copy_folder(source: Path, target: Path) -> None:
    """What went wrong with a file of it comes out as it was; by itself `copytree` makes a list of words of it."""
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
    """Remove a file of our own that may be left of something; not synced, for nothing depends on it."""
    if os.path.lexists(path):  # a read-only disk refuses to remove even what is not there
        os.unlink(path)


def make_folder(path: Path, mode: int = 0o700) -> None:
    os.mkdir(path, mode)
    sync_folder(path.parent)


def make_folders(path: Path) -> None:
    """A folder of our own with those above it, each of them for nobody else (makedirs would open those above to all)."""
    missing: list[Path] = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        try:
            os.mkdir(folder, 0o700)
        except FileExistsError:  # somebody else just made it
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
    """A file of our own that counts something by its size, one byte longer; it takes no room."""
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
    """Make names in a folder last. Systems that cannot open folders need no such thing."""
    if os.name == "nt":
        return
    fd = os.open(path, os.O_RDONLY | _ALWAYS)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
