"""Write sessions into a bundle, and unpack a bundle into a home, optionally with other project paths."""

from __future__ import annotations

import contextlib
import json
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypedDict, Unpack

from ..edit.move import build_move
from ..edit.restore_files import FileToRestore, RestoreResult, plan_restore
from ..errors import DamagedData, NotFound, Refused
from ..format.path_text import to_text as path_text
from ..journal import disk
from ..journal import locks as presence
from ..journal.changes import Change, Journal
from ..store.home import Home, open_inside
from ..store.path_map import path_map
from ..vault.bundle import BundledSession, BundleLimits, BundleReader, FileToBundle, encode_bundle, why_refused
from ..vault.manifest import to_text
from .belongings import belongings
from .session import Session

_A_DAY_NS: Final = 86_400 * 10**9
_PIECE: Final = 1 << 20


class BundleOptions(TypedDict, total=False):
    """What may be asked of a bundle."""

    redact: str
    """What is left out: "none" (if not given), "secrets", "personal" or "all". See `Session.redacted`."""
    same_length: bool
    """Whether what stands in the place of a value is as long as the value."""


def bundle_sessions(sessions: Sequence[Session], target: Path, **options: Unpack[BundleOptions]) -> dict[str, Any]:
    """Write sessions, redacted if that is asked for, into a new bundle, and tell what was written."""
    redact, same_length = options.get("redact", "none"), options.get("same_length", False)
    told: dict[str, Any] = {"path": str(target), "sessions": [item.id for item in sessions]}
    if redact == "none":
        told["files"], told["bytes"] = write_bundle(sessions, target)
        return told
    from .redaction import files_below, redacted_sessions, redactor_for, refuse_leaks

    _refuse_existing(target)
    redactor = redactor_for(redact, library=sessions[0].library, same_length=same_length)
    with redacted_sessions(sessions, redactor=redactor, resumable=True) as (copies, redaction):
        refuse_leaks(files_below(copies), redaction)  # before they are compressed
        root = redaction.redactor.redact(str(sessions[0].home.root)).text
        told["files"], told["bytes"] = write_bundle(copies, target, root=root)
        told["redaction"] = redaction.as_dict()
    return told


def _refuse_existing(target: Path) -> None:
    if os.path.lexists(target):
        raise Refused(f"{target} exists already", slug="exists")


def write_bundle(sessions: Sequence[Session], target: Path, *, root: str | None = None) -> tuple[int, int]:
    """Write sessions with all their files into a new bundle. Returns the number of files and the bundle's size.

    `root` is what the bundle says of the home's place, if that is not to be told.
    """
    _refuse_existing(target)
    homes = {session.home.real_root: session.home for session in sessions}
    if len(homes) != 1:
        raise Refused("the sessions are in several homes", hint="make a bundle of each home", slug="several-homes")
    home = next(iter(homes.values()))
    files: dict[str, FileToBundle] = {}
    for path in belongings(home, sessions):
        name = path.relative_to(home.root).as_posix()
        if why_refused(name) is None:
            files[name] = FileToBundle(name, path.stat().st_mtime_ns, partial(_chunks, home, path))
    listed = [
        BundledSession(
            item.id, path_text(item.file.folder), _sayable(item.summary.project), _sayable(item.summary.title)
        )
        for item in sessions
    ]
    root = root or (home.real_root if home.kept_from is None else os.path.realpath(home.kept_from))
    fresh = target.with_name(f".{target.name}.recollect-tmp")
    try:
        disk.remove_if_there(fresh)
        size = disk.write_new(fresh, encode_bundle(to_text(root), time.time(), listed, list(files.values())))
        disk.put_in_place(fresh, target, fresh)
    except ValueError as problem:
        raise DamagedData(
            str(problem), slug="changed-meanwhile", hint="try again when the session is at rest"
        ) from problem
    except OSError as problem:
        raise disk.explain(problem, target) from problem
    return len(files), size


def _sayable(text: str | None) -> str | None:
    """Replace lone surrogates, which JSON cannot hold."""
    return None if text is None else text.encode("utf-8", "replace").decode()


def _chunks(home: Home, path: Path) -> Iterator[bytes]:
    with open_inside(home, path, buffering=0) as stream:
        while chunk := stream.read(_PIECE):
            yield chunk


class Unbundling:
    """A bundle, unpacked into Recollect's own data folder and checked. Leaving `with` removes what was unpacked."""

    def __init__(self, journal: Journal, source: Path, limits: BundleLimits | None = None) -> None:
        self._journal = journal
        self._source = source
        self._limits = limits
        self._root = journal.staging / f"bundle-{uuid.uuid4().hex}"
        self._claim: int | None = None

    def __enter__(self) -> Unbundling:
        try:
            self._claim = presence.make_claimed_folder(self._root, disk.make_folders)
            with open(self._source, "rb") as stream:
                self._unpack(BundleReader(stream, self._limits))
        except FileNotFoundError as problem:
            self.__exit__()
            raise NotFound(f"no such file: {self._source}", slug="no-such-file") from problem
        except OSError as problem:
            self.__exit__()
            raise disk.explain(problem, self._root) from problem
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            disk.remove_tree(self._root)
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

    def _unpack(self, reader: BundleReader) -> None:
        self.head = reader.head
        for file, chunks in reader.files():
            target = self._root / "home" / file.path
            disk.make_folders(target.parent)
            disk.write_new(target, chunks)
            # A day older until it is in its place: a file written just now would count as in use.
            disk.set_times(target, file.mtime_ns - _A_DAY_NS)

    def plan(self, home: Home, maps: Sequence[tuple[str, str]] = ()) -> tuple[Change, RestoreResult]:
        """Plan the change that puts the sessions into a home. `maps` replaces paths of projects first."""
        unpacked = Home(self._root / "home")
        if maps:
            journal = Journal(self._root / "data")
            try:
                change, _ = build_move(
                    journal, unpacked, "move", "Paths of another machine", path_map(maps), force=True
                )
            except NotFound as problem:
                raise NotFound(
                    f"nothing in the bundle is about {', '.join(old for old, _ in maps)}",
                    nearest=tuple(sorted({item.project for item in self.head.sessions if item.project})),
                    hint="these are the projects of its sessions", slug="no-such-project",
                ) from problem  # fmt: skip
            with change:
                change.commit()
        names = ", ".join(item.session_id for item in self.head.sessions[:3])
        more = " ..." if len(self.head.sessions) > 3 else ""
        items = self._items(unpacked, home)
        change, result = plan_restore(self._journal, home, items, title=f"Unbundle {names}{more}", name="unbundle")
        back = {Path(path).stem for path in result.files}
        result.sessions = [item.session_id for item in self.head.sessions if item.session_id in back]
        return change, result

    def _items(self, unpacked: Home, home: Home) -> Iterator[FileToRestore]:
        for folder, below, names in os.walk(unpacked.root):
            below.sort()
            for name in sorted(names):
                path = Path(folder, name)
                info = path.lstat()
                place = path.relative_to(unpacked.root).as_posix()
                chunks = partial(self._placed, unpacked, path, home)
                size = info.st_size if path.suffix != ".jsonl" else sum(len(chunk) for chunk in chunks())
                yield FileToRestore(place, size, info.st_mtime_ns + _A_DAY_NS, chunks)

    def _placed(self, unpacked: Home, path: Path, home: Home) -> Iterator[bytes]:
        """Yield a file's bytes, with the folder of the unpacking, which a move may have written, replaced by the home's."""
        if path.suffix != ".jsonl":
            yield from _chunks(unpacked, path)
            return
        old, new = (json.dumps(str(item.root))[1:-1].encode() for item in (unpacked, home))
        plain = [str(item.root).encode("utf-8", "surrogateescape") for item in (unpacked, home)]
        with open_inside(unpacked, path) as stream:
            for line in stream:
                yield line.replace(old, new).replace(plain[0], plain[1]) if self._root.name.encode() in line else line
