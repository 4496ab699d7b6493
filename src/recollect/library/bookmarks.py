"""Bookmarks of sessions and messages (`library.bookmarks`, in ``bookmarks.json`` of the data folder).

Nothing of them is written into a home.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from ..errors import DamagedData, NotFound
from ..format.times import to_iso
from .messages import message_uuid
from .own_list import OwnList

if TYPE_CHECKING:
    from .library import Library

FILE: Final = "bookmarks.json"


class Bookmark(Struct, frozen=True):
    """A mark at a session, or at a message of it."""

    session_id: str
    message: str | None = None
    """The uuid of a row; None for the session as a whole."""
    note: str = ""
    title: str = ""
    """What the session was called when it was marked: it may be gone one day."""
    time: float = 0.0

    @property
    def key(self) -> tuple[str, str | None]:
        """What a mark is known by."""
        return self.session_id, self.message


def read_bookmarks(folder: Path) -> list[Bookmark]:
    """Read all bookmarks, newest first; none where the file is not there."""
    return sorted(_bookmarks(folder).read(), key=lambda item: item.time, reverse=True)


def add_bookmark(folder: Path, session_id: str, message: str | None, note: str, title: str) -> Bookmark:
    """Write a mark at a session or a message, in the place of the mark it had."""
    made = Bookmark(session_id, message, " ".join(note.split())[:500], " ".join(title.split())[:200], time.time())
    _bookmarks(folder).change(lambda found: [made, *(item for item in found if item.key != made.key)])
    return made


def remove_bookmark(folder: Path, session_id: str, message: str | None) -> bool:
    """Take a mark away. Returns whether there was one."""
    key = session_id, message
    before, after = _bookmarks(folder).change(lambda found: [item for item in found if item.key != key])
    return len(after) < len(before)


def _bookmarks(folder: Path) -> OwnList[Bookmark]:
    return OwnList(folder / FILE, Bookmark, _damaged)


class Bookmarks:
    """All bookmarks, and what can be done with them."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._folder = library.own_folder("data")

    def all(self) -> list[Bookmark]:
        """Return all bookmarks, newest first; none where the file is not there."""
        return read_bookmarks(self._folder)

    def rows(self) -> list[dict[str, Any]]:
        """Return all bookmarks as plain data for JSON; `gone` says that no open home has the session."""
        known = self.all()
        there = {file.session_id for file in self._library.files()} if known else set()
        return [bookmark_row(item, gone=item.session_id not in there) for item in known]

    def find(self, session_id: str, message: str | None = None) -> Bookmark | None:
        """Return the mark at a session or at a message of it; None where there is none."""
        return next((item for item in self.all() if item.key == (session_id, message)), None)

    def add(self, session: str, message: str | None = None, note: str = "") -> Bookmark:
        """Mark a session, or a message of it, in the place of the mark it had. Raises NotFound."""
        found = self._library.session(session)
        uuid = None if message is None else message_uuid(found, message)
        return add_bookmark(self._folder, found.id, uuid, note, found.summary.title or "")

    def remove(self, session: str, message: str | None = None) -> Bookmark:
        """Take a mark away and return it. Its session may be gone by now. Raises NotFound where there is no such mark."""
        gone = self._marked(session, message)
        remove_bookmark(self._folder, *gone.key)
        return gone

    def _marked(self, session: str, message: str | None) -> Bookmark:
        known = self.all()
        start = session.strip().lower()
        ids = {item.session_id for item in known if start and item.session_id.lower().startswith(start)}
        if len(ids) != 1:
            ids = {self._library.session(session).id}
        of_session = [item for item in known if item.session_id in ids]
        found = [item for item in of_session if _is_at(item, message)]
        if not found and message is not None:
            with contextlib.suppress(NotFound):  # the session may be gone, its marks stay
                uuid = message_uuid(self._library.session(session), message)
                found = [item for item in of_session if item.message == uuid]
        if len(found) == 1:
            return found[0]
        what = f"message {message} of session {session}" if message else f"session {session}"
        raise NotFound(
            f"{what} is not marked" if not found else f"{message!r} is the start of {len(found)} marked messages",
            slug="no-such-bookmark" if not found else "ambiguous-message",
            hint="`recollect bookmark` lists all bookmarks",
            nearest=tuple(item.message or item.session_id for item in of_session)[:10],
        )


def _is_at(item: Bookmark, message: str | None) -> bool:
    """Tell whether a mark is at the session as a whole (None), or at a message with that start of a uuid."""
    if message is None or item.message is None:
        return message is item.message
    return item.message.lower().startswith(message.strip().lower() or "-")


def bookmark_row(item: Bookmark, *, gone: bool = False) -> dict[str, Any]:
    """Return a bookmark as plain data for JSON."""
    return {
        "session_id": item.session_id, "message": item.message, "note": item.note, "title": item.title,
        "time": to_iso(item.time), "gone": gone,
    }  # fmt: skip


def _damaged(path: Path, why: str) -> DamagedData:
    return DamagedData(f"{path} cannot be read: {why}", hint="repair it, or delete it", slug="bad-bookmarks")
