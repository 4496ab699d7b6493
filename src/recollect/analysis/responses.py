"""API calls as the catalogue holds them, each once: copies in other files of a home or in other homes are joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..index.call_packs import (
    AGENT,
    BRANCH,
    COPIED,
    COUNTS,
    CWD,
    FLAGS,
    GEO,
    LINE,
    LOWER_BOUND,
    MODEL,
    ODD,
    OUTPUT_LINE,
    PARTIAL,
    SPEED,
    STOP,
    TIER,
    TIME,
    ZONELESS,
    Columns,
    all_calls,
    rows_of,
    with_copies,
)  # fmt: skip
from ..index.catalogue import Catalogue
from ..store.home import Home
from .cost import Counts, cost_of
from .totals import Totals

if TYPE_CHECKING:
    from .prices.book import PriceBook

_COUNTS: Final = "input, output, cache_write_5m, cache_write_1h, cache_read, thinking, web_searches"


class Response(NamedTuple):
    """One API call, booked on the file where it appeared first."""

    file_id: int
    number: int
    message_id: str
    request_id: str
    model: str
    line: int
    time: int | None
    counts: Counts
    service_tier: str | None
    speed: str | None
    geo: str | None
    stop_reason: str | None
    agent_id: str | None
    git_branch: str | None
    cwd: str | None
    session_id: str | None
    path: str
    home: str
    flags: int
    copies: int
    output_line: int = 0
    """The line with the largest output, which may not be the first one."""

    def cost(self, book: PriceBook) -> int | None:
        """In micro-dollars; None where its model has no price."""
        return cost_of(book, self.model, self.time, self.counts, self.speed, self.service_tier, self.geo)[0]

    @property
    def answer(self) -> str:
        """The id of its message, else of its request. What an advisor used belongs to the response that asked it."""
        return self.message_id.removesuffix("#advisor") or self.request_id

    @property
    def lower_bound(self) -> bool:
        return bool(self.flags & LOWER_BOUND)

    @property
    def odd(self) -> bool:
        """A count is missing or none; it is taken as nought."""
        return bool(self.flags & (ODD | PARTIAL))

    @property
    def zoneless(self) -> bool:
        return bool(self.flags & ZONELESS)

    @property
    def marks(self) -> tuple[bool, bool, bool, int]:
        """What totals have to say of it: a lower bound, odd, without a zone, and how often it stands elsewhere, too."""
        return self.lower_bound, self.odd, self.zoneless, self.copies - 1


def project_path(cwd: str | None, *, separate: bool = False) -> str | None:
    """The working directory; a worktree that the client made counts to its repository."""
    if cwd is None or separate:
        return cwd
    for mark in ("/.claude/worktrees/", "\\.claude\\worktrees\\"):
        before, found, _ = cwd.partition(mark)
        if found and before:
            return before
    return cwd


def home_numbers(catalogue: Catalogue, homes: Iterable[Home]) -> list[int]:
    found = (catalogue.home_id(home.real_root) for home in homes)
    return [number for number in found if number is not None]


def responses(
    catalogue: Catalogue, homes: Sequence[Home], *, since: int | None = None, until: int | None = None,
    files: Iterable[int] | None = None, booked: bool = True,
) -> Iterator[Response]:  # fmt: skip
    """All calls of some homes (or of some of their files), each once. `since` and `until` are microseconds, [since, until).

    Without `booked` every file is taken alone: a call comes once for each file that holds it.
    """
    numbers = home_numbers(catalogue, homes)
    if not numbers:
        return iter(())
    wanted = None if files is None else list(files)
    if len(numbers) > 1 and booked:
        # Where a call is booked is known only with its copies in the other homes, which may be older.
        found = iter(joined(_booked(catalogue, numbers, with_copies(catalogue.connection, wanted, since), True, None)))
        if wanted is not None:
            among = frozenset(wanted)
            found = (item for item in found if item.file_id in among)
    else:
        found = _booked(catalogue, numbers, wanted, booked, since)
    if since is None and until is None:
        return found
    low = since if since is not None else -(1 << 62)
    high = until if until is not None else 1 << 62
    return (item for item in found if item.time is not None and low <= item.time < high)


def _booked(
    catalogue: Catalogue, homes: list[int], files: list[int] | None, booked: bool, since: int | None
) -> Iterator[Response]:
    db = catalogue.connection
    packs: Iterable[tuple[int, Columns]] = all_calls(db, files, since=since)
    known = ""
    if files is not None or since is not None:  # a few at most: then not everything is fetched that is known of others
        packs = list(packs)
        if not packs:
            return
        known = f" AND id IN ({', '.join(str(file_id) for file_id, _ in packs)})"
    strings: dict[int | None, str | None] = dict(db.execute("SELECT id, text FROM strings"))
    strings[None] = None
    roots = dict(db.execute("SELECT id, path FROM homes"))
    marks = ", ".join("?" * len(homes))
    shared: dict[tuple[int, str, str, int], tuple[Any, ...]] = {}
    for row in db.execute(
        f"SELECT home_id, message_id, request_id, model_id, file_id, number, copies, flags, {_COUNTS} FROM shared_calls "
        f"WHERE home_id IN ({marks})",
        homes if booked else [-1] * len(homes),
    ):
        shared[row[:4]] = row[4:]
    facts: dict[int, tuple[Any, ...]] = {
        row[0]: row[1:]
        for row in db.execute(
            f"SELECT id, agent_id, session_id, path, home_id FROM files WHERE home_id IN ({marks}){known}", homes
        )
    }
    for file_id, columns in packs:
        if file_id not in facts:
            continue
        agent, session, path, home = facts[file_id]
        for number, row in enumerate(rows_of(columns)):
            if since is not None and (row[TIME] is None or row[TIME] < since):
                continue
            counts, flags, copies = Counts(*row[COUNTS]), row[FLAGS], 1
            booking = shared.get((home, row[0], row[1], row[2])) if shared else None
            if booking is not None:
                if booking[0] != file_id or booking[1] != number:
                    continue
                copies, flags, counts = booking[2], booking[3], Counts(*booking[4:])
            yield Response(
                file_id, number, row[0], row[1], strings[row[MODEL]] or "", row[LINE], row[TIME], counts, strings[row[TIER]],
                strings[row[SPEED]], strings[row[GEO]], strings[row[STOP]], agent if row[AGENT] is None else row[AGENT],
                strings[row[BRANCH]], strings[row[CWD]], session, path, roots[home], flags, copies, row[OUTPUT_LINE] or row[LINE],
            )  # fmt: skip


def total_of(found: Iterable[Response], book: PriceBook) -> Totals:
    totals = Totals()
    for item in found:
        totals.add(item.counts, item.cost(book), *item.marks)
    return totals


def joined(found: Iterable[Response]) -> list[Response]:
    """Each call once that comes from several homes, or from files that were taken alone: it is booked on its first copy."""
    kept: dict[tuple[str, str, str], Response] = {}
    for item in found:
        key = (item.message_id, item.request_id, item.model)
        other = kept.get(key)
        if other is None:
            kept[key] = item
            continue
        first, second = (other, item) if _order(other) <= _order(item) else (item, other)
        kept[key] = _one(first, second)
    if any(not key[2] for key in kept):
        from ..index.nameless_calls import names_of

        for key, name in names_of(kept, "").items():
            kept[name] = _one(kept[name], kept.pop(key))
    return list(kept.values())


def _one(first: Response, second: Response) -> Response:
    """A call that was found twice, booked where the first one is."""
    for_all = LOWER_BOUND | PARTIAL
    flags = first.flags & ~(for_all | ODD) | (first.flags & second.flags & for_all)
    flags |= (first.flags | second.flags) & ODD
    largest = Counts(*(max(pair) for pair in zip(first.counts, second.counts, strict=True)))
    return first._replace(counts=largest, flags=flags, copies=first.copies + second.copies)


def _order(item: Response) -> tuple[bool, int, int, bool, str, str]:
    return item.time is None, item.time or 0, item.flags & COPIED, item.agent_id is not None, item.home, item.path
