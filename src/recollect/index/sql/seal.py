"""Forbid a Linux process to open anything more, by a seccomp filter, once it has opened what it needs.

The filter refuses, whatever code runs: opening, creating, removing and renaming files, sockets, starting programs, access
to other processes. DuckDB's own settings forbid all this already; the filter holds even if one of them is bypassed. If the
system has no such filter, or forbids it, `seal` returns False and only the settings protect.
"""

from __future__ import annotations

import platform
import struct
import sys
from typing import Final

_DENY: Final = 0x00050000 | 1  # SECCOMP_RET_ERRNO with EPERM
_ALLOW: Final = 0x7FFF0000
_LOAD, _EQUALS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06

#: System calls that are refused: name -> number on x86_64 and on aarch64 (None: no such call there).
_REFUSED: Final[dict[str, tuple[int | None, int | None]]] = {
    "open": (2, None), "creat": (85, None), "openat": (257, 56), "openat2": (437, 437), "open_by_handle_at": (304, 265),
    "socket": (41, 198), "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "accept": (43, 202),
    "accept4": (288, 242), "sendto": (44, 206), "sendmsg": (46, 211), "sendmmsg": (307, 269),
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, None), "vfork": (58, None),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kill": (62, 129),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "unlink": (87, None), "unlinkat": (263, 35), "rename": (82, None), "renameat": (264, 38), "renameat2": (316, 276),
    "mkdir": (83, None), "mkdirat": (258, 34), "rmdir": (84, None), "link": (86, None), "linkat": (265, 37),
    "symlink": (88, None), "symlinkat": (266, 36), "mknod": (133, None), "mknodat": (259, 33),
    "truncate": (76, 45), "ftruncate": (77, 46), "fallocate": (285, 47),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54),
    "mount": (165, 40), "chdir": (80, 49), "chroot": (161, 51), "getdents": (78, None), "getdents64": (217, 61),
    "readlink": (89, None), "readlinkat": (267, 78), "access": (21, None), "faccessat": (269, 48),
    "faccessat2": (439, 439), "stat": (4, None), "lstat": (6, None), "statx": (332, 291),
    "inotify_add_watch": (254, 27), "setxattr": (188, 5), "io_uring_setup": (425, 425), "memfd_create": (319, 279),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "keyctl": (250, 219),
}  # fmt: skip
#: machine -> (its number for auditing, its column in `_REFUSED`, number of the system call `seccomp`)
_MACHINES: Final = {"x86_64": (0xC000003E, 0, 317), "aarch64": (0xC00000B7, 1, 277)}


def refused_calls(machine: str) -> list[int]:
    column = _MACHINES[machine][1]
    return sorted(number for numbers in _REFUSED.values() if (number := numbers[column]) is not None)


def program(machine: str) -> bytes:
    """Build the filter program: refuse the listed system calls and those of another architecture, allow the rest."""
    calls = refused_calls(machine)
    steps: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, 4),
        (_EQUALS, 1, 0, _MACHINES[machine][0]),
        (_RETURN, 0, 0, _DENY),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, len(calls) + 1, 0, 0x40000000),  # the x32 ABI has a second number for every call
    ]
    steps += [(_EQUALS, len(calls) - place, 0, number) for place, number in enumerate(calls)]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _DENY)]
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def seal() -> bool:
    """Install the filter for all threads, permanently. Return False if the system does not allow that."""
    machine = platform.machine()
    if sys.platform != "linux" or machine not in _MACHINES or struct.calcsize("P") != 8:
        return False
    import ctypes

    steps = program(machine)
    buffer = ctypes.create_string_buffer(steps, len(steps))
    filter_program = struct.pack("<HxxxxxxQ", len(steps) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0:  # PR_SET_NO_NEW_PRIVS, without which only root may set a filter
        return False
    set_mode_filter, for_all_threads = 1, 1
    return bool(libc.syscall(_MACHINES[machine][2], set_mode_filter, for_all_threads, filter_program) == 0)
