"""Collect the steps of a move: files and folders to rename, and edits of files that the same change renames."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import Refused
from ..journal.actions import Append, Remove, Replace
from ..journal.changes import Change, lacks_newline
from ..journal.disk import hashed, new_hash
from ..store.home import open_inside, read_inside
from ..store.path_map import PathMap
from ..store.project_folders import MovingFolder
from ..store.stamp import stamp_of
from .config_paths import INDEX, index_bytes, index_entries, listed_session, moved_index_entry


class MovingChange(Change):
    """A change whose later steps write to files under the names that its earlier steps give them.

    Those steps name the new path, which is right for undo as well, since undo goes backwards. The content was read at the
    old path, and must not change until `commit`.
    """

    def move(self, source: Path, target: Path) -> None:
        super().move(source, target)
        if source.is_dir():  # later steps put things into folders that are there by then
            self._made.update(str(target / Path(folder).relative_to(source)) for folder, _, _ in os.walk(source))

    def append_moved(self, now: Path, then: Path, data: bytes) -> None:
        """Append lines to a file that an earlier step moves; its time stays."""
        before = stamp_of(now)
        if before is not None and lacks_newline(now, before):
            data = b"\n" + data
        self.rely_on(now)
        step = Append(str(then), f"append-{len(self.steps)}", before, len(data), keep_mtime=True)
        self._stage(step.staged, [data])
        self._appended_moved.add(step.staged)
        self.steps.append(step)

    def rewrite_moved(self, now: Path, then: Path, chunks: Iterable[bytes], mtime_ns: int | None) -> None:
        """Replace the bytes of a file that an earlier step moves."""
        self.rely_on(now)
        digest, number = new_hash(), len(self.steps)
        self._stage(f"new-{number}", hashed(chunks, digest), mode=stat.S_IMODE(now.stat().st_mode))
        step = Replace(str(then), f"new-{number}", f"old-{number}", stamp_of(now), digest.hexdigest(), mtime_ns)
        self.steps.append(step)

    def remove_moved(self, then: Path) -> None:
        """Remove a file that an earlier step moves."""
        self.steps.append(Remove(str(then), f"removed-{len(self.steps)}"))

    @cached_property
    def _appended_moved(self) -> set[str]:
        return set()

    def _stage_appended(self) -> None:
        everything = self.steps
        self.steps = [step for step in everything if getattr(step, "staged", None) not in self._appended_moved]
        try:
            super()._stage_appended()
        finally:
            self.steps = everything


class Placing:
    """Collects the moves of a change and knows where every file will be."""

    def __init__(self, change: MovingChange, label: str) -> None:
        self.change = change
        self.label = label
        """Part of the new name of a file whose own name is taken."""
        self.clashes: list[Path] = []
        self.renamed: list[Path] = []
        self._placed: dict[Path, tuple[Path, Path]] = {}
        self._coming: dict[Path, Path] = {}
        """The sources of moves to free paths, by those paths."""

    def existing(self, place: Path) -> Path | None:
        """Return the present path of what will be at a place after the change; None if nothing will."""
        for parent in [place, *place.parents]:
            if parent in self._coming:
                source = self._coming[parent] / place.relative_to(parent)
                return source if os.path.lexists(source) else None
        return place if os.path.lexists(place) else None

    def put(self, source: Path, target: Path) -> None:
        """Move a file or folder to a path that is free or holds the same bytes; any other is a clash."""
        if source != target:
            _refuse_links(source)
            self._put(source, target, keep_both=False)

    def put_content(self, source: Path, target: Path, skip: Collection[str] = ()) -> None:
        """Move the content of a folder into another one, item by item. The caller removes the empty folder."""
        _refuse_links(source)
        for child in sorted(source.iterdir()):
            if child.name not in skip:
                self._put(child, target / child.name, keep_both=child.name == "memory")

    def _put(self, source: Path, target: Path, *, keep_both: bool) -> None:
        existing = self.existing(target)
        if existing is None:
            self._move(source, target)
        elif source.is_dir() and existing.is_dir() and not existing.is_symlink():
            for child in sorted(source.iterdir()):
                self._put(child, target / child.name, keep_both=keep_both)
            self.change.remove_folder(source)
        elif self._same_bytes(source, existing):
            self.change.rely_on(existing)
            self.change.remove(source)
            self._placed[source] = (existing, target)
        elif keep_both and source.is_file():
            beside = self.free_name(target)
            self.renamed.append(beside)
            self._move(source, beside)
        else:
            self.clashes.append(target)

    def _move(self, source: Path, target: Path) -> None:
        self.change.move(source, target)
        self._placed[source] = (source, target)
        self._coming[target] = source

    def copy(self, source: Path, target: Path) -> None:
        """Copy a file, under another name if a different file has its name."""
        existing = self.existing(target)
        if existing is not None:
            if self._same_bytes(source, existing):
                return
            target = self.free_name(target)
            self.renamed.append(target)
        self.change.rely_on(source)
        self.change.write(target, self._chunks(source), mtime_ns=source.stat().st_mtime_ns)
        self._coming[target] = source

    def free_name(self, path: Path) -> Path:
        for number in range(1, 1000):
            again = "" if number == 1 else f"-{number}"
            candidate = path.with_name(f"{path.stem}-from-{self.label}{again}{path.suffix}")
            if self.existing(candidate) is None:
                return candidate
        raise Refused(f"{path} exists already", slug="exists")

    def place_of(self, path: Path) -> tuple[Path, Path]:
        """Return the path of a file now, and its path after the change."""
        for parent in [path, *path.parents]:
            if parent in self._placed:
                now, then = self._placed[parent]
                rest = path.relative_to(parent)
                return now / rest, then / rest
        return path, path

    def append(self, path: Path, data: bytes) -> None:
        """Append lines to a file that may move in this change; its time stays."""
        now, then = self.place_of(path)
        if now == then:
            self.change.rely_on(now)
            self.change.append(now, data, keep_mtime=True)
        else:
            self.change.append_moved(now, then, data)

    def rewrite(self, path: Path, chunks: Iterable[bytes]) -> None:
        """Replace the bytes of a file that may move in this change; its time stays."""
        now, then = self.place_of(path)
        mtime_ns = now.stat().st_mtime_ns
        if now == then:
            self.change.write(now, chunks, mtime_ns=mtime_ns, replace=True)
        else:
            self.change.rewrite_moved(now, then, chunks, mtime_ns)

    def remove(self, path: Path) -> None:
        """Remove a file that may move in this change."""
        now, then = self.place_of(path)
        if now == then:
            self.change.remove(now)
        else:
            self.change.remove_moved(then)

    def _same_bytes(self, one: Path, other: Path) -> bool:
        if not (one.is_file() and other.is_file()) or one.stat().st_size != other.stat().st_size:
            return False
        with open_inside(self.change.home, one) as left, open_inside(self.change.home, other) as right:
            while True:
                piece = left.read(1 << 20)
                if piece != right.read(1 << 20):
                    return False
                if not piece:
                    return True

    def _chunks(self, path: Path) -> Iterator[bytes]:
        with open_inside(self.change.home, path) as stream:
            while chunk := stream.read(1 << 20):
                yield chunk

    def refuse_clashes(self, why: str) -> None:
        if self.clashes:
            shown = "\n".join(f"  {path}" for path in self.clashes[:20])
            raise Refused(
                f"{why}: {len(self.clashes)} files are there already, with other content\n{shown}",
                hint="nothing was changed; rename or delete one of each first", slug="collision",
            )  # fmt: skip


def has_files(folder: Path) -> bool:
    """Whether a folder holds anything but empty folders."""
    return any(files for _, _, files in os.walk(folder))


def _refuse_links(path: Path) -> None:
    """Raise Refused for links: relative ones would lead elsewhere from the new path, and links to the old path nowhere."""
    below = (Path(folder, name) for folder, folders, files in os.walk(path) for name in [*folders, *files])
    for item in [path, *below]:
        if item.is_symlink():
            raise Refused(
                f"{item} is a link, which would not lead to the same place after the move",
                hint="nothing was changed; replace it by what it leads to, or take it away", slug="outside-home",
            )  # fmt: skip


@dataclass
class _Index:
    path: Path
    head: dict[str, Any]
    entries: list[dict[str, Any]]
    before: list[dict[str, Any]]


class MovingIndexes:
    """The session indexes of folders that move. Each is written once, however many folders are merged."""

    def __init__(self, placing: Placing, paths: PathMap) -> None:
        self.placing = placing
        self.paths = paths
        self._known: dict[Path, _Index] = {}
        """The indexes by their paths after the change."""

    def along(self, folder: MovingFolder) -> None:
        """Update the index of a folder that moves as a whole, or stays."""
        index = self._open(folder.source / INDEX)
        if index is not None:
            index.entries = self._moved(index.entries, folder)

    def over(self, folder: MovingFolder) -> None:
        """Move entries into the index of an existing folder, if it has one (else Claude Code makes one)."""
        source, existing = folder.source / INDEX, self.placing.existing(folder.target / INDEX)
        known, joined = self._open(source), self._open(existing) if existing is not None else None
        moving = _ids(folder)
        if known is not None and joined is not None:
            held = {listed_session(entry) for entry in joined.entries}
            new = [e for e in self._moved(known.entries, folder) if listed_session(e) in moving - held]
            joined.entries = [*joined.entries, *new]
        if folder.whole:
            if source.exists():
                self._known.pop(source, None)
                self.placing.change.remove(source)
        elif known is not None:
            known.entries = [entry for entry in known.entries if listed_session(entry) not in moving]

    def write(self) -> None:
        """Plan to write the indexes that changed."""
        for index in self._known.values():
            if index.entries != index.before:
                self.placing.rewrite(index.path, [index_bytes(index.head, index.entries)])

    def _open(self, path: Path) -> _Index | None:
        """Return the index at this path on disk; None if there is none."""
        then = self.placing.place_of(path)[1]
        if then not in self._known:
            found = index_entries(read_inside(self.placing.change.home, path)) if path.is_file() else None
            if found is None:
                return None
            self._known[then] = _Index(path, *found, found[1])
        return self._known[then]

    def _moved(self, entries: list[dict[str, Any]], folder: MovingFolder) -> list[dict[str, Any]]:
        moving = _ids(folder)
        return [
            moved_index_entry(entry, self.paths, folder.target / f"{entry['sessionId']}.jsonl")
            if listed_session(entry) in moving
            else entry
            for entry in entries
        ]


def _ids(folder: MovingFolder) -> set[object]:
    return {session.session_id for session in folder.sessions}
