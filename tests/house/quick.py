"""The tests of the rooms alone, for the minute between two edits: `make quick`. Everything else comes with `make test`."""

from __future__ import annotations

import sys
from typing import Final

ROOMS: Final = ("tests/format", "tests/graph", "tests/vault", "tests/analysis", "tests/testing")
"""Rooms whose tests start no process, open no browser and wait for nothing."""


def main(arguments: list[str]) -> int:
    import pytest

    marks = "not compat and not browser and not corpus"
    return int(pytest.main(["-q", "-n", "auto", "-m", marks, *(arguments or ROOMS)]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
