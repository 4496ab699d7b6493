"""Export sessions: into a file, a folder that follows them, a site, or to standard output. One mechanism for every format.

Sessions are redacted first, as copies that are read like any other session, so no format can forget to. Everything is staged,
searched once more for what was to be left out, and only then moved to its place.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, TypeAlias, cast

from ..environment import machine_names
from ..errors import NotFound, Refused
from ..export import document as documents
from ..export.document import Depth, Document, ExportOptions, Pictures, View
from ..export.formats import FORMATS, SITE, Format, format_named
from ..secrets.redact import PROFILES, Profile
from .export_target import (
    ExportNotes,
    StagedOutput,
    Staging,
    check_folder,
    check_places,
    check_replaceable,
    file_name,
    hash_of,
    in_git_work_tree,
    make_folder,
    put_in_place,
    refuse_home,
    remove_old,
    staged,
    target_path,
)
from .locate import message_uuid
from .redaction import Redaction, redacted_sessions, redactor_for, refuse_leaks

if TYPE_CHECKING:
    from .library import Library
    from .session import Session

    Chosen: TypeAlias = Sequence[str | Session] | str | Session
    """Sessions, or their names."""
ExportTarget: TypeAlias = "str | os.PathLike[str] | BinaryIO | None"
"""A file, or a stream that is open for writing."""
Progress = Callable[[int, int], None]
"""Called with the bytes that were read, and all bytes to read."""
_ENDINGS: Final = {
    ".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".txt": "text", ".json": "json", ".jsonl": "jsonl",
    ".csv": "csv", ".parquet": "parquet",
}  # fmt: skip
_WARNING: Final = (
    "{} is the session as it is: secrets and personal data stay in it (--redact leaves them out, --no-redact says so)"
)


@dataclass
class ExportResult:
    """What was written."""

    files: list[str] = field(default_factory=list)
    bytes: int = 0
    messages: int = 0
    sessions: int = 0
    unchanged: int = 0
    """Sessions whose files were up to date."""
    removed: list[str] = field(default_factory=list)
    """Files of an earlier export that the new one does not have."""
    redacted: dict[str, Any] | None = None
    """profile, values, kinds; None if nothing was to be redacted."""
    left_out: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    gist: str | None = None
    """The command that would publish the files; Recollect itself never uses the network."""

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain data for JSON."""
        return {
            "files": self.files, "bytes": self.bytes, "messages": self.messages, "sessions": self.sessions,
            "unchanged": self.unchanged, "removed": self.removed, "redacted": self.redacted, "left_out": self.left_out,
            "warnings": self.warnings, "gist": self.gist,
        }  # fmt: skip


def export_options(
    format: Format,
    *,
    depth: str | None = None,
    view: str = "history",
    last: int | None = None,
    start: int | str | None = None,
    end: int | str | None = None,
    message: str | None = None,
    branches: bool | None = None,
    costs: bool = False,
    pictures: str | None = None,
    timezone: str = "UTC",
    stamp: bool | datetime = False,
    front_matter: bool = False,
    single: bool = False,
) -> ExportOptions:
    """Check the options of an export. Raises Refused for one that does not exist or that the format cannot follow."""
    for what, value, known in (
        ("depth", depth, documents.DEPTHS), ("view", view, documents.VIEWS), ("pictures", pictures, ("none", "inline", "files")),
    ):  # fmt: skip
        if value is not None and value not in known:
            raise Refused(f"no such {what}: {value}", hint=f"one of {', '.join(known)}", slug="bad-option")
    if last is not None and last < 0:
        raise Refused("the number of messages cannot be negative", slug="bad-option")
    options = ExportOptions(
        cast(Depth, depth or format.depth), cast(View, view), last, start, end, message,
        format.branches if branches is None else branches, costs, cast("Pictures | None", pictures), timezone,
        stamp if isinstance(stamp, datetime) else datetime.now(UTC) if stamp else None, front_matter, single,
    )  # fmt: skip
    if format.name == "jsonl" and (depth not in (None, "all") or view != "history" or not options.is_whole):
        raise Refused(
            "jsonl is the whole session, line by line", slug="whole-lines-only",
            hint="use json for a part of a session, or `recollect fork` for a session of its own",
        )  # fmt: skip
    return options


class Exporter:
    """One export of some sessions in one format."""

    def __init__(
        self,
        library: Library,
        sessions: Sequence[Session],
        format: Format,
        options: ExportOptions,
        *,
        redact: str | bool | None = None,
        same_length: bool = False,
        force: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._library = library
        self.sessions = list({(session.id, session.home.real_root): session for session in sessions}.values())
        self.format = format
        self.options = options
        self._redact = redact
        self.same_length = same_length
        self.force = force
        self._progress = progress
        self._done = 0
        self._total = sum(_size(session) for session in self.sessions)
        self.result = ExportResult(sessions=len(self.sessions))
        if not self.sessions:
            raise NotFound("there is no session to export", slug="nothing-to-export")
        if len(self.sessions) > 1 and any(
            isinstance(item, str) for item in (options.start, options.end, options.message)
        ):
            raise Refused("a message belongs to one session", slug="several-sessions", hint="name one session")

    # --- where to -----------------------------------------------------------------------------------------------------

    def to_file(self, path: str | os.PathLike[str] | None, *, folder: Path | None = None) -> ExportResult:
        """Write one file (and what lies beside it). Without a path it is named after the session, in `folder`."""
        self._refuse_several()
        target = None if path is None else target_path(path)
        place = target.parent if target is not None else target_path(folder or Path.cwd())
        refuse_home(self._library, place)
        check_folder(place)
        if target is not None:
            noted = ExportNotes(self._library.own_folder).read().get(str(target), {})
            check_replaceable(target, noted.get(target.name), force=self.force)
        with self.prepared(self.profile_for(place)) as (opened, redaction), staged(place) as staging:
            name = target.name if target is not None else self.name_of(opened[0]) + self.format.suffix
            out = StagedOutput(staging, name, self.format.suffix if target is None else target.suffix)
            self.write(opened, out, redaction)
            self.check(staging, redaction)
            self._place(staging, place, place / name)
        return self._finished()

    def to_stream(self, stream: BinaryIO) -> ExportResult:
        """Write one file to a stream, once all of it is made and searched."""
        self._refuse_several()
        with (
            self.prepared(self.profile_for(None)) as (opened, redaction),
            staged(_made(self._library.own_folder("cache"))) as staging,
        ):
            out = StagedOutput(staging, f"export{self.format.suffix}", self.format.suffix, may_be_several=False)
            self.write(opened, out, redaction)
            self.check(staging, redaction)
            with staging.path(out.name).open("rb") as made:
                while piece := made.read(1 << 20):
                    stream.write(piece)
            stream.flush()
            self.result.bytes = staging.files[out.name]
        return self._finished()

    def to_folder(self, folder: str | os.PathLike[str]) -> ExportResult:
        """Write a file for each session into a folder; only those of sessions that changed since the last time."""
        from .export_folder import write_folder

        return write_folder(self, self._folder(folder))

    def to_site(self, folder: str | os.PathLike[str]) -> ExportResult:
        """Write a folder of pages; only those of sessions that changed since the last time."""
        from .export_folder import write_site

        return write_site(self, self._folder(folder))

    def _folder(self, folder: str | os.PathLike[str]) -> Path:
        path = target_path(folder)
        refuse_home(self._library, path)
        make_folder(path)
        return path

    # --- the steps ----------------------------------------------------------------------------------------------------

    def redaction_mark(self, profile: str) -> str:
        """Return a hash of what decides what is redacted: the names of this machine, the user's own rules."""
        if profile == "none":
            return ""
        rules = self._library.own_folder("config") / "rules.toml"
        data = rules.read_bytes() if rules.is_file() else b""
        told = repr((profile, self.same_length, machine_names(), data))
        return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()

    def profile_for(self, place: Path | None) -> Profile:
        """Return what is redacted: what was chosen, else what the format and the place call for."""
        chosen = self._redact
        if chosen is True:
            return "personal"
        if chosen is False or chosen == "none":
            return "none"
        if isinstance(chosen, str):
            if chosen not in PROFILES:
                raise Refused(
                    f"no such profile: {chosen}", hint=f"one of {', '.join(PROFILES)}", slug="no-such-profile"
                )
            return chosen
        profile = self.format.redact
        if self.format.name == "md" and place is not None and in_git_work_tree(place):
            profile = "personal"
        if profile == "none":
            self.result.warnings.append(_WARNING.format(self.format.name))
        return cast(Profile, profile)

    @contextlib.contextmanager
    def prepared(
        self, profile: Profile, sessions: Sequence[Session] | None = None
    ) -> Iterator[tuple[list[Session], Redaction]]:
        """Open the sessions, or redacted copies of them."""
        wanted = self.sessions if sessions is None else list(sessions)
        # A copy is read twice before it is exported.
        self._total += 2 * sum(_size(session) for session in wanted) if profile != "none" else 0
        redactor = redactor_for(profile, library=self._library, same_length=self.same_length)
        raw = self.format.name == "jsonl"
        with redacted_sessions(wanted, redactor=redactor, progress=self._advance, resumable=raw) as (opened, redaction):
            if profile != "none":
                self.result.redacted = {"profile": profile, "values": redaction.values, "kinds": redaction.kinds}
                self.result.left_out += redaction.left_out
            yield opened, redaction

    def document(self, session: Session, redaction: Redaction) -> Document:
        """Return the document of a session; messages that were named otherwise are found in it."""
        told = None
        if redaction.profile != "none":
            told = documents.Redaction(redaction.profile, redaction.values, redaction.kinds)
        options = self.options
        named = replace(
            options, start=_message(session, options.start), end=_message(session, options.end),
            message=None if options.message is None else message_uuid(session, options.message),
        )  # fmt: skip
        return Document(session, named, redaction=told)

    def write(self, opened: Sequence[Session], out: StagedOutput, redaction: Redaction) -> None:
        self.format.write(_Documents(self, opened, redaction), out, self.options)

    def note(self, document: Document) -> None:
        """Note what was left out of a document that was written, and how far the export is."""
        whose = f"{document.id[:8]}: " if len(self.sessions) > 1 else ""
        self.result.left_out += [f"{whose}{words}" for words in document.all_left_out()]
        self.result.messages += document.count
        session = cast("Session", document.session)
        self._advance(_size(session))
        if len(self.sessions) > 1:
            session.forget()

    def _advance(self, count: int) -> None:
        self._done += count
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)

    def check(self, staging: Staging, redaction: Redaction) -> None:
        """Search what was written once more. Raises Refused, and then nothing of it is left."""
        refuse_leaks(staging.paths(), redaction)

    def _place(self, staging: Staging, folder: Path, target: Path) -> None:
        notes = ExportNotes(self._library.own_folder)
        known = notes.read().get(str(target), {})
        names = sorted(staging.files, key=lambda name: name == target.name)  # what it refers to comes first
        hashes = {name: hash_of(staging.path(name)) for name in names}
        check_places(folder, known, hashes, force=self.force)
        notes.note(target, hashes)
        put_in_place(staging, folder, names)
        self.result.removed = [str(folder / name) for name in remove_old(folder, known, known.keys() - set(names))]
        self.result.files = [str(folder / name) for name in reversed(names)]
        self.result.bytes = sum(staging.files.values())

    def name_of(self, session: Session) -> str:
        """Return the name of a session's file, without its ending."""
        found = Document(session, self.options)
        return file_name(found.day(found.started), found.title, found.id)

    def _refuse_several(self) -> None:
        if len(self.sessions) > 1 and not self.format.holds_many:
            raise Refused(
                f"a file of the format {self.format.name} holds one session", slug="several-sessions",
                hint="--into DIR writes a file for each of them",
            )  # fmt: skip

    def _finished(self) -> ExportResult:
        if self.result.files and self.format.name in ("md", "html", "text"):
            names = " ".join(shlex.quote(name) for name in self.result.files)
            self.result.gist = f"gh gist create {names}"
        return self.result


class _Documents:
    """The documents of some sessions, opened one after the other; may be read several times."""

    def __init__(self, exporter: Exporter, sessions: Sequence[Session], redaction: Redaction) -> None:
        self._exporter = exporter
        self._sessions = sessions
        self._redaction = redaction
        self._noted: set[int] = set()

    def __iter__(self) -> Iterator[Document]:
        for place, session in enumerate(self._sessions):
            document = self._exporter.document(session, self._redaction)
            yield document
            if place not in self._noted:
                self._noted.add(place)
                self._exporter.note(document)


def format_for(path: str | os.PathLike[str] | None, name: str | None) -> Format:
    """Return the format of this name; without one, that of the file's ending, else Markdown."""
    if name is not None:
        return format_named(name)
    ending = os.path.splitext(os.fspath(path))[1].lower() if path is not None else ""
    return FORMATS[_ENDINGS.get(ending, "md")]


def export(
    library: Library,
    sessions: Chosen,
    to: ExportTarget = None,
    *,
    format: str | None = None,
    into: str | os.PathLike[str] | None = None,
    site: str | os.PathLike[str] | None = None,
    redact: str | bool | None = None,
    same_length: bool = False,
    force: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> ExportResult:
    """Export sessions: see `Library.export`."""
    from .session import Session

    if sum(place is not None for place in (to, into, site)) > 1:
        raise Refused("an export has one target: a file, a folder or a site", slug="bad-option")
    several = [sessions] if isinstance(sessions, str | Session) else sessions
    opened = [library.session(item) if isinstance(item, str) else item for item in several]
    path = to if isinstance(to, str | os.PathLike) else None
    wanted = SITE if site is not None else format_for(path, format)
    exporter = Exporter(
        library,
        opened,
        wanted,
        export_options(wanted, **options),
        redact=redact,
        same_length=same_length,
        force=force,
        progress=progress,
    )
    if site is not None:
        return exporter.to_site(site)
    if into is not None:
        return exporter.to_folder(into)
    if to is not None and not isinstance(to, str | os.PathLike):
        return exporter.to_stream(to)
    return exporter.to_file(path)


def _message(session: Session, reference: int | str | None) -> int | str | None:
    """Return the number of a message as it is, and the uuid of one that was named otherwise."""
    if not isinstance(reference, str):
        return reference
    digits = reference.strip()
    return (
        int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else message_uuid(session, reference)
    )


def _size(session: Session) -> int:
    return session.file.size + sum(item.size for item in session.file.subagents)


def _made(folder: Path) -> Path:
    make_folder(folder)
    return folder
