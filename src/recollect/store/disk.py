"""Every system call that changes something on disk, in one place: short, checked, synced.

The rest of `store/` calls these functions and nothing else to write, so a test that makes the Nth of them fail has tried
every fault there is. A failed sync is an error like any other: nothing is reported as done after it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from ..errors import DamagedData, Refused, StoreBusy

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)


def explain(problem: OSError, path: Path | str) -> Exception:
    """An error of the system as one of ours, with what a person can do."""
    reason = problem.strerror or str(problem)
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return Refused(
            f"no room to write {path}: {reason}", hint="nothing was changed; make room and try again", slug="disk-full"
        )
    if problem.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return Refused(f"may not write {path}: {reason}", hint="nothing was changed", slug="read-only")
    if problem.errno == errno.ELOOP:
        return Refused(f"{path} is a link; links are not written through", slug="outside-home")
    if problem.errno in (errno.EAGAIN, errno.EBUSY):
        return StoreBusy(f"{path} is busy: {reason}")
    return DamagedData(f"cannot write {path}: {reason}", slug="write-failed")


def append_bytes(path: Path, data: bytes, *, create: bool = False, sync: bool = True) -> int:
    """Append in one write. Returns the size before. On any failure the file is cut back to it, if nobody else wrote since."""
    flags = os.O_RDWR | os.O_APPEND | _NOFOLLOW | _CLOEXEC | (os.O_CREAT | os.O_EXCL if create else 0)
    fd = os.open(path, flags, 0o600)
    try:
        before = os.fstat(fd).st_size
        written = 0
        try:
            written = os.write(fd, data)
            if written != len(data):
                raise OSError(errno.ENOSPC, "short write")
            if sync:
                os.fsync(fd)
        except OSError:
            with contextlib.suppress(OSError):
                if os.fstat(fd).st_size == before + written:
                    os.ftruncate(fd, before)
            raise
    finally:
        os.close(fd)
    if create and sync:
        sync_folder(path.parent)
    return before


def truncate(path: Path, size: int) -> None:
    fd = os.open(path, os.O_RDWR | _NOFOLLOW | _CLOEXEC)
    try:
        os.ftruncate(fd, size)
        os.fsync(fd)
    finally:
        os.close(fd)


def write_new(path: Path, chunks: Iterable[bytes], *, mode: int = 0o600) -> int:
    """A new file with these bytes, synced. It must not exist yet. Returns its size."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC, mode)
    size = 0
    try:
        for chunk in chunks:
            view = memoryview(chunk)
            while view:
                count = os.write(fd, view)
                if count == 0:
                    raise OSError(errno.ENOSPC, "short write")
                view = view[count:]
                size += count
        os.fsync(fd)
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
    """Rename to a name that does not exist. Across file systems: copy, sync, then remove."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "exists already", str(target))
    try:
        os.rename(source, target)
    except OSError as problem:
        if problem.errno != errno.EXDEV:
            raise
        copy_tree(source, target)
        remove_tree(source)
    sync_folder(target.parent)
    if source.parent != target.parent:
        sync_folder(source.parent)


def link_or_copy(source: Path, target: Path) -> None:
    """A second name for a file that will be replaced (its bytes and times stay), or a copy where links cannot be."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        copy_tree(source, target)


def copy_tree(source: Path, target: Path) -> None:
    """A copy with times and modes, every file synced."""
    if source.is_dir() and not source.is_symlink():
        shutil.copytree(source, target, symlinks=True, copy_function=_copy_file)
        shutil.copystat(source, target)
    elif source.is_symlink():
        os.symlink(os.readlink(source), target)
    else:
        _copy_file(str(source), str(target))


def _copy_file(source: str, target: str) -> str:
    shutil.copy2(source, target, follow_symlinks=False)
    fd = os.open(target, os.O_RDONLY | _CLOEXEC)
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


def remove_file(path: Path) -> None:
    os.unlink(path)
    sync_folder(path.parent)


def make_folder(path: Path, mode: int = 0o700) -> None:
    os.mkdir(path, mode)
    sync_folder(path.parent)


def remove_folder(path: Path) -> None:
    """Remove an empty folder."""
    os.rmdir(path)
    sync_folder(path.parent)


def set_times(path: Path, mtime_ns: int) -> None:
    """Set the modification time; the access time follows it."""
    os.utime(path, ns=(mtime_ns, mtime_ns), follow_symlinks=False)


def sync_folder(path: Path) -> None:
    """Make names in a folder last. Systems that cannot open folders need no such thing."""
    if os.name == "nt":
        return
    fd = os.open(path, os.O_RDONLY | _CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
