"""Bookmarks of sessions and messages (``bookmarks.json`` in the data folder). Nothing of them is written into a home."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from msgspec import Struct

from ..errors import DamagedData
from .own_list import OwnList

FILE: Final = "bookmarks.json"


class Bookmark(Struct, frozen=True):
    session_id: str
    message: str | None = None
    """The uuid of a row; None for the session as a whole."""
    note: str = ""
    title: str = ""
    """What the session was called when it was marked: it may be gone one day."""
    time: float = 0.0

    @property
    def key(self) -> tuple[str, str | None]:
        return self.session_id, self.message


def _bookmarks(folder: Path) -> OwnList[Bookmark]:
    return OwnList(folder / FILE, Bookmark, _damaged)


def _damaged(path: Path, why: str) -> DamagedData:
    return DamagedData(f"{path} cannot be read: {why}", hint="mend it, or delete it", slug="bad-bookmarks")


def read_bookmarks(folder: Path) -> list[Bookmark]:
    """All of them, newest first; none where the file is not there."""
    return sorted(_bookmarks(folder).read(), key=lambda item: item.time, reverse=True)


def add_bookmark(folder: Path, session_id: str, message: str | None, note: str, title: str) -> Bookmark:
    """Mark a session or a message, in the place of the mark it had."""
    made = Bookmark(session_id, message, " ".join(note.split())[:500], " ".join(title.split())[:200], time.time())
    _bookmarks(folder).change(lambda found: [made, *(item for item in found if item.key != made.key)])
    return made


def remove_bookmark(folder: Path, session_id: str, message: str | None) -> bool:
    """Take a mark away. Returns whether there was one."""
    key = session_id, message
    before, after = _bookmarks(folder).change(lambda found: [item for item in found if item.key != key])
    return len(after) < len(before)
