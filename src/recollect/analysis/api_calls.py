"""Read API calls from the catalogue, each once: copies in other files of a home or in other homes are joined.

Claude Code's own count (`cost-state` lines, since 2.1.325) is compared with Recollect's, session by session.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import msgspec

from ..format.path_text import repository_of
from ..index.api_calls.decode import Count
from ..index.api_calls.rows import COUNTS, LOWER_BOUND, ODD, PARTIAL, ZONELESS
from ..index.api_calls.store import Counted, decisions
from ..index.catalogue.catalogue import Catalogue
from ..store.home import Home
from .cost import Counts, Totals, cost_of, dollars
from .prices.book import PriceBook

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


_LARGEST_COST: Final = 1e12
"""Dollars. No session costs more; larger values cannot be converted to micro-dollars."""


@dataclass(slots=True)
class Comparison:
    """Both counts of a session. Ours holds every call in its files, also copies that are counted elsewhere."""

    session_id: str
    ours: Counts
    theirs: Counts
    our_cost: int
    their_cost: int
    models: tuple[str, ...]
    calls: int = 0
    unpriced: bool = False
    """Whether either side lacks a price: then the costs cannot be compared."""
    writes_apart: bool = True
    """Whether Claude Code counted the two kinds of cache writes separately."""
    problem: str | None = None
    """Why Claude Code's count cannot be used; then there is nothing to compare with."""

    @property
    def same(self) -> bool:
        """Whether tokens, searches and cost agree."""
        return self.problem is None and not self.difference()

    @property
    def same_tokens(self) -> bool:
        return self.problem is None and self._counts(self.ours) == self._counts(self.theirs)

    def _counts(self, counts: Counts) -> dict[str, int]:
        written = {"cache_write_5m": counts.cache_write_5m, "cache_write_1h": counts.cache_write_1h}
        return {
            "input": counts.input,
            "output": counts.output,
            "cache_write": counts.cache_write_5m + counts.cache_write_1h,
            **(written if self.writes_apart else {}),
            "cache_read": counts.cache_read,
            "web_searches": counts.web_searches,
        }

    def difference(self) -> dict[str, int]:
        """Return ours minus Claude Code's for each value that differs. Costs may differ by the rounding per call."""
        if self.problem is not None:
            return {}
        theirs = self._counts(self.theirs)
        found = {name: mine - theirs[name] for name, mine in self._counts(self.ours).items() if mine != theirs[name]}
        cost = self.our_cost - self.their_cost
        if abs(cost) > self.calls + 1 and not self.unpriced:
            found["cost_micro_usd"] = cost
        return found

    def in_words(self) -> str:
        """Return the difference in words, or why there is none."""
        if self.problem is not None:
            return self.problem
        difference = self.difference()
        cost = difference.pop("cost_micro_usd", None)
        parts = [f"{name} {amount:+,}" for name, amount in difference.items()]
        if cost is not None:
            parts.append(f"cost {'+' if cost > 0 else ''}{dollars(cost)}")
        return ", ".join(parts)

    def data(self) -> dict[str, Any]:
        ours, theirs = self._counts(self.ours), self._counts(self.theirs)
        return {
            "session_id": self.session_id,
            "same": self.same,
            "problem": self.problem,
            "ours": ours | {"thinking": self.ours.thinking, "cost_micro_usd": self.our_cost},
            "client": None
            if self.problem is not None
            else theirs | {"thinking": self.theirs.thinking, "cost_micro_usd": self.their_cost},
            "difference": self.difference(),
        }


class _ModelUsage(msgspec.Struct):
    inputTokens: Count = 0
    outputTokens: Count = 0
    thinkingTokens: Count = 0
    cacheReadInputTokens: Count = 0
    cacheCreationInputTokens: Count = 0
    cacheCreationEphemeral5mInputTokens: Count = 0
    cacheCreationEphemeral1hInputTokens: Count = 0
    webSearchRequests: Count = 0


class _CostState(msgspec.Struct):
    totalCostUSD: Annotated[float, msgspec.Meta(ge=0, lt=_LARGEST_COST)] = 0
    modelUsage: dict[str, _ModelUsage] = {}
    hasUnknownModelCost: bool = False


def compare(
    catalogue: Catalogue, homes: Sequence[Home], book: PriceBook, session: str | None = None,
    among: Collection[tuple[str, str | None]] | None = None,
) -> list[Comparison]:  # fmt: skip
    """Return one comparison per session for which Claude Code left its count; empty for older versions.

    Restricted to one `session`, or to the (home, session) pairs in `among`.
    """
    numbers = home_numbers(catalogue, homes)
    marks = ", ".join("?" * len(numbers))
    states: list[tuple[Any, ...]] = catalogue.connection.execute(
        "SELECT h.path, f.session_id, s.value FROM cost_states s JOIN files f ON f.id = s.file_id "
        f"JOIN homes h ON h.id = f.home_id WHERE f.kind = 'session' AND f.home_id IN ({marks}) ORDER BY f.path",
        numbers,
    ).fetchall()
    if session is not None:
        states = [row for row in states if row[1] == session]
    if among is not None:
        states = [row for row in states if row[:2] in among]
    if not states:
        return []
    ours = _per_session(catalogue, {row[1] for row in states})
    found = []
    for home, session_id, text in states:
        mine, cost, unpriced = Counts(), 0, False
        calls = ours.get((home, session_id), [])
        for item in calls:
            mine = Counts(*map(sum, zip(mine, item.counts, strict=True)))
            price = item.cost(book)
            cost += price or 0
            unpriced |= price is None
        row = Comparison(session_id, mine, Counts(), cost, 0, (), len(calls), unpriced)
        try:
            state = msgspec.json.decode(text, type=_CostState)
            row.their_cost = round(state.totalCostUSD * 1_000_000)
        except (msgspec.MsgspecError, OverflowError, RecursionError, UnicodeError):
            row.problem = "Claude Code's count cannot be read"
        else:
            row.theirs, row.models = _sum(state), tuple(state.modelUsage)
            row.unpriced |= state.hasUnknownModelCost
            row.writes_apart = bool(row.theirs.cache_write_1h) or any(
                usage.cacheCreationEphemeral5mInputTokens for usage in state.modelUsage.values()
            )
        found.append(row)
    return found


def _sum(state: _CostState) -> Counts:
    """Return Claude Code's count over all models."""
    found = Counts()
    for usage in state.modelUsage.values():
        long = usage.cacheCreationEphemeral1hInputTokens
        found = Counts(
            found.input + usage.inputTokens,
            found.output + usage.outputTokens,
            found.cache_write_5m + max(usage.cacheCreationInputTokens - long, 0),
            found.cache_write_1h + long,
            found.cache_read + usage.cacheReadInputTokens,
            found.thinking + usage.thinkingTokens,
            found.web_searches + usage.webSearchRequests,
        )
    return found


def _per_session(catalogue: Catalogue, sessions: set[str]) -> dict[tuple[str, str], list[ApiCall]]:
    """Return the calls in the files of each session, by home and session.

    A copy counts for its session, too, but only once there.
    """
    marks = ", ".join("?" * len(sessions))
    files: list[tuple[Any, ...]] = catalogue.connection.execute(
        "SELECT f.id, h.path, f.session_id FROM files f JOIN homes h ON h.id = f.home_id "
        f"WHERE f.session_id IN ({marks}) AND f.kind IN ('session', 'subagent')",
        list(sessions),
    ).fetchall()
    session_of = {file_id: (home, session) for file_id, home, session in files}
    found: dict[tuple[str, str], list[ApiCall]] = {}
    for item in calls_in_sessions(catalogue, session_of):
        found.setdefault(session_of[item.file_id], []).append(item)
    return found
