"""Running commands in the tests: in this process, with what they print."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recollect.cli.main import main


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


def run(capsys: pytest.CaptureFixture[str], home: Path | None, *arguments: str) -> Ran:
    capsys.readouterr()
    named = [] if home is None else ["--home", str(home)]
    code = main([*named, *arguments])
    seen = capsys.readouterr()
    return Ran(code, seen.out, seen.err)


def tree_state(root: Path) -> dict[str, tuple[str, int, int]]:
    """Every file below a folder: its bytes (hashed), mode and modification time. Links are not followed."""
    found: dict[str, tuple[str, int, int]] = {}
    for folder, _, names in os.walk(root):
        for name in [*names, "."]:
            path = Path(folder) / name
            info = path.lstat()
            if path.is_symlink():
                content = os.readlink(path)
            elif path.is_file():
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            else:
                content = ""
            found[str(path.relative_to(root))] = (content, info.st_mode, info.st_mtime_ns)
    return found
