"""Find secrets in everything the homes hold: what, where, since when, and where to revoke it. Never shows a value unasked."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from importlib.resources import files as package_files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

from msgspec import Struct

from ..errors import NotFound
from ..format.times import parse_time, to_iso
from ..secrets.file_search import FileSearch, Place
from ..secrets.find import Finder
from ..secrets.findings import CONFIDENCES as CONFIDENCES
from ..secrets.fingerprints import Fingerprints
from ..secrets.formats import formats
from ..secrets.personal import PERSONAL_KINDS, find_personal
from ..secrets.rules import Rules
from ..secrets.rules import read_rules as read_rules
from ..secrets.scan import HomeScan, ScanTotals, SearchedFile, searched_files
from ..store.home import Home

if TYPE_CHECKING:
    from .library import Library

_METHOD: Final = 1
"""Raised when the search itself changes, so that everything is searched again."""
_LEVELS: Final[dict[str, int]] = {name: number for number, name in enumerate(CONFIDENCES)}
_SLOW: Final = "google-re2 is not installed: searching for secrets takes many times longer, and finds the same"


class Finding(Struct, frozen=True, kw_only=True):
    """A secret, or a piece of personal data, at one place. `start` and `end` count code points of the string at `pointer`.

    Without a pointer, they count from the start of `line`. `time` is that of the entry, null where it has none.
    """

    session_id: str | None
    path: str
    """From the home's root."""
    home: str
    line: int
    pointer: str | None
    start: int
    end: int
    kind: str
    family: str
    confidence: str
    form: str
    length: int
    masked: str
    fingerprint: str
    time: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as in `--json`."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


@dataclass(slots=True)
class FoundValue:
    """All places of one value."""

    kind: str
    masked: str
    fingerprint: str
    confidence: str
    family: str
    advice: str
    finds: int = 0
    sessions: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    first: float = 0.0
    last: float = 0.0
    """When it was first and last seen, in seconds since 1970: the time of the entry, else that of the file."""


@dataclass(frozen=True)
class KindRow:
    """What is known about one kind: how it looks, where to revoke it, where the facts are from."""

    kind: str
    family: str
    confidence: str
    looks_like: str
    checksum: bool
    revoke: str
    source: str
    own: bool
    """Whether it is a rule of the user."""


def rules_version(rules: Rules) -> str:
    """Return a short name for the rules by which is searched; it changes with every one of them."""
    table = package_files("recollect.secrets").joinpath("formats.toml").read_bytes()
    return f"{_METHOD}.{hashlib.blake2b(table, digest_size=4).hexdigest()}.{rules.version}"


def kind_rows(rules: Rules) -> list[KindRow]:
    """List all kinds that are searched for, the user's own included."""
    rows = [
        KindRow(
            item.kind,
            "secret",
            item.confidence,
            _looks_like(item),
            item.checksum is not None,
            item.revoke,
            item.source,
            False,
        )
        for item in formats().values()
    ]
    rows += [
        KindRow(rule.kind, "secret", rule.confidence, rule.regex, False, "", rule.name, True) for rule in rules.rules
    ]
    rows += [
        KindRow(kind, "personal", "likely", words, False, "", "only with --personal", False)
        for kind, words in PERSONAL_KINDS.items()
    ]
    return rows


def _looks_like(item: Any) -> str:
    if item.prefix:
        starts = " or ".join(item.prefix[:3]) + (" ..." if len(item.prefix) > 3 else "")
        inside = " inside" if item.before else ""
        if item.length is None:
            return f"{starts}{inside}"
        least, most = item.length
        return f"{starts}{inside}, {least if least == most else f'{least} to {most}'} of {item.letters}"
    return {
        "named": f"{item.pattern} beside a name with {' or '.join(item.names)}",
        "assignment": "a value beside a name that says so",
    }.get(item.shape, f"the text around it ({item.shape})")


class SecretFinds(Iterator[Finding]):
    """The finds of a search, made while they are asked for. `totals` is complete at the end."""

    def __init__(self, library: Library, rules: Rules, wanted: _Wanted, progress: Progress | None) -> None:
        self.library = library
        self.rules = rules
        self.wanted = wanted
        self.rules_version = rules_version(rules)
        self.unreadable: list[str] = []
        self.bytes = self.read_bytes = self.files = self.count = 0
        self._sessions: set[str] = set()
        self._values: dict[str, FoundValue] = {}
        self._places: dict[str, tuple[Home, SearchedFile]] = {}
        self._begun = time.monotonic()
        self._seconds: float | None = None
        self._progress = progress
        self._rows = self._search()

    def __next__(self) -> Finding:
        return next(self._rows)

    @property
    def totals(self) -> dict[str, Any]:
        """Return the totals as in `--json`."""
        seconds = self._seconds if self._seconds is not None else time.monotonic() - self._begun
        return {
            "values": len(self._values), "finds": self.count, "sessions": len(self._sessions), "bytes": self.bytes,
            "read_bytes": self.read_bytes, "files": self.files, "unreadable": self.unreadable,
            "seconds": round(seconds, 3), "rules_version": self.rules_version,
        }  # fmt: skip

    @property
    def values(self) -> list[FoundValue]:
        """List the values that were found, the last seen first."""
        return sorted(self._values.values(), key=lambda item: (-item.last, item.kind, item.fingerprint))

    def reveal(self) -> dict[str, str]:
        """Return the values themselves by fingerprint. The files are read again, since values are never remembered."""
        found: dict[str, str] = {}
        for fingerprint, (home, file) in self._places.items():
            if fingerprint not in found:
                found |= self._reveal(home, file)
        return found

    def _reveal(self, home: Home, file: SearchedFile) -> dict[str, str]:
        search, fingerprints = self._make_search()
        found: dict[str, str] = {}
        search.take = lambda place, what: found.update({place.fingerprint: what.value})
        scan = HomeScan(home, search, fingerprints, None, self.rules_version)
        for _ in scan.finds([file]):
            pass
        return found

    @cached_property
    def _finder(self) -> Finder:
        finder = Finder(self.rules)
        if not finder.anything.is_fast and self.library.tell is not None:
            self.library.tell(_SLOW)
        return finder

    def _make_search(self) -> tuple[FileSearch, Fingerprints]:
        fingerprints = Fingerprints(self.library.own_folder("data"))
        personal = find_personal if self.wanted.personal else None
        return FileSearch(self._finder, fingerprints, personal), fingerprints

    def _search(self) -> Iterator[Finding]:
        listed = [(home, searched_files(home)) for home in self.library.homes]
        chosen = [(home, files, [file for file in files if self.wanted.takes_file(file)]) for home, files in listed]
        size = sum(file.size for _, _, files in chosen for file in files)
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            if self._progress is not None:
                self._progress(done, size)

        for home, every_file, files in chosen:
            search, fingerprints = self._make_search()
            # Personal data stands on every line; remembering it would take more room than finding it again takes time.
            cache = None if self.wanted.personal else self.library.own_folder("cache")
            scan = HomeScan(home, search, fingerprints, cache, self.rules_version)
            scan.forget_missing(every_file)
            for file, places in scan.finds(files, advance):
                for place in places:
                    finding = self._finding(home, file, place)
                    if finding is not None:
                        yield finding
            self._add(scan.totals)
        self._seconds = time.monotonic() - self._begun

    def _add(self, totals: ScanTotals) -> None:
        self.bytes += totals.bytes
        self.read_bytes += totals.read_bytes
        self.files += totals.files
        self.unreadable += totals.unreadable

    def _finding(self, home: Home, file: SearchedFile, place: Place) -> Finding | None:
        session_id = file.info.session_id or place.session_id
        moment = parse_time(place.time)
        moment = file.mtime if moment is None else moment
        if not self.wanted.takes(place, session_id, moment):
            return None
        if self.rules.allows(place.kind, file.path, place.fingerprint):
            return None
        self._count(home, file, place, session_id, moment)
        return Finding(
            session_id=session_id, path=file.path, home=str(home.root), line=place.line, pointer=place.pointer,
            start=place.start, end=place.end, kind=place.kind, family=place.family, confidence=place.confidence,
            form=place.form, length=place.length, masked=place.masked, fingerprint=place.fingerprint, time=place.time,
        )  # fmt: skip

    def _count(self, home: Home, file: SearchedFile, place: Place, session_id: str | None, moment: float) -> None:
        value = self._values.get(place.fingerprint)
        if value is None:
            item = formats().get(place.kind)
            value = self._values[place.fingerprint] = FoundValue(
                place.kind, place.masked, place.fingerprint, place.confidence, place.family, item.revoke if item else "",
                first=moment, last=moment,
            )  # fmt: skip
        self.count += 1
        value.finds += 1
        value.files.add(file.path)
        value.first, value.last = min(value.first, moment), max(value.last, moment)
        if _LEVELS[place.confidence] < _LEVELS[value.confidence]:
            value.confidence, value.kind, value.masked = place.confidence, place.kind, place.masked
        if session_id is not None:
            value.sessions.add(session_id)
            self._sessions.add(session_id)
        self._places.setdefault(place.fingerprint, (home, file))


Progress = Callable[[int, int], None]
"""Called with the bytes that were searched and those that will be."""


@dataclass(frozen=True)
class _Wanted:
    """Which files are searched, and which finds are told."""

    sessions: frozenset[str] | None
    since: float | None
    until: float | None
    kinds: frozenset[str]
    personal: bool
    confidence: int
    ignored: frozenset[str]

    def takes_file(self, file: SearchedFile) -> bool:
        if self.since is not None and file.mtime < self.since:
            return False
        if self.sessions is None:
            return True
        # Lines of the history, and subagents beside the sessions, name their session themselves.
        return file.info.session_id in self.sessions or (file.info.session_id is None and file.path.endswith(".jsonl"))

    def takes(self, place: Place, session_id: str | None, moment: float) -> bool:
        return (
            _LEVELS[place.confidence] <= self.confidence
            and place.fingerprint not in self.ignored
            and (not self.kinds or place.kind in self.kinds)
            and (self.sessions is None or session_id in self.sessions)
            and (self.since is None or moment >= self.since)
            and (self.until is None or moment <= self.until)
        )


class SecretOptions(TypedDict, total=False):
    """What may be asked of a search for secrets."""

    project: str | None
    since: datetime | None
    until: datetime | None
    kinds: Iterable[str]
    personal: bool
    """Whether personal data is searched for, too."""
    min_confidence: str
    """`definite`, `likely` (if not given) or `possible`."""
    ignore: Iterable[str]
    """Fingerprints of values that are left out."""
    progress: Progress | None


def find_secrets(library: Library, sessions: Sequence[str] = (), **options: Unpack[SecretOptions]) -> SecretFinds:
    """Search sessions, the sessions of a project, or everything the homes hold."""
    since, until = options.get("since"), options.get("until")
    min_confidence = options.get("min_confidence", "likely")
    rules = read_rules(library.own_folder("config"))
    wanted_kinds = frozenset(options.get("kinds", ()))
    known = tuple(row.kind for row in kind_rows(rules))
    unknown = sorted(wanted_kinds.difference(known))
    if unknown:
        raise NotFound(
            f"no such kind of secret: {', '.join(unknown)}",
            hint="`recollect secrets --rules` lists them",
            slug="no-such-kind",
            nearest=_nearest(unknown[0], known),
        )
    if min_confidence not in CONFIDENCES:
        raise NotFound(f"no such confidence: {min_confidence}", slug="no-such-kind", nearest=CONFIDENCES)
    wanted = _Wanted(
        sessions=_sessions(library, sessions, options.get("project")),
        since=since.timestamp() if since is not None else None,
        until=until.timestamp() if until is not None else None,
        kinds=wanted_kinds,
        personal=options.get("personal", False) or not wanted_kinds.isdisjoint(PERSONAL_KINDS),
        confidence=_LEVELS[min_confidence],
        ignored=frozenset(options.get("ignore", ())),
    )
    return SecretFinds(library, rules, wanted, options.get("progress"))


def _sessions(library: Library, sessions: Sequence[str], project: str | None) -> frozenset[str] | None:
    """Return the ids of the sessions that are meant; None for everything."""
    if not sessions and project is None:
        return None
    found = {library.session(reference).id for reference in sessions}
    if project is not None:
        of_project = {item.session_id for item in library.sessions(project=project, count=False)}
        found = found & of_project if sessions else of_project
    return frozenset(found)


def _nearest(name: str, known: Sequence[str]) -> tuple[str, ...]:
    from difflib import get_close_matches

    return tuple(get_close_matches(name, known, 5, 0.4))


class FileFinds:
    """What stands in files that belong to no home, such as exported Markdown before a commit."""

    def __init__(self, library: Library, *, personal: bool = False, min_confidence: str = "likely") -> None:
        self.rules = read_rules(library.own_folder("config"))
        self._fingerprints = Fingerprints(library.own_folder("data"))
        self._confidence = _LEVELS[min_confidence]
        self._search = FileSearch(Finder(self.rules), self._fingerprints, find_personal if personal else None)
        self.revealed: dict[str, str] = {}

    def in_file(self, path: Path) -> list[Finding]:
        """Return what is found in a file. Raises NotFound if it cannot be read."""
        try:
            data = path.read_bytes()
            moment = to_iso(path.stat().st_mtime)
        except OSError as problem:
            raise NotFound(f"cannot read {path}: {problem.strerror or problem}", slug="no-such-file") from problem
        return self.in_bytes(str(path), data, moment)

    def in_bytes(self, name: str, data: bytes, moment: str | None = None) -> list[Finding]:
        """Return what is found in the bytes of a file of this name."""
        import io

        self._search.take = lambda place, found: self.revealed.update({place.fingerprint: found.value})
        places: list[Place] = []
        if name.endswith(".jsonl"):
            self._search.in_lines(io.BytesIO(data), 0, 0, places.append)
        else:
            places = list(self._search.in_file(name, data))
        return [
            Finding(
                session_id=place.session_id, path=name, home="", line=place.line, pointer=place.pointer, start=place.start,
                end=place.end, kind=place.kind, family=place.family, confidence=place.confidence, form=place.form,
                length=place.length, masked=place.masked, fingerprint=place.fingerprint, time=place.time or moment,
            )
            for place in places
            if _LEVELS[place.confidence] <= self._confidence
            and not self.rules.allows(place.kind, name, place.fingerprint)
        ]  # fmt: skip
