"""Identify this machine, by the id that the system got when it was installed. Only a hash of that id is stored."""

from __future__ import annotations

import functools
import hashlib
import platform
import sys
from pathlib import Path
from typing import Final

_ID_FILES: Final = ("/etc/machine-id", "/var/lib/dbus/machine-id")


@functools.cache
def machine_id() -> str | None:
    """Return a hash of the system's own id; None if the system has none (most containers)."""
    told = _system_id()
    return None if not told else hashlib.sha256(f"recollect {told}".encode()).hexdigest()[:32]


def machine_name() -> str:
    """Return the host name, for messages."""
    return platform.node() or "a machine without a name"


def _system_id() -> str | None:
    try:
        if sys.platform == "darwin":
            return _mac_id()
        if sys.platform == "win32":
            import winreg

            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Microsoft\Cryptography") as key:
                return str(winreg.QueryValueEx(key, "MachineGuid")[0])
        for name in _ID_FILES:
            path = Path(name)
            if path.is_file() and (told := path.read_text("ascii").strip()):
                return told
    except (OSError, ValueError):
        pass
    return None


def _mac_id() -> str | None:
    import ctypes

    found = (ctypes.c_ubyte * 16)()
    wait = (ctypes.c_long * 2)(1, 0)
    library = ctypes.CDLL(None)
    return bytes(found).hex() if library.gethostuuid(found, wait) == 0 else None
