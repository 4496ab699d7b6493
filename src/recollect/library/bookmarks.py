"""Bookmarks of sessions and messages: `library.bookmarks`, stored in ``bookmarks.json`` of Recollect's data folder.

Bookmarks are never written into a home.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from ..errors import DamagedData, NotFound
from ..format.times import to_iso
from .locate import message_uuid
from .own_list import OwnList

if TYPE_CHECKING:
    from .library import Library

FILE: Final = "bookmarks.json"


class Bookmark(Struct, frozen=True):
    """A bookmark of a session, or of one of its messages."""

    session_id: str
    message: str | None = None
    """The uuid of the message's row; None for the session as a whole."""
    note: str = ""
    title: str = ""
    """The title of the session when it was bookmarked, since the session may be deleted later."""
    time: float = 0.0

    @property
    def key(self) -> tuple[str, str | None]:
        """Return what identifies the bookmark: its session and its message."""
        return self.session_id, self.message


def read_bookmarks(folder: Path) -> list[Bookmark]:
    """Read all bookmarks, newest first; an empty list if the file does not exist."""
    return sorted(_bookmarks(folder).read(), key=lambda item: item.time, reverse=True)


def add_bookmark(folder: Path, session_id: str, message: str | None, note: str, title: str) -> Bookmark:
    """Write a bookmark of a session or a message, replacing an earlier bookmark of it."""
    made = Bookmark(session_id, message, " ".join(note.split())[:500], " ".join(title.split())[:200], time.time())
    _bookmarks(folder).change(lambda found: [made, *(item for item in found if item.key != made.key)])
    return made


def remove_bookmark(folder: Path, session_id: str, message: str | None) -> bool:
    """Remove a bookmark. Returns whether there was one."""
    key = session_id, message
    before, after = _bookmarks(folder).change(lambda found: [item for item in found if item.key != key])
    return len(after) < len(before)


def _bookmarks(folder: Path) -> OwnList[Bookmark]:
    return OwnList(folder / FILE, Bookmark, _damaged)


class Bookmarks:
    """Lists, adds and removes bookmarks."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._folder = library.own_folder("data")

    def all(self) -> list[Bookmark]:
        """Return all bookmarks, newest first; an empty list if the file does not exist."""
        return read_bookmarks(self._folder)

    def rows(self) -> list[dict[str, Any]]:
        """Return all bookmarks as plain data for JSON; `gone` means that no open home has the session."""
        known = self.all()
        there = {file.session_id for file in self._library.files()} if known else set()
        return [bookmark_row(item, gone=item.session_id not in there) for item in known]

    def find(self, session_id: str, message: str | None = None) -> Bookmark | None:
        """Return the bookmark of a session or of one of its messages; None if there is none."""
        return next((item for item in self.all() if item.key == (session_id, message)), None)

    def add(self, session: str, message: str | None = None, note: str = "") -> Bookmark:
        """Bookmark a session, or one of its messages, replacing an earlier bookmark of it. Raises NotFound."""
        found = self._library.session(session)
        uuid = None if message is None else message_uuid(found, message)
        return add_bookmark(self._folder, found.id, uuid, note, found.summary.title or "")

    def remove(self, session: str, message: str | None = None) -> Bookmark:
        """Remove a bookmark and return it; its session may be deleted by now. Raises NotFound."""
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
            with contextlib.suppress(NotFound):  # the session may be deleted, its bookmarks stay
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
    """Return whether a bookmark is of the whole session (`message` is None), or of a message whose uuid starts so."""
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
