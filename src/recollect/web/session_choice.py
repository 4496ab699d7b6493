"""Choose the sessions of the list: the filter in the address, the sessions that match, and the facets beside them."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from ..export.wording import model_name, tail
from ..library.service import Service
from ..library.session_lists import project_matcher, sort_sessions
from .usage_views import session_accounts

if TYPE_CHECKING:
    from ..library.library import SessionSummary

STATUSES = ("running", "expiring", "damaged", "archived", "with subagents", "only in the vault")
SORTS = (
    ("modified", "Last change"), ("created", "Begun"), ("bytes", "Size"), ("messages", "Messages"),
    ("cost", "Cost"),
    ("subagents", "Subagents"), ("title", "Title"), ("project", "Project"), ("oldest", "Oldest first"),
)  # fmt: skip
SHOWN_CHOICES = 12
SOON_DAYS = 7
_DATES = (("today", "Today", 1), ("week", "Last 7 days", 7), ("month", "Last 30 days", 30), ("older", "Older", 0))


@dataclass(frozen=True)
class Asked:
    """The filter, as it is in the address."""

    q: str = ""
    project: str = ""
    branch: str = ""
    tag: str = ""
    status: str = ""
    date: str = ""
    day: str = ""
    model: str = ""
    sort: str = "modified"

    def query(self, **changed: str) -> str:
        """Write the filter as part of an address, with some parts changed. `+` and `&` in values are escaped."""
        wanted = replace(self, **changed)
        default = Asked()
        parts = [(item.name, getattr(wanted, item.name)) for item in fields(self)]
        return urlencode(
            [(name, value) for name, value in parts if value and value != getattr(default, name)], errors="replace"
        )

    def __getitem__(self, name: str) -> str:
        return getattr(self, name, "")

    @property
    def words(self) -> str:
        """Describe the filter for the heading of the list."""
        set_parts = [
            f"{name}: {self[name]}"
            for name in ("project", "model", "branch", "tag", "status", "date", "day")
            if self[name]
        ]
        return ", ".join(([f"“{self.q}”"] if self.q else []) + set_parts)


@dataclass
class Choice:
    """A value of a facet: its label, how many sessions it would leave, and the address that chooses it."""

    words: str
    full: str
    count: int
    query: str
    chosen: bool


@dataclass
class Facet:
    """A part of the filter with the values to choose from."""

    words: str
    choices: list[Choice] = field(default_factory=list)
    more: int = 0


def asked_of(parameters: Mapping[str, str]) -> Asked:
    """Read the filter from the parameters of an address. Unknown parts are ignored, and long values are cut."""
    known = {item.name: parameters.get(item.name, "")[:500] for item in fields(Asked)}
    if known["sort"] not in {name for name, _ in SORTS}:
        known["sort"] = "modified"
    return Asked(**known)


class Chooser:
    """Returns what the filter needs of a session: its state, its days, its models."""

    def __init__(self, service: Service) -> None:
        self.now = time.time()
        self.accounts = session_accounts(service)
        self.running = frozenset(service.library.running)
        self.library = service.library

    def statuses(self, item: SessionSummary) -> list[str]:
        found = []
        if item.file.is_kept:
            found.append("only in the vault")
        elif item.session_id in self.running:
            found.append("running")
        elif self.library.expires(item.file) < self.now + SOON_DAYS * 86400:
            found.append("expiring")
        if item.problem or item.is_empty or item.session_id in self.accounts.damaged:
            found.append("damaged")
        if item.tag == "archived":
            found.append("archived")
        if item.subagents:
            found.append("with subagents")
        return found

    def date_of(self, item: SessionSummary) -> str:
        age = (self.now - item.file.mtime) / 86400
        return next((name for name, _, days in _DATES if days and age <= days), "older")

    def days_of(self, item: SessionSummary) -> set[str]:
        """Return the days of a session's API calls, and of its first and last line."""
        return first_and_last_day(item) | self.accounts.days.get(item.session_id, set())

    def tests(self, asked: Asked) -> dict[str, Callable[[SessionSummary], bool]]:
        """Return a test for each part of the filter that is set."""
        needle = asked.q.lower()
        every: dict[str, Callable[[SessionSummary], bool]] = {
            "q": lambda item: any(needle in text for text in _texts(item)),
            "project": project_matcher(asked.project, False),
            "branch": lambda item: item.git_branch == asked.branch,
            "tag": lambda item: item.tag == asked.tag,
            "model": lambda item: asked.model in self.accounts.models.get(item.session_id, ()),
            "status": lambda item: asked.status in self.statuses(item),
            "date": lambda item: (
                self.date_of(item) == asked.date
                or (asked.date in ("week", "month") and self.date_of(item) in _WITHIN[asked.date])
            ),
            "day": lambda item: asked.day in self.days_of(item),
        }
        return {name: test for name, test in every.items() if asked[name]}


_SHORTER: dict[str, Callable[[str], str]] = {"project": tail, "model": model_name}
_WITHIN = {"week": ("today", "week"), "month": ("today", "week", "month")}


def _texts(item: SessionSummary) -> list[str]:
    parts = (item.title, item.first_prompt, item.project, item.session_id, item.git_branch, item.tag, item.last_prompt)
    return [text.lower() for text in parts if text]


def first_and_last_day(item: SessionSummary) -> set[str]:
    """Return the days of a session's first and last line, since a prompt may be of a day without an API call."""
    found = set()
    for moment in (item.created, item.last_activity):
        with contextlib.suppress(OverflowError, OSError, ValueError):
            if moment is not None:
                found.add(moment.astimezone().strftime("%Y-%m-%d"))
    return found


def choose(sessions: list[SessionSummary], chooser: Chooser, asked: Asked) -> list[SessionSummary]:
    """Return the sessions that match the filter, in its order."""
    tests = list(chooser.tests(asked).values())
    found = [item for item in sessions if all(test(item) for test in tests)]
    if asked.sort == "oldest":
        return sorted(found, key=lambda item: item.file.mtime)
    if asked.sort == "cost":
        return sorted(found, key=lambda item: chooser.accounts.amounts.get(item.session_id, 0), reverse=True)
    return sort_sessions(found, asked.sort)


def facets(sessions: list[SessionSummary], chooser: Chooser, asked: Asked) -> list[Facet]:
    """Count for each value of each facet the sessions that would be left, with the rest of the filter unchanged."""
    values: dict[str, tuple[str, Callable[[SessionSummary], list[str]]]] = {
        "status": ("Status", chooser.statuses),
        "date": ("Date", lambda item: [chooser.date_of(item)]),
        "project": ("Project", lambda item: [text for text in [item.worktree_of or item.project] if text]),
        "model": ("Model", lambda item: chooser.accounts.models.get(item.session_id, [])),
        "branch": ("Git branch", lambda item: [item.git_branch] if item.git_branch else []),
        "tag": ("Tag", lambda item: [item.tag] if item.tag else []),
    }
    tests = chooser.tests(asked)
    found = []
    for name, (words, values_of) in values.items():
        others = [test for part, test in tests.items() if part != name]
        counts: Counter[str] = Counter()
        for item in sessions:
            if all(test(item) for test in others):
                counts.update(values_of(item))
        ranked = counts.most_common()
        if name == "date":
            ranked = [(date, counts[date]) for date, _, _ in _DATES if counts[date]]
        chosen = asked[name]
        shown = ranked[:SHOWN_CHOICES]
        if chosen and chosen not in dict(shown):
            shown.append((chosen, counts[chosen]))
        labels = {date: label for date, label, _ in _DATES} if name == "date" else {}
        shorten = _SHORTER.get(name, str)
        found.append(
            Facet(
                words,
                [
                    Choice(
                        labels.get(value) or shorten(value), value, count,
                        asked.query(**{name: "" if value == chosen else value}), value == chosen,
                    )
                    for value, count in shown
                ],
                max(len(ranked) - SHOWN_CHOICES, 0),
            )
        )  # fmt: skip
    return found
