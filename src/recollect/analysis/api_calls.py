"""Read API calls from the catalogue, each once: copies in other files of a home or in other homes are joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from ..format.project_key import repository_of
from ..index.api_calls.rows import COUNTS, LOWER_BOUND, ODD, PARTIAL, ZONELESS
from ..index.api_calls.store import Counted, decisions
from ..index.catalogue.catalogue import Catalogue
from ..store.home import Home
from .cost import Counts, Totals, cost_of

if TYPE_CHECKING:
    from .prices.book import PriceBook


_EVER: Final = 1 << 62


class ApiCall(NamedTuple):
    """One API call, assigned to the session that made it and the file where it appeared first."""

    file_id: int
    line: int
    part: int
    """Its number among the calls that begin on its line: file, line and part identify a call."""
    message_id: str
    request_id: str
    model: str
    time: int | None
    counts: Counts
    service_tier: str | None
    speed: str | None
    geo: str | None
    stop_reason: str | None
    subagent_id: str | None
    git_branch: str | None
    cwd: str | None
    session_id: str | None
    path: str
    home: str
    flags: int
    copies: int
    output_line: int
    """The line with the largest output count, which may not be the first one."""

    def cost(self, book: PriceBook) -> int | None:
        """Return the cost in micro-dollars; None if the model has no price."""
        return cost_of(book, self.model, self.time, self.counts, self.speed, self.service_tier, self.geo)[0]

    @property
    def answer(self) -> str:
        """The id of its message, else of its request. An advisor's usage belongs to the response that asked it."""
        return self.message_id.removesuffix("#advisor") or self.request_id

    @property
    def lower_bound(self) -> bool:
        return bool(self.flags & LOWER_BOUND)

    @property
    def odd(self) -> bool:
        """Whether a count is missing or invalid; it is taken as zero."""
        return bool(self.flags & (ODD | PARTIAL))

    @property
    def zoneless(self) -> bool:
        return bool(self.flags & ZONELESS)

    @property
    def marks(self) -> tuple[bool, bool, bool, int]:
        """Caveats for totals: lower bound, odd, without a time zone, and the number of its further copies."""
        return self.lower_bound, self.odd, self.zoneless, self.copies - 1


def project_path(cwd: str | None, *, separate: bool = False) -> str | None:
    """Return the working directory; a worktree that Claude Code made counts to its repository."""
    return cwd if separate else repository_of(cwd) or cwd


def home_numbers(catalogue: Catalogue, homes: Iterable[Home]) -> list[int]:
    found = (catalogue.home_id(home.real_root) for home in homes)
    return [number for number in found if number is not None]


_ROWS: Final = (
    f"SELECT a.file_id, a.line, a.part, a.message_id, a.request_id, a.model_id, a.time, {', '.join(COUNTS)}, a.tier_id, "
    "a.speed_id, a.geo_id, a.stop_id, coalesce(a.subagent_id, f.subagent_id), a.branch_id, a.cwd_id, "
    "coalesce(a.session_id, f.session_id), f.path, f.home_id, a.flags, {copies}, a.output_line "
    "FROM {source} a CROSS JOIN files f ON f.id = a.file_id WHERE {where} ORDER BY +a.file_id, a.line, a.part"
)


def api_calls(
    catalogue: Catalogue, homes: Sequence[Home], *, since: int | None = None, until: int | None = None,
    files: Iterable[int] | None = None,
) -> Iterator[ApiCall]:  # fmt: skip
    """Yield all calls of some homes (or of some of their files), each once.

    `since` and `until` are microseconds, [since, until).
    """
    numbers = home_numbers(catalogue, homes)
    if not numbers:
        return iter(())
    where = f"f.home_id IN {_listed(numbers)}"
    chosen = where
    if files is not None:
        chosen += f" AND a.file_id IN {_listed(files)}"
    if since is not None or until is not None:
        chosen += (
            f" AND a.time >= {-_EVER if since is None else since} AND a.time < {_EVER if until is None else until}"
        )
    if len(numbers) == 1:
        return _read(catalogue, "counted_calls", "copies", chosen)
    # Which file a call is assigned to depends on its copies in the other homes.
    several = f"SELECT a.message_id FROM api_calls a JOIN files f ON f.id = a.file_id WHERE {where} GROUP BY 1"
    return _decided(catalogue, chosen, f"{where} AND a.message_id IN ({several} HAVING count(*) > 1)")


def calls_in_sessions(catalogue: Catalogue, files: Iterable[int]) -> Iterator[ApiCall]:
    """Yield all calls of some files, each once per session: copies in other sessions do not matter."""
    where = f"a.file_id IN {_listed(files)}"
    return _decided(catalogue, where, where, within="f.home_id || ' ' || f.session_id")


def _decided(catalogue: Catalogue, chosen: str, among: str, *, within: str = "''") -> Iterator[ApiCall]:
    """Yield the calls that the condition `chosen` selects, each counted once among those that `among` selects."""
    decided = {
        place: counted
        for found in decisions(catalogue.connection, among, within=within)
        for place, counted in found.items()
    }
    for item in _read(catalogue, "api_calls", "1", chosen):
        counted = decided.get(item[:3], item)
        if counted is item:
            yield item
        elif isinstance(counted, Counted):
            yield item._replace(
                session_id=counted.session_id or item.session_id, copies=counted.copies, counts=Counts(*counted.counts),
                flags=counted.flags,
            )  # fmt: skip


def _read(catalogue: Catalogue, source: str, copies: str, where: str) -> Iterator[ApiCall]:
    db = catalogue.connection
    texts: dict[int | None, str | None] = dict(db.execute("SELECT id, text FROM strings"))
    texts[None] = None
    roots = dict(db.execute("SELECT id, path FROM homes"))
    for row in db.execute(_ROWS.format(source=source, copies=copies, where=where)):
        tier, speed, geo, stop, subagent, branch, cwd, session, path, home, flags, number, output_line = row[14:]
        yield ApiCall._make((
            *row[:5], texts[row[5]] or "", row[6], Counts(*row[7:14]), texts[tier], texts[speed], texts[geo], texts[stop],
            subagent, texts[branch], texts[cwd], session, path, roots[home], flags, number, output_line,
        ))  # fmt: skip


def _listed(numbers: Iterable[int]) -> str:
    return f"({', '.join(map(str, map(int, numbers)))})"


def total_of(found: Iterable[ApiCall], book: PriceBook) -> Totals:
    totals = Totals()
    for item in found:
        totals.add(item.counts, item.cost(book), *item.marks)
    return totals
