"""Ask the system which paths changed (watchfiles), or only wait where the system cannot tell.

A hint may be missing or wrong: what is new is always looked up in the files themselves.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

_GROUP_MS: Final = 40
"""Milliseconds: changes that come this close together are reported together."""
_STEP_MS: Final = 15

#: File systems that report no change which another machine makes.
_REMOTE: Final = frozenset(
    {
        "9p", "afs", "ceph", "cifs", "davfs", "drvfs", "fuse.davfs2", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs",
        "fuse.sshfs", "fuse.vmhgfs-fuse", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "prl_fs", "smb3", "smbfs",
        "vboxsf", "virtiofs",
    }
)  # fmt: skip


class Hints(Protocol):
    """Reports paths that may have changed."""

    def wait(self, seconds: float) -> set[str]:
        """Return paths that changed, as soon as there are some; an empty set after `seconds`, or once stopped."""
        ...

    def close(self) -> None: ...


class NativeHints:
    """Reports what the system notices, with one watch for each folder. Raises OSError or RuntimeError where it cannot.

    Uses a private class of watchfiles, because the public `watch()` begins to watch only with its first wait and always
    waits equally long (decision 0028). A release without the class, or with another one, is an OSError too: the caller polls.
    """

    def __init__(self, roots: Sequence[str], stop: threading.Event) -> None:
        self._stop = stop
        try:
            from watchfiles._rust_notify import RustNotify

            self._notify: Any = RustNotify(list(roots), False, False, 1000, True, True)
        except (ImportError, TypeError) as problem:
            raise OSError(f"this release of watchfiles cannot be used: {problem}") from problem
        if "PollWatcher" in repr(self._notify):  # it would go through all files, again and again
            self.close()
            raise OSError("the system reports no changes")

    def wait(self, seconds: float) -> set[str]:
        timeout = max(int(seconds * 1000), 1)
        try:
            changes = self._notify.watch(_GROUP_MS, min(_STEP_MS, timeout), timeout, self._stop)
        except (AttributeError, TypeError) as problem:
            raise OSError(f"this release of watchfiles cannot be used: {problem}") from problem
        if changes == "signal":
            raise KeyboardInterrupt
        return set() if isinstance(changes, str) else {path for _, path in changes}

    def close(self) -> None:
        with contextlib.suppress(RuntimeError, AttributeError):
            self._notify.close()


class NoHints:
    """Reports nothing and lets the time pass: the caller looks at the files in turn."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def wait(self, seconds: float) -> set[str]:
        self._stop.wait(seconds)
        return set()

    def close(self) -> None:
        return


def remote_kind(path: str) -> str | None:
    """Return the kind of network or shared file system that a path lies on; None for a disk of this machine."""
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
        parts, mounted = fields.split(" "), rest.split(" ")[0]
        if len(parts) < 5 or not mounted:
            continue
        point = parts[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        is_above = path == point or path.startswith(point.rstrip("/") + "/")
        if is_above and len(point) >= len(best):
            best, kind = point, mounted
    return kind if kind in _REMOTE else None
