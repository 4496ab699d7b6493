"""Set title, tag or active branch by appended state lines. No existing byte changes, and the file keeps its time.

The time matters: `--continue` takes the file that was changed last, and naming a session must not change which one that is.
"""

from __future__ import annotations

from typing import Final

from ..errors import NotFound, Refused
from ..format.encode import check_text, checkpoint, custom_title, encode_line, tag
from ..graph.fork_point import ends_on, rewound
from ..graph.rows import Transcript
from ..graph.thread import LIVE
from ..journal.changes import Change, Journal
from ..journal.guard import refuse_if_busy
from ..store.read import EntryBytes, read_transcript
from ..store.scan import SessionFile

ARCHIVED: Final = "archived"
"""The tag of an archived session."""
SHORTEST_START: Final = 4
"""The least number of characters that name a row; fewer are more likely a mistake."""
MESSAGE_FORMS: Final = "#12 as `recollect show` prints it, line:292, a uuid or its first four characters, or `last`"
"""How people name a message."""


def plan_rename(journal: Journal, file: SessionFile, title: str, *, force: bool = False) -> Change:
    """Plan to give a session a title."""
    words = title_words(title)
    line = encode_line(custom_title(file.session_id, words))
    return _append(journal, file, "rename", f"Rename {file.session_id} to {words!r}", line, force)


def title_words(title: str) -> str:
    """Return a title on one line. Raises Refused if it is empty or not a text."""
    if not isinstance(title, str):
        raise Refused(f"a title is text, not {type(title).__name__}", slug="empty-title")
    words = " ".join(title.split())
    if not words:
        raise Refused("a title needs at least one character", slug="empty-title")
    check_text(words)
    return words


def plan_tag(journal: Journal, file: SessionFile, text: str | None, *, force: bool = False) -> Change:
    """Plan to tag a session, or to remove its tag (None)."""
    words = " ".join((text or "").split())
    if text is not None and not words:
        raise Refused("a tag needs at least one character", hint="--remove removes a tag", slug="empty-tag")
    title = f"Tag {file.session_id} {words!r}" if words else f"Remove the tag of {file.session_id}"
    return _append(journal, file, "tag", title, encode_line(tag(file.session_id, words)), force)


def plan_archive(journal: Journal, file: SessionFile, title: str | None = None, *, force: bool = False) -> Change:
    """Plan to archive a session, with a new title if one is given."""
    words = None if title is None else title_words(title)
    if _tags(file)[-1:] == [ARCHIVED] and words is None:
        raise Refused(f"session {file.session_id} is archived already", slug="nothing-to-do")
    change = plan_tag(journal, file, ARCHIVED, force=force)
    change.title = f"Put into the archive: {file.session_id}"
    if words is not None:
        change.append(file.path, encode_line(custom_title(file.session_id, words)))
    return change


def plan_unarchive(
    journal: Journal, file: SessionFile, title: str | None = None, *, force: bool = False
) -> tuple[Change, str | None]:
    """Plan to take a session out of the archive, and return the tag it had before, which it gets back."""
    words = None if title is None else title_words(title)
    tags = _tags(file)
    if tags[-1:] != [ARCHIVED]:
        raise Refused(f"session {file.session_id} is not archived", slug="nothing-to-do")
    before = next((text for text in reversed(tags) if text != ARCHIVED), "") or None
    change = plan_tag(journal, file, before, force=force)
    change.title = f"Take out of the archive: {file.session_id}"
    if words is not None:
        change.append(file.path, encode_line(custom_title(file.session_id, words)))
    return change, before


def _tags(file: SessionFile) -> list[str]:
    """Return all tags that the session ever had, in file order; an empty one removed a tag."""
    with EntryBytes(file.path, file.home) as source:
        lines = [line for line in read_transcript(file.path, file.home).states if line.type == "tag"]
        found = [source.value_at(line.offset, line.length) for line in lines]
    return [str(value.get("tag") or "") for value in found]


def plan_rewind(journal: Journal, file: SessionFile, message: str, *, force: bool = False) -> tuple[Change, str]:
    """Plan to end the conversation at a row, by an explicit checkpoint, which Claude Code knows since 2.1.70.

    Raises Refused if Claude Code would end it elsewhere: it ignores checkpoints at rows that it has not loaded.
    """
    transcript = read_transcript(file.path, file.home)
    uuid = find_row(transcript, message, file.session_id)
    line = encode_line(checkpoint(file.session_id, uuid))
    row = transcript.by_uuid[uuid]
    thread = rewound(transcript, uuid, transcript.size + len(line))
    if not ends_on(thread, row):
        place = thread.placements[row.index]
        why = "" if place.status == LIVE else f": {place.reason}"
        hint = f"`recollect fork {file.session_id} --at {uuid}` makes a session that ends there"
        raise Refused(
            f"Claude Code would not end the conversation at {uuid}{why}", slug="not-in-conversation",
            hint=hint if row.is_message else "name a message: `recollect thread SESSION` lists them",
        )  # fmt: skip
    return _append(journal, file, "rewind", f"Rewind {file.session_id} to {uuid}", line, force), uuid


def find_row(transcript: Transcript, message: str, session_id: str) -> str:
    """Return the uuid of a row of the main conversation, given the uuid or its start."""
    if not isinstance(message, str):
        raise Refused(f"a message is named by its uuid, not by {type(message).__name__}", slug="bad-uuid")
    wanted = message.strip().lower()
    rows = {row.uuid: row for row in transcript.rows if row.uuid is not None}
    found = [uuid for uuid in rows if uuid == message] or [
        uuid for uuid in rows if len(wanted) >= SHORTEST_START and uuid.lower().startswith(wanted)
    ]
    if len(found) > 1:
        raise NotFound(
            f"{message!r} is the start of {len(found)} messages", slug="ambiguous-message", nearest=tuple(found[:10])
        )
    if not found:
        raise NotFound(
            f"session {session_id} has no message {message}", slug="no-such-message",
            hint=f"name it by {MESSAGE_FORMS}",
        )  # fmt: skip
    if rows[found[0]].sidechain:
        raise Refused(f"{found[0]} is a subagent's row; the conversation cannot end there", slug="not-in-conversation")
    return found[0]


def _append(journal: Journal, file: SessionFile, name: str, title: str, line: bytes, force: bool) -> Change:
    refuse_if_busy(file.home, file.session_id, file.path, journal, force=force)
    change = journal.change(file.home, name, title)
    change.append(file.path, line, keep_mtime=True)
    return change
