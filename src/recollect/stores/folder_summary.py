"""Keep summaries of a folder store: a small file per session with the folded summary and how far it was folded.

The files are in ``<root>/.recollect/summaries/`` and can be deleted at any time. One that is behind (its writer was
killed, or Claude Code itself appended) is updated from the transcript's tail; one that does not match is rebuilt.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import RecollectError
from .contained_folder import ContainedFolder
from .entry_text import decode_lines
from .file_progress import Mark, lines_from, mark_at
from .keys import Place
from .summary_fold import FOLD_VERSION, fold

_FOLDERS: Final = (".recollect", "summaries")


@dataclass(slots=True)
class FoldedFile:
    """The summary of the complete lines before the mark."""

    mark: Mark = field(default_factory=Mark)
    data: dict[str, Any] = field(default_factory=dict)


def kept_summary(root: ContainedFolder, place: Place, fd: int) -> FoldedFile:
    """Return the stored summary of a transcript (open as `fd`) if it matches; else an empty one."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecollectError):
        with _folder(root, place) as folder, open(folder.open_file(_name(place), os.O_RDONLY), "rb") as stream:
            kept = json.loads(stream.read())
        mark = Mark(int(kept["offset"]), str(kept["tail"]))
        if kept["fold"] == FOLD_VERSION and isinstance(kept["data"], dict) and mark.offset > 0 and mark.holds(fd):
            return FoldedFile(mark, kept["data"])
    return FoldedFile()


def brought_up_to_date(folded: FoldedFile, fd: int) -> FoldedFile:
    """Return the summary with the complete lines that were appended since."""
    end = folded.mark.offset

    def complete_lines() -> Iterator[bytes]:
        nonlocal end
        for line in lines_from(fd, end):
            if line.endswith(b"\n"):
                end += len(line)
                yield line

    data = fold(folded.data, decode_lines(complete_lines()))
    return FoldedFile(mark_at(fd, end), data)


def keep_summary(root: ContainedFolder, place: Place, folded: FoldedFile) -> None:
    """Store a summary for the next list. The caller holds the transcript's lock."""
    kept = {"fold": FOLD_VERSION, "offset": folded.mark.offset, "tail": folded.mark.tail, "data": folded.data}
    with _folder(root, place, create=True) as folder:
        folder.write_whole(_name(place), json.dumps(kept, separators=(",", ":")).encode())


def forget_summary(root: ContainedFolder, place: Place) -> None:
    with contextlib.suppress(OSError, RecollectError), _folder(root, place) as folder:
        folder.unlink(_name(place))


def _name(place: Place) -> str:
    return f"{place.session_id}.json"


@contextlib.contextmanager
def _folder(root: ContainedFolder, place: Place, *, create: bool = False) -> Iterator[ContainedFolder]:
    with contextlib.ExitStack() as opened:
        folder = root
        for name in (*_FOLDERS, place.project_key):
            folder = opened.enter_context(folder.child(name, create=create))
        yield folder
