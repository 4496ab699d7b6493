"""Asking from the command line: the index is brought up to date with a progress bar, then the question is asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..index.sql.query import Answer
from ..library import questions
from .command_run import CommandRun
from .indexing_bar import indexing_bar


def ask(run: CommandRun, query: str, values: Mapping[str, Any] | None = None) -> Answer:
    """The answer. Ctrl-C ends the query with everything it does."""
    with indexing_bar("Reading") as progress:
        asked = questions.prepare(run.library, query, values or (), progress=progress)
    return questions.answer(run.library, asked)


def write_parquet(run: CommandRun, query: str, values: Mapping[str, Any], target: Path) -> Answer:
    with indexing_bar("Reading") as progress:
        return questions.write_parquet(run.library, query, target, values, progress=progress)
