"""Seal a program off from every network but loopback, and give it a clean environment.

``isolate()`` starts the calling program again inside a network namespace of its own. Where the machine does not
permit that it says so and goes on: the client still talks to the fake API on loopback with a dummy key, but nothing
enforces it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path

from tests.compat import clients

DUMMY_KEY = "sk-ant-api03-dummy-key-for-tests-00000000000000000000"
MARK = "RECOLLECT_COMPAT_SEALED"


def isolate() -> None:
    """Run this program again with nothing but loopback. Returns once that is so (or is not possible here)."""
    if os.environ.get(MARK) == "yes":
        loopback_up()
    if MARK in os.environ:
        return
    wrapper = ["unshare", "-n" if os.geteuid() == 0 else "-rn", "--"]
    if shutil.which("unshare") and subprocess.run([*wrapper, "true"], capture_output=True).returncode == 0:
        os.execvpe(wrapper[0], [*wrapper, sys.executable, *sys.orig_argv[1:]], dict(os.environ, **{MARK: "yes"}))
    print("warning: no network namespace here (unshare is missing or not permitted); going on without", file=sys.stderr)
    os.environ[MARK] = "no"


def sealed_environment() -> dict[str, str]:
    """The environment in which to start a program that seals itself off; it finds the clients where we do."""
    kept = {key: value for key, value in os.environ.items() if key != MARK}
    return {**kept, clients.CACHE_VARIABLE: str(clients.CACHE)}


def loopback_up() -> None:
    """``ip link set lo up`` without ip(8)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sh14x", b"lo", 0x1 | 0x40)  # IFF_UP | IFF_RUNNING
        fcntl.ioctl(sock, 0x8914, request)  # SIOCSIFFLAGS


def client_environment(home: Path, config_dir: Path | None, api_url: str) -> dict[str, str]:
    """Nothing inherited but PATH, so that no CLAUDE* or ANTHROPIC* variable of the machine reaches the client."""
    scratch = home.parent / "tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    environment = {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "SHELL": "/bin/bash",
        "TZ": "UTC",
        "TMPDIR": str(scratch),
        "ANTHROPIC_API_KEY": DUMMY_KEY,
        "ANTHROPIC_BASE_URL": api_url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_BUG_COMMAND": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "GIT_AUTHOR_NAME": "t",
        "GIT_AUTHOR_EMAIL": "t@example.invalid",
        "GIT_COMMITTER_NAME": "t",
        "GIT_COMMITTER_EMAIL": "t@example.invalid",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
    }
    if config_dir is not None:
        environment["CLAUDE_CONFIG_DIR"] = str(config_dir)
    return environment
