"""Run the tests of the rooms, for the minute between two edits: `make quick`. Everything else comes with `make test`."""

from __future__ import annotations

import sys
from typing import Final

ROOMS: Final = (
    "tests/format", "tests/graph", "tests/store", "tests/journal", "tests/check", "tests/watch", "tests/edit", "tests/vault",
    "tests/index", "tests/analysis", "tests/secrets", "tests/export", "tests/library", "tests/testing",
)  # fmt: skip
"""All rooms below the faces. On two idle cores they take about a minute; the goal is below 90 seconds."""

SLOW: Final = (
    "tests/edit/repair/test_healthy_sessions.py", "tests/edit/repair/test_repair_properties.py",
    "tests/edit/test_move_faults.py", "tests/index/test_index_processes.py", "tests/index/test_sql_answers.py",
    "tests/index/test_sql_locked.py", "tests/index/test_sql_tables.py", "tests/journal/test_steps_fail.py",
    "tests/library/test_own_list.py", "tests/vault/test_verify.py",
)  # fmt: skip
"""Files that start processes, break every step in turn, or try hundreds of examples: three seconds of work and more each."""


def main(arguments: list[str]) -> int:
    """Run the quick tests, or those that the arguments name."""
    import pytest

    marks = "not compat and not browser and not corpus"
    chosen = arguments or [*ROOMS, *(f"--ignore={path}" for path in SLOW)]
    return int(pytest.main(["-q", "-n", "auto", "-m", marks, *chosen]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
