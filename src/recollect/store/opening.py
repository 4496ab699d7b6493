"""Open a file of a home for reading, but no secret, no pipe or device, and nothing outside of the home.

People keep their history on a second disk or under a dotfile manager, and Claude Code follows such links: `projects/` or
another folder of the home, a project folder, a transcript. Recollect follows these links of the store too, once, and treats
their targets as part of the home. Every other link must end inside the home: a transcript, or any other file in a home,
cannot make Recollect read or write elsewhere. The check is made on the opened file itself (where the system reports its
path), so swapping a folder for a link between check and open gains nothing.

Imports little, for commands that must start fast; `home` builds on it.
"""

from __future__ import annotations

import errno
import os
import stat

from ..errors import DamagedData, NotFound, Refused

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Final

FileStamp = tuple[int, int, int, int]
"""Size, mtime_ns, ctime_ns and inode of a file. While they are equal, so are its bytes.

ctime also shows writes that restore a file's mtime, as those of titles do. The device is not part of a stamp: some
systems number their devices anew at each start.
"""


def file_stamp(info: os.stat_result) -> FileStamp:
    """Return the stamp of a file from its `stat` result.

    One rule for index, vault and SQL. The journal's `stamp.Stamp` answers another question, whether the bytes of a file
    were rewritten: it is stored with the changes, and has to stay valid after a rename or a new hard
    link, which give a file another ctime.
    """
    return info.st_size, info.st_mtime_ns, info.st_ctime_ns, signed(info.st_ino)


def signed(number: int) -> int:
    """Return an inode or device number as SQLite's signed 64-bit integer; some file systems use all 64 bits."""
    return number if number < 1 << 63 else number - (1 << 64)


def is_secret_file_name(name: str) -> bool:
    """Return whether a file of this name (without its folder) holds tokens or keys: it is never opened, copied or shown."""
    lowered = name.lower()
    return lowered.endswith((".key", ".pem")) or lowered.startswith(".credentials")


#: Folders of a home that may be links out of it.
STORE_FOLDERS: Final = (
    "projects", "todos", "tasks", "plans", "file-history", "paste-cache", "image-cache", "uploads", "debug",
    "dump-prompts", "usage-data", "agent-memory", "agent-memory-local", "agent-memory-project",
)  # fmt: skip


def is_below(root: str, real: str) -> bool:
    """Return whether a path without links is the folder `root` or lies in it."""
    return real == root or real.startswith(root.rstrip(os.sep) + os.sep)


def is_store_place(parts: Sequence[str]) -> bool:
    """Return whether a link at this path below a home is a link of the store."""
    if not parts or ".." in parts or parts[0] not in STORE_FOLDERS:
        return False
    if len(parts) == 1:
        return True
    return parts[0] == "projects" and (len(parts) == 2 or (len(parts) == 3 and parts[2].endswith(".jsonl")))


def parts_below(root: str, path: str) -> tuple[str, ...] | None:
    """Return the parts of a path below `root`: empty for `root` itself, None for a path outside."""
    if os.altsep:
        path = path.replace(os.altsep, os.sep)
    if path == root:
        return ()
    start = root.rstrip(os.sep) + os.sep
    return tuple(path[len(start) :].split(os.sep)) if path.startswith(start) else None


def why_not_followed(root: str, path: str) -> str | None:
    """Return why a link of the store of the home `root` is not followed; None if it is followed."""
    try:
        real = os.path.realpath(path, strict=True)
        mode = os.stat(real).st_mode
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            return "a link that leads in a circle"
        return "a link that leads to nothing" if problem.errno == errno.ENOENT else problem.strerror or "cannot be read"
    real_root = os.path.realpath(root)
    if is_below(real, os.path.realpath(os.path.dirname(path))) or is_below(real, real_root):
        return "a link that leads in a circle"
    if not path.endswith(".jsonl"):
        return None if stat.S_ISDIR(mode) else "a link to something that is not a folder"
    if not stat.S_ISREG(mode):
        return "a link to something that is not a regular file"
    if not is_below(real_root, real) and not real.endswith(".jsonl"):
        return "a link out of the home to a file that is not named .jsonl"
    return None


def is_part_of(root: str, path: str, real: str) -> bool:
    """Return whether a path that ends outside of the home `root`, at `real`, belongs to it by a link of the store."""
    parts = parts_below(root, path) or ()
    for count in range(1, min(len(parts), 3) + 1):
        if is_store_place(parts[:count]):
            target = _target(root, os.path.join(root, *parts[:count]))
            if target is not None and is_below(target, real):
                return True
    return any(is_below(target, real) for target in _folders_elsewhere(root))


def _target(root: str, path: str) -> str | None:
    return os.path.realpath(path) if os.path.islink(path) and why_not_followed(root, path) is None else None


def _folders_elsewhere(root: str) -> Iterator[str]:
    """Return the targets of all links of the store to folders."""
    places = [os.path.join(root, name) for name in STORE_FOLDERS]
    try:
        with os.scandir(places[0]) as entries:
            places += [entry.path for entry in entries if entry.is_symlink()]
    except OSError:
        pass
    for place in places:
        target = _target(root, place)
        if target is not None:
            yield target


_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


def is_secret(path: str | os.PathLike[str]) -> bool:
    """Return whether the file at this path holds tokens or keys, by its name. Such a file is never opened or shown."""
    return is_secret_file_name(os.path.basename(path))


def open_below(root: str, path: str) -> int:
    """Open a regular file of the home `root` (a path without links) and return its descriptor.

    Raises Refused, NotFound or DamagedData (unreadable).
    """
    descriptor, real = open_regular(root, path, root)
    if not is_below(root, real) and not is_part_of(root, path, real):
        os.close(descriptor)
        raise Refused(f"{path} leads out of {root}", slug="outside-home")
    return descriptor


def open_regular(root: str, path: str, shown: str) -> tuple[int, str]:
    """Open a regular file that is not a secret, and return its descriptor and its real path.

    A link must lead below `root`, or be a link of the store of the home (`shown` is the home's path as given).
    """
    if is_secret(path):
        raise Refused(f"{os.path.basename(path)} holds secrets and is never read", slug="secret")
    if "\x00" in path:
        raise Refused("a path with a NUL byte", slug="outside-home")
    try:
        descriptor = _open(root, path, shown)
    except FileNotFoundError as problem:
        raise NotFound(f"no such file: {path}", slug="no-such-file") from problem
    except OSError as problem:
        raise DamagedData(f"cannot read {path}: {problem.strerror or problem}", slug="unreadable-file") from problem
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Refused(f"{path} is not a regular file", slug="not-a-file")
        real = _real_path(descriptor, path)
        if is_secret(real):  # a link with a harmless name
            raise Refused(f"{path} leads to secrets, which are never read", slug="secret")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, real


def _open(root: str, path: str, shown: str) -> int:
    try:
        return os.open(path, _FLAGS | _NOFOLLOW)
    except OSError as problem:
        if problem.errno not in (errno.ELOOP, errno.EMLINK):
            raise
    real = os.path.realpath(path)
    if not is_below(root, real) and not is_part_of(shown, path, real):
        raise Refused(f"{path} is a link that leads out of {shown}", slug="outside-home")
    return os.open(real, _FLAGS | _NOFOLLOW)


def _real_path(descriptor: int, path: str) -> str:
    """Return the real path of an open file, from the system if it reports one, else by resolving `path`."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return os.path.realpath(path)
