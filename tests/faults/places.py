"""Where the fault tests work: in memory where that is possible (a sync costs nothing there), else on the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

SOAK = os.environ.get("RECOLLECT_SOAK") == "1"
"""Read when the tests are collected: each test runs without any variable of ours."""
_MEMORY = Path("/dev/shm")


def memory_folder() -> Path | None:
    """A folder whose files are in memory; None where there is none."""
    return _MEMORY if _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) else None


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    memory = memory_folder()
    if memory is None:
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="recollect-faults-", dir=memory))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
