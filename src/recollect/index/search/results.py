"""The results of a search: hits with their places, grouped by session.

These are plain classes, because generating dataclasses would delay the start of every search.
"""

from __future__ import annotations

from .snippets import Snippet


class Hit:
    """One entry that matches. `entry_id` is its id in the catalogue; `time` is in seconds since 1970, or None."""

    __slots__ = (
        "entry_id",
        "file_id",
        "in_subagent_file",
        "length",
        "line",
        "offset",
        "role",
        "score",
        "snippet",
        "subagent_id",
        "time",
        "uuid",
    )  # fmt: skip

    def __init__(
        self,
        entry_id: int,
        file_id: int,
        line: int,
        offset: int,
        length: int,
        uuid: str | None,
        role: str | None,
        subagent_id: str | None,
        time: float | None,
        score: float,
        snippet: Snippet,
        *,
        in_subagent_file: bool = False,
    ) -> None:
        self.entry_id = entry_id
        self.file_id = file_id
        self.line = line
        self.offset = offset
        self.length = length
        self.uuid = uuid
        self.role = role
        self.subagent_id = subagent_id
        self.time = time
        self.score = score
        self.snippet = snippet
        self.in_subagent_file = in_subagent_file
        """Whether `line` is a line of the subagent's own transcript, not of the session's."""

    def __repr__(self) -> str:
        return f"Hit(line={self.line}, role={self.role!r}, uuid={self.uuid!r})"


class SessionHits:
    """The best hits of one session and its subagents, best first; `hit_count` counts those that are not listed, too."""

    __slots__ = ("hit_count", "hits", "home", "modified", "path", "project", "reference", "session_id", "title")

    def __init__(
        self,
        session_id: str,
        title: str | None,
        project: str | None,
        home: str,
        path: str,
        modified: float | None,
        hits: list[Hit],
        hit_count: int,
        reference: str | None = None,
    ) -> None:
        self.session_id = session_id
        self.title = title
        self.project = project
        self.home = home
        self.path = path
        self.modified = modified
        self.hits = hits
        self.hit_count = hit_count
        self.reference = reference or session_id
        """The first eight characters of the id if they are unique, else the whole id."""

    def open_command(self, hit: Hit) -> list[str]:
        """Return the arguments for `recollect` that show the conversation from the hit on."""
        subagent = ["--subagent", hit.subagent_id] if hit.in_subagent_file and hit.subagent_id else []
        return ["show", self.reference, *subagent, "--line", str(hit.line)]

    def __repr__(self) -> str:
        return f"SessionHits({self.session_id!r}, {len(self.hits)} of {self.hit_count} hits)"


class SearchResults:
    """What a search found. `total` counts matching entries; `facets`, on request, by project, tool, model and month."""

    __slots__ = ("advice", "exact", "excluded", "facets", "mode", "more", "notes", "sessions", "total")

    def __init__(
        self,
        sessions: list[SessionHits],
        total: int,
        *,
        exact: bool = True,
        more: bool = False,
        mode: str = "words",
        facets: dict[str, dict[str, int]] | None = None,
        notes: tuple[str, ...] = (),
        advice: tuple[str, ...] = (),
        excluded: tuple[str, ...] = (),
    ) -> None:
        self.sessions = sessions
        self.total = total
        self.exact = exact
        """False if `total` is a lower bound, because the search stopped when it had enough sessions."""
        self.more = more
        """Whether further sessions follow after these."""
        self.mode = mode
        """words, substring, regex or everything."""
        self.facets = facets
        self.notes = notes
        """Notes for the user: words that were ignored, slow modes."""
        self.excluded = excluded
        """The parts of the query that exclude something, as typed."""
        self.advice = advice
        """Suggestions, if nothing was found."""

    def __repr__(self) -> str:
        return f"SearchResults({len(self.sessions)} sessions, total={self.total})"
