"""Keep a folder of exports up to date: a file for each session, or a site. Only what changed is written.

The file `.recollect-export.json` in the folder remembers which files belong to which session, what they were written from, and
their hashes. So a session keeps the name it first got, also when its title changes; a file that was edited by hand is not
replaced; and an unchanged session is not read at all.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from .. import __version__
from ..errors import Refused
from ..export.document import Document
from ..export.formats import Pieces, SiteSession
from .export_target import (
    StagedOutput,
    Staging,
    check_places,
    check_replaceable,
    hash_of,
    put_in_place,
    remove_old,
    staged,
)
from .redaction import Redaction

if TYPE_CHECKING:
    from .exporting import Exporter, ExportResult
    from .session import Session

MANIFEST: Final = ".recollect-export.json"
LAYOUT: Final = 1
"""Raised when formats write something else for the same session: then every file is written again."""


class _Known(Struct, kw_only=True, omit_defaults=True):
    """What is known of a session's files."""

    name: str = ""
    seen: str = ""
    """A hash over the stamps of the session's files and the options."""
    files: dict[str, str] = {}
    """Name to hash."""
    facts: dict[str, Any] | None = None


class _Manifest(Struct, kw_only=True):
    recollect_export_folder: int = LAYOUT
    sessions: dict[str, _Known] = {}
    pages: dict[str, str] = {}
    """Files that belong to no session: name to hash."""


def write_folder(exporter: Exporter, folder: Path) -> ExportResult:
    """Write a file for each session that changed."""
    manifest = _read(folder)
    profile = exporter.profile_for(folder)
    result = exporter.result
    changed: list[Session] = []
    for session in exporter.sessions:
        known = manifest.sessions.get(_key(exporter, session))
        if known is not None and known.seen == _seen(exporter, session, profile) and _are_there(folder, known):
            result.unchanged += 1
        else:
            changed.append(session)
    if not changed:
        return result
    with exporter.prepared(profile, changed) as (opened, redaction), staged(folder) as staging:
        written: dict[str, _Known] = {}
        for original, session in zip(changed, opened, strict=True):
            key = _key(exporter, original)
            name = _name(exporter, session, manifest, written, key)
            _check_free(folder, name, manifest.sessions.get(key), force=exporter.force)
            out = StagedOutput(staging, name, exporter.format.suffix)
            exporter.write([session], out, redaction)
            written[key] = _Known(
                name=name, seen=_seen(exporter, original, profile), files=dict.fromkeys(out.files, "")
            )
        exporter.check(staging, redaction)
        _place(exporter, staging, folder, manifest, written)
    return result


def _place(
    exporter: Exporter, staging: Staging, folder: Path, manifest: _Manifest, written: dict[str, _Known]
) -> None:  # fmt: skip
    """Move the staged files to their places, and note them."""
    known: dict[str, str] = {}
    for key in written:
        known |= manifest.sessions[key].files if key in manifest.sessions else {}
    for item in written.values():
        item.files = {name: hash_of(staging.path(name)) for name in item.files}
    names = [name for item in written.values() for name in item.files]
    hashes = {name: mark for item in written.values() for name, mark in item.files.items()}
    check_places(folder, known, hashes, force=exporter.force)
    manifest.sessions |= written
    _stage(staging, manifest)
    put_in_place(staging, folder, [*names, MANIFEST])
    result = exporter.result
    result.removed = [str(folder / name) for name in remove_old(folder, known, known.keys() - set(names))]
    result.files = [str(folder / name) for name in names]
    result.bytes = sum(staging.files[name] for name in names)


def _name(exporter: Exporter, session: Session, manifest: _Manifest, written: dict[str, _Known], key: str) -> str:
    """Return the name that a session's file has, or a new one that no other session's file has."""
    known = manifest.sessions.get(key)
    if known is not None and known.name:
        return known.name
    taken = {item.name.casefold() for item in (*manifest.sessions.values(), *written.values())}
    stem, suffix = exporter.name_of(session), exporter.format.suffix
    for name in (f"{stem}{suffix}", f"{stem} {session.id[:8]}{suffix}"):
        if name.casefold() not in taken:
            return name
    return f"{stem} {session.id}{suffix}"


def _check_free(folder: Path, name: str, known: _Known | None, *, force: bool) -> None:
    check_replaceable(folder / name, known.files.get(name) if known is not None else None, force=force)


class _SiteOutput:
    """The folder of a site: see `export.formats.SiteOutput`."""

    name = "index.html"
    stem = "index"
    may_be_several = True

    def __init__(self, staging: Staging) -> None:
        self._staging = staging
        self.remembered: dict[str, tuple[dict[str, Any], list[str]]] = {}

    def write(self, name: str, pieces: Pieces) -> int:
        return self._staging.write(name, pieces)

    def remember(self, session_id: str, facts: dict[str, Any], files: Iterable[str]) -> None:
        self.remembered[session_id] = (facts, list(files))


def write_site(exporter: Exporter, folder: Path) -> ExportResult:
    """Write the pages of sessions that changed, and the pages over all."""
    manifest = _read(folder)
    profile = exporter.profile_for(folder)
    ids = [session.id for session in exporter.sessions]
    if len(set(ids)) < len(ids):
        raise Refused("two homes have a session of the same id", slug="several-homes", hint="name one home with --home")
    seen = {session.id: _seen(exporter, session, profile) for session in exporter.sessions}
    changed = []
    for session in exporter.sessions:
        known = manifest.sessions.get(session.id)
        if known is None or known.seen != seen[session.id] or known.facts is None or not _are_there(folder, known):
            changed.append(session)
    exporter.result.unchanged = len(exporter.sessions) - len(changed)
    with contextlib.ExitStack() as stack:
        opened: dict[str, Session] = {}
        redaction: Redaction | None = None
        if changed:
            copies, redaction = stack.enter_context(exporter.prepared(profile, changed))
            opened = {session.id: session for session in copies}
        staging = stack.enter_context(staged(folder))
        out = _SiteOutput(staging)
        sessions = (
            SiteSession(
                session.id, None if session.id in opened else manifest.sessions[session.id].facts,
                _opener(exporter, opened.get(session.id), session, redaction),
            )
            for session in exporter.sessions
        )  # fmt: skip
        exporter.format.write_site(sessions, out, exporter.options)
        if redaction is not None:
            exporter.check(staging, redaction)
        _place_site(exporter, staging, folder, manifest, out, seen)
    return exporter.result


def _opener(
    exporter: Exporter, copy: Session | None, session: Session, redaction: Redaction | None
) -> Callable[[], contextlib.AbstractContextManager[Document]]:
    @contextlib.contextmanager
    def open_document() -> Iterator[Document]:
        with contextlib.ExitStack() as stack:
            found, told = copy, redaction
            if found is None or told is None:  # unchanged, but the site is written in another layout now
                copies, told = stack.enter_context(exporter.prepared(exporter.profile_for(None), [session]))
                found = copies[0]
            document = exporter.document(found, told)
            yield document
            exporter.note(document)

    return open_document


def _place_site(
    exporter: Exporter, staging: Staging, folder: Path, manifest: _Manifest, out: _SiteOutput, seen: dict[str, str]
) -> None:
    known = manifest.pages | {name: mark for item in manifest.sessions.values() for name, mark in item.files.items()}
    hashes = {name: hash_of(staging.path(name)) for name in staging.files}
    same = {name for name, mark in hashes.items() if known.get(name) == mark and (folder / name).is_file()}
    moved = sorted(hashes.keys() - same, key=lambda name: (name == out.name, name))
    check_places(folder, known, {name: hashes[name] for name in moved}, force=exporter.force)
    all_hashes = known | hashes
    sessions = {
        ident: _Known(
            seen=seen[ident], files={name: all_hashes[name] for name in files if name in all_hashes}, facts=facts
        )
        for ident, (facts, files) in out.remembered.items()
    }
    of_sessions = {name for item in sessions.values() for name in item.files}
    pages = {name: mark for name, mark in hashes.items() if name not in of_sessions}
    result = exporter.result
    left = known.keys() - of_sessions - pages.keys()
    _stage(staging, _Manifest(sessions=sessions, pages=pages))
    put_in_place(staging, folder, [*moved, MANIFEST])
    result.removed = [str(folder / name) for name in remove_old(folder, known, left)]
    result.files = [str(folder / name) for name in moved]
    result.bytes = sum(staging.files[name] for name in moved)


def _key(exporter: Exporter, session: Session) -> str:
    """Return under which name a session is remembered: several formats may share a folder."""
    return f"{exporter.format.name}:{session.id}"


def _seen(exporter: Exporter, session: Session, profile: str) -> str:
    """Return a hash that changes when the session's files, the options or what is redacted change."""
    file = session.file
    options = replace(exporter.options, stamp=None)
    stamps = [(file.size, file.mtime), *((item.subagent_id, item.size, item.mtime) for item in file.subagents)]
    told = repr(
        (LAYOUT, __version__, session.id, stamps, options, exporter.redaction_mark(profile), exporter.format.name)
    )
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()


def _are_there(folder: Path, known: _Known) -> bool:
    return bool(known.files) and all((folder / name).is_file() for name in known.files)


def _read(folder: Path) -> _Manifest:
    """Return what is known of a folder; nothing if the file is damaged: then no file in it is taken for our own."""
    try:
        found = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=_Manifest)
    except (OSError, msgspec.DecodeError):
        return _Manifest()
    return found if found.recollect_export_folder == LAYOUT else _Manifest()


def _stage(staging: Staging, manifest: _Manifest) -> None:
    """Write what is known beside the files, so that no room is needed any more when all of them are put in place."""
    manifest.sessions = dict(sorted(manifest.sessions.items()))
    staging.write(MANIFEST, [msgspec.json.format(msgspec.json.encode(manifest, order="sorted"), indent=1) + b"\n"])
