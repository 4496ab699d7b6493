"""Changes by appended state lines: title, tag, the active branch. No byte that is there is touched, and the file keeps its time.

The time matters: `--continue` takes the file that was changed last, and naming a session must not change which one that is.
"""

from __future__ import annotations

from ..errors import NotFound, Refused
from ..format.encode import checkpoint, custom_title, encode_line, tag
from ..graph.rows import Transcript
from .changes import Change, Journal
from .guard import refuse_if_busy
from .read import read_transcript
from .scan import SessionFile


def plan_rename(journal: Journal, file: SessionFile, title: str, *, force: bool = False) -> Change:
    """Give a session a title."""
    words = " ".join(title.split())
    if not words:
        raise Refused("a title needs at least one character", slug="empty-title")
    return _append(
        journal, file, "rename", f"Rename {file.session_id} to {words!r}", custom_title(file.session_id, words), force
    )


def plan_tag(journal: Journal, file: SessionFile, text: str | None, *, force: bool = False) -> Change:
    """Tag a session, or take its tag away (None)."""
    words = " ".join((text or "").split())
    title = f"Tag {file.session_id} {words!r}" if words else f"Take the tag of {file.session_id} away"
    return _append(journal, file, "tag", title, tag(file.session_id, words), force)


def plan_rewind(journal: Journal, file: SessionFile, message: str, *, force: bool = False) -> tuple[Change, str]:
    """Make a row the end of the conversation by an explicit checkpoint, which clients know since 2.1.70."""
    transcript = read_transcript(file.path, file.home)
    uuid = find_row(transcript, message, file.session_id)
    entry = checkpoint(file.session_id, uuid)
    return _append(journal, file, "rewind", f"Rewind {file.session_id} to {uuid}", entry, force), uuid


def find_row(transcript: Transcript, message: str, session_id: str) -> str:
    """The uuid of a row of the main conversation, by its uuid or the start of it."""
    wanted = message.strip().lower()
    rows = {row.uuid: row for row in transcript.rows if row.uuid is not None}
    found = [uuid for uuid in rows if uuid == message] or [
        uuid for uuid in rows if wanted and uuid.lower().startswith(wanted)
    ]
    if len(found) > 1:
        raise NotFound(
            f"{message!r} is the start of {len(found)} messages", slug="ambiguous-message", nearest=tuple(found[:10])
        )
    if not found:
        raise NotFound(
            f"session {session_id} has no message {message}", slug="no-such-message",
            hint="`recollect thread SESSION --json` lists all rows",
        )  # fmt: skip
    if rows[found[0]].sidechain:
        raise Refused(f"{found[0]} is a sub-agent's row; the conversation cannot end there", slug="not-in-conversation")
    return found[0]


def _append(
    journal: Journal, file: SessionFile, name: str, title: str, entry: dict[str, object], force: bool
) -> Change:
    refuse_if_busy(file.home, file.session_id, file.path, journal, force=force)
    change = journal.change(file.home, name, title)
    change.append(file.path, encode_line(entry), keep_mtime=True)
    return change
