"""Samples of the command line in the documentation: run against the demo home, compared, or written anew.

    python -m tests.house.console_samples            names the pages whose samples are out of date
    python -m tests.house.console_samples --write    rewrites their output

A sample is a ``console`` block: a line that begins with ``$ recollect``, then what it prints (stdout and stderr as on a
terminal without colours), until the next such line. ``| head -N`` or ``| tail -N`` may follow a command. The home is the
demo home of a fixed day, at ``/home/ada/.claude``, in UTC.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from recollect.cli.main import main
from recollect.testing.demo import DEMO_NOW, build_demo_home
from recollect.testing.identifiers import parse_time

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_CUT = re.compile(r"\s\|\s+(?P<end>head|tail)\s+-(?P<count>\d+)\s*$")


def build_ada(root: Path) -> None:
    """A demo home at ``/home/ada/.claude`` below `root`, which stands for the root of her machine."""
    home = root / "home" / "ada" / ".claude"
    build_demo_home(home)
    _forget(root)
    for folder in (home, home / "projects"):
        folder.chmod(0o700)  # whatever the umask is: `doctor` speaks of it


@contextlib.contextmanager
def as_ada(root: Path) -> Iterator[None]:
    """The environment of her machine."""
    user = str(root / "home" / "ada")
    names = [name for name in os.environ if name.startswith(("CLAUDE", "RECOLLECT_", "XDG_"))]
    with patch.dict(os.environ, {"HOME": user, "USERPROFILE": user, "TZ": "UTC"}):
        for name in names:
            del os.environ[name]
        time.tzset()
        yield
    time.tzset()


def _forget(root: Path) -> None:
    """Take the temporary folder out of the paths that the home's files name, so that sizes do not depend on it."""
    for path in root.rglob("*"):
        if path.is_file() and str(root).encode() in (data := path.read_bytes()):
            times = path.stat()
            path.write_bytes(data.replace(str(root).encode(), b""))
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def run(command: str, root: Path) -> str:
    """What a command of a sample prints."""
    cut = _CUT.search(command)
    words = shlex.split(_CUT.sub("", command))
    if words[0] != "recollect":
        raise ValueError(f"a console sample runs recollect and nothing else: {command}")
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    now = SimpleNamespace(time=lambda: parse_time(DEMO_NOW).timestamp())
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
        patch("recollect.cli.commands.overview.time", now),
    ):
        code = main(words[1:])
    out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    if code == 70:
        raise RuntimeError(f"{command}: {out.buffer.getvalue().decode()}")
    lines = [line.rstrip() for line in out.buffer.getvalue().decode().replace(str(root), "").splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    if cut is not None:
        lines = lines[: int(cut["count"])] if cut["end"] == "head" else lines[-int(cut["count"]) :]
    return "".join(f"{line}\n" for line in lines)


def renewed(text: str, root: Path) -> str:
    """A page with the output of its samples as it is now. Each begins anew: nothing is kept or indexed yet."""
    for own in (".local", ".cache", ".config"):
        shutil.rmtree(root / "home" / "ada" / own, ignore_errors=True)

    def renew(block: re.Match[str]) -> str:
        commands = [line for line in block[0].splitlines() if line.startswith("$ ")]
        return "\n".join(f"{command}\n{run(command[2:], root)}" for command in commands)

    return _BLOCK.sub(renew, text)


def has_samples(page: Path) -> bool:
    return _BLOCK.search(page.read_text("utf-8")) is not None


def renew_all(*, write: bool) -> int:
    old = 0
    with tempfile.TemporaryDirectory() as folder, as_ada(root := Path(folder).resolve()):
        build_ada(root)
        for page in filter(has_samples, PAGES):
            text = page.read_text("utf-8")
            new = renewed(text, root)
            if new == text:
                continue
            old += 1
            print(f"{'wrote' if write else 'out of date:'} {page.relative_to(REPOSITORY)}")
            if write:
                page.write_text(new, "utf-8", newline="\n")
    return 0 if write else min(old, 1)


if __name__ == "__main__":
    sys.exit(renew_all(write="--write" in sys.argv[1:]))
