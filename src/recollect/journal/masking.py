"""Mask secrets in what the journal itself keeps: files that changes replaced or removed, bytes that they brought, titles.

What was removed stays to be undone: the masked file comes back. A change whose other kept bytes held a secret, or that wrote a
file which is masked in the home, can no longer be undone: the bytes that it would need are gone. Its state is then `masked`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ..store.stamp import Stamp, stamp_below
from . import disk
from .actions import Append, AppendRun, Remove, Replace, read_left
from .journal import Journal, Record, encode_record

MaskFile = Callable[[Path, str], "Iterable[bytes] | None"]
"""Given a file of the journal and the path that its bytes have in the home: the masked bytes; None where there is no secret."""
_FRESH = "masking.new"


@dataclass
class KeptSecret:
    """A change that keeps a secret, or wrote a file that is masked."""

    record: Record
    files: list[tuple[Path, str]] = field(default_factory=list)
    """What it keeps with a secret in it, each with the path that it has in the home."""
    title: str | None = None
    """The masked title, if it held a secret."""
    loses_undo: bool = False

    @property
    def is_untouched(self) -> bool:
        return not self.files and self.title is None and not self.loses_undo


def kept_secrets(
    journal: Journal,
    masked: MaskFile,
    mask_title: Callable[[str], str],
    rewritten: Collection[str] = (),
    pruned: Callable[[Record], bool] | None = None,
) -> list[KeptSecret]:
    """Return the changes that masking touches. Reads what they keep, and changes nothing.

    `rewritten` are the files of homes that are masked as well, with links resolved; `pruned` says whether a pruned change
    needs bytes of the vault that are masked.
    """
    looked = (_look(journal, record, masked, mask_title, rewritten, pruned) for record in journal.records())
    return [found for found in looked if not found.is_untouched]


def _look(
    journal: Journal,
    record: Record,
    masked: MaskFile,
    mask_title: Callable[[str], str],
    rewritten: Collection[str],
    pruned: Callable[[Record], bool] | None,
) -> KeptSecret:
    found = KeptSecret(record)
    folder = journal.folder_of(record)
    can_come_back = {folder / action.backup for action in record.actions if isinstance(action, Remove)}
    for path, name, top in kept_files(folder, record):
        if masked(path, name) is not None:
            found.files.append((path, name))
            found.loses_undo |= top not in can_come_back
    title = mask_title(record.title)
    found.title = title if title != record.title else None
    wrote = {
        os.path.realpath(action.path) for action in record.actions if isinstance(action, (Append, AppendRun, Replace))
    }
    found.loses_undo |= not wrote.isdisjoint(rewritten) or (
        record.state == "pruned" and pruned is not None and pruned(record)
    )
    found.loses_undo &= record.state in ("done", "pruned") and not record.is_masking
    return found


def kept_files(folder: Path, record: Record) -> Iterator[tuple[Path, str, Path]]:
    """Yield the files that a change keeps, with the paths they have in the home, and the topmost name in its folder."""
    places: dict[str, str] = {"tail": record.actions[0].path} if record.actions else {}
    for action in record.actions:
        for name in (getattr(action, "staged", None), getattr(action, "backup", None)):
            if name is not None:
                places[name] = action.path
    for name, place in places.items():
        top = folder / name
        if top.is_dir() and not top.is_symlink():
            for below, _, names in os.walk(top):
                for each in sorted(names):
                    path = Path(below, each)
                    if path.is_file() and not path.is_symlink():
                        yield path, os.path.join(place, os.path.relpath(path, top)), top
        elif top.is_file() and not top.is_symlink():
            yield top, place, top


def mask_kept(journal: Journal, found: KeptSecret, masked: MaskFile) -> None:
    """Mask what a change keeps. Call with the lock of its home held; a crash leaves nothing that a second call does not end."""
    record = found.record
    folder = journal.folder_of(record)
    try:
        disk.remove_if_there(folder / _FRESH)
        if found.loses_undo:
            journal.mark(folder, "masked")
            record.state = "masked"
        elif record.state == "done":
            _adapt_stamps(journal, found, masked)
        for path, name in found.files:
            chunks = masked(path, name)
            if chunks is not None:
                rewrite(path, chunks, folder / _FRESH)
        if found.title is not None:
            fresh = encode_record(msgspec.structs.replace(record, title=found.title, state="started"))
            rewrite(folder / "change.json", [fresh], folder / _FRESH)
    except OSError as problem:
        raise disk.explain(problem, folder) from problem


def _adapt_stamps(journal: Journal, found: KeptSecret, masked: MaskFile) -> None:
    """Note the stamps that the removed files will have when they are masked: `check_undo` compares with them.

    Before they are masked: if it is interrupted, the next masking finds them, and then they have these stamps.
    """
    folder = journal.folder_of(found.record)
    stamps: dict[str, Stamp] = read_left(folder)
    before = dict(stamps)
    for action in found.record.actions:
        if not isinstance(action, Remove) or action.backup not in stamps:
            continue
        top = folder / action.backup
        now = stamp_below(top)
        if now is None:
            continue
        size = now.size
        for path, name in found.files:
            if path == top or top in path.parents:
                chunks = masked(path, name)
                if chunks is not None:
                    size += sum(len(chunk) for chunk in chunks) - path.stat().st_size
        stamps[action.backup] = Stamp(size, now.mtime_ns)
    if stamps != before:
        journal.mark(folder, "done", stamps)


def rewrite(path: Path, chunks: Iterable[bytes], fresh: Path) -> None:
    """Replace a file of our own; it keeps its time and mode. `fresh` is a free name in the same file system."""
    info = os.stat(path)
    disk.remove_if_there(fresh)
    disk.write_new(fresh, chunks, mode=info.st_mode & 0o777)
    disk.set_times(fresh, info.st_mtime_ns)
    disk.replace(fresh, path)
