"""Decide where an export may be written, and write it there: privately, completely or not at all.

Files are staged in a private folder beside their place and moved there when all of them are complete and hold no secret that
was to be left out. Nothing is written into a Claude home, through a link, or over a file that Recollect did not write: it knows
its own files by the hash that it noted when it wrote them, so a file that was changed since is not its own either.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from ..environment import home_candidates
from ..errors import NotFound, RecollectError, Refused
from ..export.formats import Pieces
from ..export.json_text import whole_text
from ..journal import disk
from ..journal import locks as presence
from .own_list import replace_own_file

if TYPE_CHECKING:
    from .library import Library

_STAGING: Final = ".recollect-export-"
_AT_ONCE: Final = 1 << 18
_PIECE: Final = 1 << 20
_MOST_NOTED: Final = 5000
"""How many exports are remembered; a file that was forgotten needs --force."""
_NAMED: Final = ("history.jsonl", "statsig", "todos", "shell-snapshots", ".credentials.json", "file-history")
_NO_NAME: Final = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*#^\[\]]+')
_RESERVED: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
_LONGEST_NAME: Final = 120


def file_name(day: str, title: str, ident: str) -> str:
    """Return a file name for a session, without its ending: ``2026-03-02 A title``. Any title gives a name that is allowed."""
    words = " ".join(_NO_NAME.sub(" ", whole_text(title)).split()).strip(". ")
    while len(words.encode()) > _LONGEST_NAME:
        words = words[:-1].rstrip(". ")
    if not words or _RESERVED.match(words):
        words = f"{words} {ident[:8]}".strip()
    return f"{day} {words}" if day else words


class Staging:
    """Files that are being written, in a private folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: dict[str, int] = {}
        """The names of the staged files, with their sizes."""
        self.scratch: list[Path] = []

    def write(self, name: str, pieces: Pieces) -> int:
        """Write a file below the folder."""
        path = self.folder / "files" / name
        if name in self.files:
            raise ValueError(f"{name} is written twice")
        self.files[name] = 0
        self.files[name] = self._write(path, pieces)
        return self.files[name]

    def write_scratch(self, path: Path, pieces: Pieces) -> None:
        """Write a private file, in place of an earlier one."""
        with contextlib.suppress(FileNotFoundError):
            disk.remove_if_there(path)
        self.scratch.append(path)
        self._write(path, pieces)

    def _write(self, path: Path, pieces: Pieces) -> int:
        try:
            disk.make_folders(path.parent)
            return disk.write_new(path, _encoded(pieces))
        except OSError as problem:
            raise disk.explain(problem, path.name) from problem

    def path(self, name: str) -> Path:
        return self.folder / "files" / name

    def paths(self) -> list[Path]:
        """Return all staged files, private ones included: those that are searched for secrets."""
        return [*(self.path(name) for name in self.files), *self.scratch]


class StagedOutput:
    """Where a format writes one document: see `export.formats.Output`."""

    def __init__(self, staging: Staging, name: str, suffix: str, *, may_be_several: bool = True) -> None:
        self._staging = staging
        self.name = name
        self.stem = name.removesuffix(suffix) if suffix else name
        self.may_be_several = may_be_several
        self.files: list[str] = []

    def write(self, name: str, pieces: Pieces) -> int:
        if not self.may_be_several and name != self.name:
            raise Refused(
                "this export is more than one file", slug="several-files", hint="name a file with -o, or use --into"
            )
        self.files.append(name)
        return self._staging.write(name, pieces)

    def scratch(self, name: str) -> Path:
        return self._staging.folder / f"{len(self._staging.scratch)}-{name}"

    def write_scratch(self, path: Path, pieces: Pieces) -> None:
        self._staging.write_scratch(path, pieces)


@contextlib.contextmanager
def staged(folder: Path) -> Iterator[Staging]:
    """Make a private folder for files on their way into `folder`; it is removed at the end, whatever happens."""
    _remove_abandoned(folder)
    place = folder / f"{_STAGING}{uuid.uuid4().hex[:12]}"
    try:
        claim = presence.make_claimed_folder(place, disk.make_folders)
    except OSError as problem:
        raise disk.explain(problem, folder) from problem
    try:
        yield Staging(place)
    finally:
        with contextlib.suppress(OSError):
            disk.remove_tree(place)
        if claim is not None:
            os.close(claim)


def _remove_abandoned(folder: Path) -> None:
    """Remove what a process left behind that was killed."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(_STAGING):
                with contextlib.suppress(OSError):
                    presence.remove_if_abandoned(folder / name, disk.remove_tree)


def _encoded(pieces: Pieces) -> Iterator[bytes]:
    """Yield text as UTF-8, many small pieces together."""
    waiting: list[bytes] = []
    length = 0
    for piece in pieces:
        data = whole_text(piece).encode() if isinstance(piece, str) else piece
        waiting.append(data)
        length += len(data)
        if length > _AT_ONCE:
            yield b"".join(waiting)
            waiting, length = [], 0
    yield b"".join(waiting)


# --- where it may go --------------------------------------------------------------------------------------------------


def target_path(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path of a target. Raises Refused for a path that no system has."""
    try:
        found = Path(os.path.abspath(os.path.expanduser(path)))
        os.path.lexists(found)
    except ValueError as problem:
        raise Refused(f"{os.fspath(path)!r} is no path", slug="bad-target") from problem
    return found


def refuse_home(library: Library, folder: Path) -> None:
    """Raise Refused if a folder lies in a Claude home, or in Recollect's own data."""
    real = Path(os.path.realpath(folder))
    roots = [home.real_root for home in library.homes]
    roots += [os.path.realpath(home.kept_from) for home in library.homes if home.kept_from is not None]
    roots += [os.path.realpath(path) for path in home_candidates()[0]]
    with contextlib.suppress(RecollectError):
        roots.append(os.path.realpath(library.own_folder("data")))
    for above in (real, *real.parents):
        if str(above) in roots or _looks_like_home(above):
            raise Refused(
                f"{folder} lies in {above}, a folder of Claude Code or of Recollect; exports are not written there",
                hint="choose a folder elsewhere", slug="export-into-home",
            )  # fmt: skip


def _looks_like_home(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        return (folder / "projects").is_dir() and any((folder / name).exists() for name in _NAMED)
    return False


def check_folder(folder: Path) -> None:
    """Raise an error if a folder does not exist or is none."""
    if not folder.exists():
        raise NotFound(f"there is no folder {folder}", slug="bad-target", hint="make it first, or use --into")
    if not folder.is_dir():
        raise Refused(f"{folder} is not a folder", slug="bad-target")


def make_folder(folder: Path) -> None:
    """Make the folder of an export, private to the user, if it does not exist."""
    if os.path.islink(folder) and not folder.exists():
        raise Refused(f"{folder} is a link that leads nowhere", slug="bad-target")
    if folder.exists() and not folder.is_dir():
        raise Refused(f"{folder} exists and is not a folder", slug="bad-target")
    try:
        disk.make_folders(folder)
    except OSError as problem:
        raise disk.explain(problem, folder) from problem


def check_replaceable(path: Path, known: str | None, *, force: bool) -> None:
    """Raise Refused if something stands at a path that may not be replaced; `known` is the hash of what was written there."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise disk.explain(problem, path) from problem
    if stat.S_ISLNK(found.st_mode):
        raise Refused(f"{path} is a link; links are not written through", slug="bad-target")
    if stat.S_ISDIR(found.st_mode):
        raise Refused(f"{path} is a folder", hint="name a file, or use --into for a folder", slug="bad-target")
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f"{path} is not an ordinary file", slug="bad-target")
    if force or (known is not None and hash_of(path) == known):
        return
    reason = "was changed since Recollect wrote it" if known is not None else "exists, and Recollect did not write it"
    raise Refused(f"{path} {reason}", hint="--force replaces it", slug="exists")


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while piece := stream.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def check_places(folder: Path, known: Mapping[str, str], new: Mapping[str, str], *, force: bool) -> None:
    """Raise Refused if one of the `new` files may not be written below a folder. Both map names to hashes."""
    for name, mark in new.items():
        for above in reversed(Path(name).parents[:-1]):
            if os.path.islink(folder / above):
                raise Refused(f"{folder / above} is a link; links are not written through", slug="bad-target")
        try:
            check_replaceable(folder / name, known.get(name), force=force)
        except Refused as problem:
            if problem.slug != "exists" or hash_of(folder / name) != mark:
                raise  # what is there already, byte for byte, was written by a run that did not finish


def put_in_place(staging: Staging, folder: Path, names: Iterable[str]) -> None:
    """Move staged files to their places below a folder; `check_places` comes first."""
    try:
        for name in names:
            disk.make_folders((folder / name).parent)
            disk.replace(staging.path(name), folder / name)
    except OSError as problem:
        raise disk.explain(problem, folder) from problem


def remove_old(folder: Path, known: Mapping[str, str], names: Iterable[str]) -> list[str]:
    """Remove files of an earlier export that the new one does not have, if they are as Recollect wrote them."""
    removed: list[str] = []
    for name in names:
        path = folder / name
        with contextlib.suppress(OSError):
            if not path.is_symlink() and path.is_file() and hash_of(path) == known.get(name):
                disk.remove_file(path)
                removed.append(name)
                disk.remove_empty([path.parent] if path.parent != folder else [])
    return removed


# --- what was written -------------------------------------------------------------------------------------------------


class ExportNotes:
    """Remembers, in Recollect's own data, which files an export wrote: target to {name: hash}."""

    def __init__(self, data: Callable[[str], Path]) -> None:
        self._path = data("data") / "exports.json"

    def read(self) -> dict[str, dict[str, str]]:
        """Return what is noted; nothing if the file cannot be read: then no file is taken for our own."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, dict[str, str]])
        except (OSError, msgspec.DecodeError):
            return {}

    def note(self, target: Path, files: dict[str, str]) -> None:
        """Note the files of an export, before they are put in place. A data folder that cannot be written is no obstacle."""
        noted = self.read()
        noted.pop(str(target), None)
        noted[whole_text(str(target))] = files
        newest = dict(list(noted.items())[-_MOST_NOTED:])
        try:
            replace_own_file(self._path, msgspec.json.encode(newest))
        except OSError as problem:
            if problem.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise disk.explain(problem, self._path) from problem


def in_git_work_tree(folder: Path) -> bool:
    """Return whether a folder lies in a git work tree, where what is written is likely to be committed."""
    real = Path(os.path.realpath(folder))
    with contextlib.suppress(OSError):
        return any((above / ".git").exists() for above in (real, *real.parents))
    return False
