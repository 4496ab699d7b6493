"""Bookmarks of sessions and messages (``bookmarks.json`` in the data folder). Nothing of them is written into a home."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from ..errors import DamagedData, NotFound, StoreBusy
from ..store import disk, presence

if TYPE_CHECKING:
    from .session import Session

FILE: Final = "bookmarks.json"
LOCK_SECONDS: Final = 10.0


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


def read_bookmarks(folder: Path) -> list[Bookmark]:
    """All of them, newest first; none where the file is not there."""
    path = folder / FILE
    try:
        found = msgspec.json.decode(path.read_bytes(), type=list[Bookmark])
    except FileNotFoundError:
        return []
    except OSError as problem:
        raise DamagedData(f"cannot read {path}: {problem.strerror}", slug="bad-bookmarks") from problem
    except msgspec.MsgspecError as problem:
        raise DamagedData(
            f"{path} cannot be read: {problem}", hint="mend it, or delete it", slug="bad-bookmarks"
        ) from problem
    return sorted(found, key=lambda item: item.time, reverse=True)


def add_bookmark(folder: Path, session_id: str, message: str | None, note: str, title: str) -> Bookmark:
    """Mark a session or a message, in the place of the mark it had."""
    made = Bookmark(session_id, message, " ".join(note.split())[:500], " ".join(title.split())[:200], time.time())
    with _locked(folder):
        _write(folder, [made, *(item for item in read_bookmarks(folder) if item.key != made.key)])
    return made


def remove_bookmark(folder: Path, session_id: str, message: str | None) -> bool:
    """Whether there was one."""
    with _locked(folder):
        found = read_bookmarks(folder)
        left = [item for item in found if item.key != (session_id, message)]
        if len(left) < len(found):
            _write(folder, left)
    return len(left) < len(found)


def message_of(session: Session, text: str) -> str:
    """The uuid of a message, a sub-agent's too, by itself or by its start. Raises NotFound."""
    wanted = text.strip().lower()
    parts = (session.transcript, *session.agent_transcripts.values())
    uuids = {row.uuid for part in parts for row in part.rows if row.uuid}
    found = [text] if text in uuids else sorted(uuid for uuid in uuids if wanted and uuid.lower().startswith(wanted))
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFound(
            f"{text!r} is the start of {len(found)} messages", slug="ambiguous-message", nearest=tuple(found[:10])
        )
    raise NotFound(
        f"session {session.id} has no message {text[:80]}", slug="no-such-message",
        hint="`recollect thread SESSION --json` lists all rows",
    )  # fmt: skip


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One process at a time changes the list: the pages and the command line may be used side by side."""
    locks = folder / "locks"
    try:
        disk.make_folders(locks)
        release = presence.take_lock(str(locks / "bookmarks.lock"), LOCK_SECONDS)
    except TimeoutError as problem:
        raise StoreBusy("another Recollect process is changing the bookmarks", slug="locked") from problem
    except OSError as problem:
        raise disk.explain(problem, folder / FILE) from problem
    try:
        yield
    finally:
        release()


def _write(folder: Path, bookmarks: list[Bookmark]) -> None:
    staged = folder / f"{FILE}.{os.getpid()}"
    try:
        if not folder.is_dir():
            disk.make_folders(folder)
        disk.remove_if_there(staged)
        disk.write_new(staged, (msgspec.json.format(msgspec.json.encode(bookmarks), indent=1), b"\n"))
        disk.replace(staged, folder / FILE)
    except OSError as problem:
        raise disk.explain(problem, folder / FILE) from problem
