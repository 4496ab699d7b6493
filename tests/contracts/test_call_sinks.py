"""Every sink of API calls keeps the contract; the contract finds those that do not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import groupby
from pathlib import Path

import pytest

from recollect.analysis.cost import usual_prices
from recollect.index.api_calls.rows import CallRow
from recollect.index.api_calls.store import CallSink, Copy, SqliteCalls, decide
from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.left_out import LeftOut
from recollect.index.catalogue.tracking import FileChange, begin
from recollect.store.home import Home
from recollect.testing.call_sink_contract import CONTRACTS, CallSinkTrial, CountedCall


class SqliteTrial:
    def __init__(self, folder: Path) -> None:
        self.home = Home(folder)
        self.catalogue = Catalogue.open(folder / "index")
        self.db = self.catalogue.connection
        self.sink: CallSink = SqliteCalls(self.db, usual_prices(), LeftOut())

    def add_file(self, path: str, session_id: str, subagent_id: str | None = None, begun: int | None = None) -> int:
        kind = "session" if subagent_id is None else "subagent"
        change = FileChange(self.home, "calls", path, kind, "new", session_id=session_id, subagent_id=subagent_id)
        number = begin(self.catalogue, change)
        if begun is not None:
            self.db.execute("INSERT INTO call_files VALUES (?, ?)", (number, begun))
        return number

    def rename_file(self, file_id: int, path: str) -> None:
        self.db.execute("UPDATE files SET path = ? WHERE id = ?", (path, file_id))

    def counted(self) -> list[CountedCall]:
        rows = self.db.execute(
            "SELECT c.message_id, c.request_id, coalesce(c.session_id, f.session_id), c.file_id, c.output, c.copies "
            "FROM counted_calls c JOIN files f ON f.id = c.file_id"
        )
        return [CountedCall(*row) for row in rows]


class MemoryTrial:
    """Another sink, as small as can be: it decides when it is asked."""

    def __init__(self, _: Path) -> None:
        self.files: dict[int, tuple[str, str, str | None, int | None]] = {}
        self.calls: dict[int, dict[tuple[int, int], CallRow]] = {}
        self.sink: CallSink = self

    def add_file(self, path: str, session_id: str, subagent_id: str | None = None, begun: int | None = None) -> int:
        self.files[len(self.files) + 1] = path, session_id, subagent_id, begun
        return len(self.files)

    def rename_file(self, file_id: int, path: str) -> None:
        self.files[file_id] = path, *self.files[file_id][1:]

    def put(self, file_id: int, calls: Collection[CallRow]) -> None:
        self.calls.setdefault(file_id, {}).update({(row.line, row.part): row for row in calls})

    def take(self, file_id: int, messages: Collection[str]) -> list[CallRow]:
        own = self.calls.get(file_id, {})
        found = {place: row for place, row in own.items() if row.message_id in messages}
        self.calls[file_id] = {place: row for place, row in own.items() if place not in found}
        return [row for _, row in sorted(found.items(), key=lambda item: item[0])]

    def revisit(self, file_id: int) -> None: ...

    def forget(self, file_id: int) -> None:
        self.calls.pop(file_id, None)

    def settle(self) -> None: ...

    def counted(self) -> list[CountedCall]:
        rows = [(row.message_id, file, row) for file, own in self.calls.items() for row in own.values()]
        found = []
        for message, group in groupby(sorted(rows, key=lambda item: item[0]), lambda item: item[0]):
            several = [(file, row) for _, file, row in group]
            decided = decide(message, [self._copy(file, row) for file, row in several])
            for file, row in several:
                place = (file, row.line, row.part)
                told = decided.get(place)
                if told is not None or place not in decided:
                    session = (
                        row.session_id or self.files[file][1]
                        if told is None
                        else told.session_id or self.files[file][1]
                    )
                    output, copies = (row.output, 1) if told is None else (told.counts[1], told.copies)
                    found.append(CountedCall(message, row.request_id, session, file, output, copies))
        return found

    def _copy(self, file: int, row: CallRow) -> Copy:
        path, session, subagent, begun = self.files[file]
        order = (
            False, row.time is None, row.time or 0, row.session_id not in (None, session), subagent is not None, begun is None,
            begun or 0, path, row.line, row.part,
        )  # fmt: skip
        return Copy(
            (file, row.line, row.part), row.request_id, row.model, session, row.session_id,
            subagent is None and row.subagent_id is None, order, row.counts, row.flags,
        )  # fmt: skip


@pytest.fixture(params=[SqliteTrial, MemoryTrial])
def trial(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CallSinkTrial]:
    made = request.param(tmp_path)
    yield made
    if isinstance(made, SqliteTrial):
        made.catalogue.close()


@pytest.mark.parametrize("check", CONTRACTS, ids=lambda check: check.__name__)
def test_a_sink_keeps_the_contract(trial: CallSinkTrial, check: Callable[[CallSinkTrial], None]) -> None:
    check(trial)


class Forgetful(MemoryTrial):
    def forget(self, file_id: int) -> None: ...


class Twice(MemoryTrial):
    """Counts every copy."""

    def counted(self) -> list[CountedCall]:
        return [
            CountedCall(row.message_id, row.request_id, row.session_id or self.files[file][1], file, row.output, 1)
            for file, own in self.calls.items()
            for row in own.values()
        ]


class Leaving(MemoryTrial):
    """Leaves there what is taken out."""

    def take(self, file_id: int, messages: Collection[str]) -> list[CallRow]:
        return [row for row in self.calls.get(file_id, {}).values() if row.message_id in messages]


class Nameless(MemoryTrial):
    """Does not learn of another name."""

    def rename_file(self, file_id: int, path: str) -> None: ...


@pytest.mark.parametrize("kind", [Forgetful, Twice, Leaving, Nameless])
def test_a_sink_that_breaks_it_is_found(tmp_path: Path, kind: type[MemoryTrial]) -> None:
    broken = 0
    for check in CONTRACTS:
        try:
            check(kind(tmp_path))
        except AssertionError:
            broken += 1
    assert 0 < broken < len(CONTRACTS)
