"""Bring the index up to date: read only what changed since the last sync, in one process at a time.

    report = bring_up_to_date(catalogue, homes, ("entries", "words"))

If nothing changed, no lock is taken, no file is opened, and `report.lines` is 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from ...store.home import Home
from ..words.word_index import words_are_behind
from .catalogue import LOCK_SECONDS, Catalogue, is_damage
from .change_check import statuses_are_current
from .left_out import LeftOut
from .tracking import FileChange, changed, changed_among, look_at

if TYPE_CHECKING:
    from ..api_calls.store import Pricing

STAGES: Final = ("calls", "entries", "words")


@dataclass(slots=True)
class SyncReport:
    """What a sync did."""

    files: int = 0
    """Files that were read."""
    gone: int = 0
    lines: int = 0
    """Lines that were parsed."""
    bytes: int = 0
    entries: int = 0
    documents: int = 0
    """Entries whose words were added to the word index."""
    threaded: int = 0
    """Sessions whose statuses were renewed."""
    unreadable: list[str] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=LeftOut)
    """Rows that could not be indexed."""
    seconds: float = 0.0


Progress = Callable[[int, int], None]
"""Called now and then with the bytes read so far and the total."""


def bring_up_to_date(
    catalogue: Catalogue,
    homes: Sequence[Home],
    stages: Collection[str] = ("entries", "words"),
    *,
    statuses: bool = False,
    progress: Progress | None = None,
    lock_seconds: float = LOCK_SECONDS,
    only: Mapping[str, Sequence[str]] | None = None,
    pricing: Pricing | None = None,
) -> SyncReport:
    """Index what changed in these homes. A damaged catalogue is deleted and rebuilt.

    With `statuses`, the statuses of sessions that grew are renewed as well. `only` names the files that changed, by home
    (links resolved) and path below it, if the caller is sure that nothing else changed: then no folder is listed. The
    stage "calls" needs `pricing`.
    """
    try:
        return _bring_up_to_date(catalogue, homes, stages, statuses, progress, lock_seconds, only, pricing)
    except BaseException as problem:
        if not is_damage(problem):
            raise
        catalogue.make_anew(problem)
        return _bring_up_to_date(catalogue, homes, stages, statuses, progress, lock_seconds, None, pricing)


def _bring_up_to_date(
    catalogue: Catalogue,
    homes: Sequence[Home],
    stages: Collection[str],
    statuses: bool,
    progress: Progress | None,
    lock_seconds: float,
    only: Mapping[str, Sequence[str]] | None,
    pricing: Pricing | None,
) -> SyncReport:
    begun = time.monotonic()
    report = SyncReport()
    with_words = "words" in stages
    reading = [name for name in ("entries", "calls") if name in stages or (name == "entries" and with_words)]
    state = _state(catalogue)
    seen = None
    changes: list[FileChange] = []
    if only is not None and "calls" not in reading:
        changes = [
            change for home in homes for change in changed_among(catalogue, home, "entries", only[home.real_root])
        ]
    else:
        seen = look_at(homes, reading)
        changes = changed(catalogue, homes, "entries", seen) if "entries" in reading else []
    if changes or (with_words and words_are_behind(catalogue)):
        with catalogue.locked(lock_seconds):
            if _state(catalogue) != state:  # another process has indexed some or all of it while this one waited
                changes = changed(catalogue, homes, "entries")
            _take_in(catalogue, changes, with_words, report, progress)
        catalogue.say(report.left_out.sentence)
    if "calls" in reading:
        from ..api_calls.sync import drop_other_prices, sync_calls

        if pricing is None:
            raise ValueError("API calls need prices")
        drop_other_prices(catalogue, pricing, lock_seconds)
        if changed(catalogue, homes, "calls", seen):
            calls = sync_calls(catalogue, homes, pricing, progress=progress)
            report.lines += calls.lines
            report.left_out.add(calls.left_out)
    if statuses and not statuses_are_current(catalogue.connection):
        from .ingest import renew_statuses

        failed = LeftOut()
        report.threaded = renew_statuses(catalogue, homes, failed, lock_seconds=lock_seconds)
        catalogue.say(failed.sentence)
        report.left_out.add(failed)
    report.seconds = time.monotonic() - begun
    return report


def _state(catalogue: Catalogue) -> tuple[object, ...]:
    """Return a value that differs after another connection has written to the catalogue or replaced it."""
    return catalogue.opened_as, catalogue.connection.execute("PRAGMA data_version").get


def _take_in(
    catalogue: Catalogue, changes: Sequence[FileChange], with_words: bool, report: SyncReport, progress: Progress | None
) -> None:
    from ..words.reader import seal
    from ..words.sync import add_from_files, commit, forget_stale, gather
    from .ingest import Ingest

    tell = _teller(changes, progress)
    words = None
    small = False
    if with_words:
        from ..words.word_index import WordsWriter

        total = sum(max(0, change.size - change.start) for change in changes)
        small = total < 8 << 20 and not words_are_behind(catalogue)
        words = WordsWriter(catalogue, heap=15 << 20) if small else WordsWriter(catalogue)
    try:
        if words is not None:
            forget_stale(catalogue, words)
            if words.mark < catalogue.note("last_entry"):
                report.lines += add_from_files(catalogue, words, report.left_out)
            elif small and changes:
                gather(catalogue, words, report.left_out)
                words.added = 0
        if changes:
            with catalogue.transaction():
                catalogue.set_note("change", catalogue.note("change") + 1)
            Ingest(catalogue, words, report, tell).run(changes)
        elif words is not None:
            commit(catalogue, words, catalogue.note("last_entry"))
    finally:
        if words is not None:
            report.documents = words.added
            words.close()
    if words is not None:
        seal(catalogue)


def _teller(changes: Sequence[FileChange], progress: Progress | None) -> Callable[[int], None]:
    total = sum(max(0, change.size - change.start) for change in changes)
    done = 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(min(done, total), total)

    return tell
