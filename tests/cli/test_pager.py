"""`recollect show` on a terminal: through a pager, with colours where the pager shows them as colours."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from recollect.cli.commands.show import passes_colors
from recollect.testing import HomeBuilder

S = "aaaa0000-0000-4000-8000-000000000001"
BOLD = "\x1b[1m"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude", version="2.1.325")
    session = builder.session("/w/app", session_id=S)
    session.user("where is the needle")
    session.assistant("in the haystack")
    return builder.write()


def on_terminal(home: Path, columns: int = 100, keys: bytes = b"q", rows: int = 40, **environment: str) -> str:
    """What `show` brings onto a terminal, to which the keys are then pressed."""
    env = {name: value for name, value in os.environ.items() if name not in ("LESS", "PAGER", "NO_COLOR", "LESSOPEN")}
    env |= {"TERM": "xterm-256color", "LANG": "C.UTF-8", **environment}
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    command = [sys.executable, "-m", "recollect", "--home", str(home), "show", S]
    process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=env, start_new_session=True)
    os.close(other)
    seen = b""
    while True:
        ready, _, _ = select.select([main], [], [], 20)
        assert ready, f"it hangs: {seen!r}"
        try:
            part = os.read(main, 65536)
        except OSError:  # the other end was closed
            break
        if not part:
            break
        seen += part
        if b"haystack" in seen and keys:
            os.write(main, keys)
            keys = b""
    os.close(main)
    assert process.wait(20) == 0, seen
    return seen.decode()


needs_less = pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")


@needs_less
@pytest.mark.parametrize(
    ("environment", "colored"),
    [
        ({}, True),
        ({"LESS": "-i"}, False),
        ({"LESS": "-iR"}, True),
        ({"LESS": "iRFX"}, True),
        ({"LESS": ""}, False),
        ({"LESS": "-i", "PAGER": "less -R"}, True),
        ({"PAGER": "less -FX"}, True),  # LESS=FRX is set beside
        ({"RECOLLECT_PAGER": "less -X", "PAGER": "false", "LESS": "-F"}, False),
        ({"RECOLLECT_PAGER": "cat"}, True),
        ({"PAGER": ""}, True),
        ({"PAGER": "no-such-pager --x"}, True),
        ({"PAGER": "tr a-z A-Z | cat"}, None),
        ({"NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_colours_are_seen_as_colours(home: Path, environment: dict[str, str], colored: bool | None) -> None:
    seen = on_terminal(home, **environment)  # type: ignore[arg-type]
    assert "ESC[" not in seen
    if colored is None:
        assert "HAYSTACK" in seen
    else:
        assert "in the haystack" in seen
        shown = seen.split("haystack")[0]
        assert any(f"\x1b[{code}m" in shown for code in ("36", "35", "35;1", "36;1", "1")) == colored


@needs_less
def test_what_fits_on_the_screen_is_printed_and_ends(home: Path) -> None:
    assert "in the haystack" in on_terminal(home, keys=b"")


@needs_less
def test_what_does_not_fit_waits_for_the_reader(home: Path) -> None:
    assert "in the haystack" in on_terminal(home, rows=10, keys=b"q", LESS="-R")


@pytest.mark.parametrize(
    ("command", "less", "passes"),
    [
        ("less", "FRX", True),
        ("less", "-i", False),
        ("less", "-PRight", False),
        ("less", "--RAW-CONTROL-CHARS", True),
        ("less", "-i --raw-control-chars -S", True),
        ("less", "--quit-if-one-screen", False),
        ("/usr/bin/less -r", "", True),
        ("less -+R", "FRX", False),
        ("less '", "", True),
        ("bat", "-i", True),
    ],
)
def test_whether_a_pager_passes_colours(command: str, less: str, passes: bool) -> None:
    assert passes_colors(command, less) is passes
