"""The system's calls as `journal/disk.py` and `journal/locks.py` see them, failing or dying at the Nth that changes something."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import signal
import unittest.mock
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recollect.journal import disk
from recollect.journal import locks as presence

_OS_CALLS = (
    "open", "write", "fsync", "ftruncate", "utime", "replace", "rename", "link", "unlink", "symlink", "mkdir",
    "makedirs", "rmdir",
)  # fmt: skip
_SHUTIL_CALLS = ("copy2", "copytree", "rmtree")
_LOCK_CALLS = ("flock",)
_NEEDS_ROOM = frozenset({"open", "write", "link", "symlink", "mkdir", "makedirs", "copy2", "copytree"})


@dataclass
class Fault:
    """What goes wrong at call `at` (counted from 1), and whether from then on everything does."""

    at: int
    kind: str
    """The name of an error number, or `short` (a short write, else ENOSPC), or `die`, `die half way`, `die after`, or
    `signal`, `signal after`: what Python raises for a signal comes before or after the call."""
    lasting: bool = False
    apart: tuple[Path, Path] | None = None
    """Two folders between which nothing can be renamed or linked, as if they were on two disks."""
    calls: int = 0
    hit: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    """The names of all calls, whether they failed or not."""

    def call(self, name: str, real: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        if name == "flock" and arguments[1] & fcntl.LOCK_UN:
            return real(*arguments, **options)  # to let go of a lock cannot fail
        if self.apart is not None and name in ("rename", "replace", "link") and self._crosses(*arguments[:2]):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        self.calls += 1
        self.seen.append(name)
        if self.calls != self.at and not (self.lasting and self.calls > self.at and self._strikes(name, arguments)):
            return real(*arguments, **options)
        self.hit.append(name)
        if self.kind.startswith("die"):
            self._die(name, real, *arguments, **options)
        if self.kind.startswith("signal"):
            if self.kind == "signal after" and name != "open":  # this process goes on, with what was opened
                real(*arguments, **options)
            raise KeyboardInterrupt
        if self.kind == "short" and name == "write" and len(arguments[1]) > 1:
            return real(arguments[0], arguments[1][: len(arguments[1]) // 2])
        number = getattr(errno, "ENOSPC" if self.kind == "short" else self.kind)
        raise OSError(number, os.strerror(number))

    def _crosses(self, source: Path, target: Path) -> bool:
        assert self.apart is not None
        inside = [[Path(path).is_relative_to(folder) for folder in self.apart] for path in (source, target)]
        return inside[0] != inside[1]

    def _strikes(self, name: str, arguments: tuple[Any, ...]) -> bool:
        """A full disk still permits what needs no room."""
        if self.kind not in ("ENOSPC", "short"):
            return True
        return name in _NEEDS_ROOM and not (name == "open" and not arguments[1] & os.O_CREAT)

    def _die(self, name: str, real: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        try:
            if self.kind == "die half way" and name == "write":
                real(arguments[0], arguments[1][: len(arguments[1]) // 2])
            elif self.kind == "die after":
                real(*arguments, **options)
        finally:
            os.kill(os.getpid(), signal.SIGKILL)


class _Watched:
    """A module of which some functions go through the fault."""

    def __init__(self, module: Any, names: tuple[str, ...], fault: Fault) -> None:
        self._module = module
        for name in names:
            real = getattr(module, name)
            setattr(self, name, lambda *a, _name=name, _real=real, **o: fault.call(_name, _real, *a, **o))

    def __getattr__(self, name: str) -> Any:
        if name == "supports_fd":  # holds the real functions
            return {getattr(self, "utime")} | os.supports_fd  # noqa: B009
        return getattr(self._module, name)


@contextlib.contextmanager
def faulty_disk(fault: Fault) -> Iterator[Fault]:
    with (
        unittest.mock.patch.object(disk, "os", _Watched(os, _OS_CALLS, fault)),
        unittest.mock.patch.object(disk, "shutil", _Watched(shutil, _SHUTIL_CALLS, fault)),
        unittest.mock.patch.object(presence, "os", _Watched(os, ("open",), fault)),
        unittest.mock.patch.object(presence, "fcntl", _Watched(fcntl, _LOCK_CALLS, fault)),
    ):
        yield fault
