"""Decide for every session of a list where its number of messages comes from: its file, the index, or nowhere yet."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..store.scan import SessionFile
from ..store.summary import SessionSummary, summarise

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import SessionCount

COUNT_BUDGET: Final = 64 << 20
"""A list reads whole files to count their lines and messages only if they are smaller than this in total."""


class MessageCounts:
    """Decides where the counts of one list come from.

    Small stores are read. For larger ones the index has the counts; files that changed since they were indexed are read if
    they are small in total. `count` true reads everything, `count` false counts nothing.
    """

    def __init__(self, files: Collection[SessionFile], index: Path | None, count: bool | None = None) -> None:
        self._known: dict[str, SessionCount] = {}
        self._reads = bool(count)
        if count is not None:
            return
        self._reads = _size(files) <= COUNT_BUDGET
        if not self._reads and index is not None:
            from ..index.catalogue.catalogue import session_counts

            self._known = session_counts(index)
            self._reads = _size([file for file in files if self._from_index(file) is None]) <= COUNT_BUDGET

    def source(self, file: SessionFile) -> str | None:
        """Return where the counts of this session come from: `index`, `file`, or None."""
        if self._from_index(file) is not None:
            return "index"
        return "file" if self._reads else None

    def summarise(self, file: SessionFile) -> SessionSummary:
        """Summarise a session for a list, with its counts as far as they are available."""
        known = self._from_index(file)
        summary = summarise(file, count=known is None and self._reads)
        if known is not None:
            summary.lines, summary.messages = known.lines, known.messages
            if not summary.sidechain_only:
                summary.subagents = max(summary.subagents, known.subagents)
        return summary

    def _from_index(self, file: SessionFile) -> SessionCount | None:
        known = self._known.get(str(file.path)) if file.source is None else None
        return known if known is not None and (known.size, known.ctime_ns) == (file.size, file.ctime_ns) else None


def _size(files: Collection[SessionFile]) -> int:
    return sum(file.size for file in files)
