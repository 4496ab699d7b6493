"""Where something changed, as the system tells it (watchfiles); or nothing but the time that passes, where it cannot.

These are hints only: some may be missing or wrong. What is there is always looked up in the files themselves.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

_GROUP_MS: Final = 40
"""Changes that come this close together are told together."""
_STEP_MS: Final = 15

#: File systems that do not tell of changes which another machine makes.
_REMOTE: Final = frozenset(
    {
        "9p", "afs", "ceph", "cifs", "davfs", "drvfs", "fuse.davfs2", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs",
        "fuse.sshfs", "fuse.vmhgfs-fuse", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "prl_fs", "smb3", "smbfs",
        "vboxsf", "virtiofs",
    }
)  # fmt: skip


class Hints(Protocol):
    def wait(self, seconds: float) -> set[str]:
        """Paths that changed, as soon as there are some; none after so many seconds, or when it was stopped."""
        ...

    def close(self) -> None: ...


class NativeHints:
    """Told by the system: one watch a folder. Raises OSError or RuntimeError where that cannot be had."""

    def __init__(self, roots: Sequence[str], stop: threading.Event) -> None:
        from watchfiles._rust_notify import RustNotify

        self._stop = stop
        self._notify: Any = RustNotify(list(roots), False, False, 1000, True, True)
        if "PollWatcher" in repr(self._notify):  # it would go through all files, again and again
            self.close()
            raise OSError("the system does not tell of changes")

    def wait(self, seconds: float) -> set[str]:
        timeout = max(int(seconds * 1000), 1)
        changes = self._notify.watch(_GROUP_MS, min(_STEP_MS, timeout), timeout, self._stop)
        if changes == "signal":
            raise KeyboardInterrupt
        return set() if isinstance(changes, str) else {path for _, path in changes}

    def close(self) -> None:
        with contextlib.suppress(RuntimeError):
            self._notify.close()


class NoHints:
    """Nobody tells: the files are looked at in turn."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def wait(self, seconds: float) -> set[str]:
        self._stop.wait(seconds)
        return set()

    def close(self) -> None:
        return


def remote_kind(path: str) -> str | None:
    """The kind of network or shared file system that a path lies on; None for a disk of this machine."""
    if os.name == "nt":
        return "network share" if os.path.realpath(path).startswith("\\\\") else None
    try:
        table = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    return _remote_kind(os.path.realpath(path), table)


def _remote_kind(path: str, mounts: str) -> str | None:
    best, kind = "", ""
    for line in mounts.splitlines():
        fields, _, rest = line.partition(" - ")
        parts, found = fields.split(" "), rest.split(" ")[0]
        if len(parts) < 5 or not found:
            continue
        point = parts[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        is_above = path == point or path.startswith(point.rstrip("/") + "/")
        if is_above and len(point) >= len(best):
            best, kind = point, found
    return kind if kind in _REMOTE else None
