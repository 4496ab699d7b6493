"""Find a message by the names people use: `#12`, `line:292`, a uuid or the start of one, `last`. One rule for every verb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..errors import NotFound

if TYPE_CHECKING:
    from ..graph.rows import Row
    from .session import Session

SHORTEST_START: Final = 4
"""How many characters of a uuid must be given."""
FORMS: Final = "#12 as `recollect show` prints it, line:292, a uuid or its first four characters, or `last`"


def message_uuid(session: Session, reference: str) -> str:
    """Return the uuid of a message of the session or of a subagent. Raises NotFound if none or several match.

    `#12` is the twelfth message of the active conversation. Of a message with several lines, it is the last line's.
    """
    wanted = reference.strip() if isinstance(reference, str) else ""
    if wanted == "last" or wanted.startswith("#"):
        return _by_number(session, wanted)
    if wanted.startswith("line:"):
        return _by_line(session, wanted)
    found = _by_uuid([session.transcript.rows], reference)
    if not found:
        found = _by_uuid([part.rows for part in session.subagent_transcripts.values()], reference)
    if len(found) > 1:
        raise NotFound(
            f"{wanted!r} is the start of {len(found)} messages", slug="ambiguous-message", nearest=tuple(found[:10])
        )
    if not found:
        raise _no_such_message(session, reference)
    return found[0]


def _by_uuid(parts: list[list[Row]], reference: str) -> list[str]:
    uuids = dict.fromkeys(row.uuid for rows in parts for row in rows if row.uuid)
    if reference in uuids:
        return [reference]
    lowered = reference.strip().lower() if isinstance(reference, str) else ""
    if len(lowered) < SHORTEST_START:
        return []
    return [uuid for uuid in uuids if uuid.lower().startswith(lowered)]


def _by_number(session: Session, wanted: str) -> str:
    messages = session.conversation.messages()
    digits = wanted[1:]
    if wanted == "last":
        number = len(messages)
    else:
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0
    if not 1 <= number <= len(messages):
        raise _no_such_message(session, wanted)
    return _named_row(session, messages[number - 1].rows, wanted)


def _by_line(session: Session, wanted: str) -> str:
    digits = wanted.removeprefix("line:")
    line = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0
    return _named_row(session, [row for row in session.transcript.rows if row.line == line], wanted)


def _named_row(session: Session, rows: list[Row], wanted: str) -> str:
    for row in reversed(rows):
        if row.uuid:
            return row.uuid
    raise _no_such_message(session, wanted)


def _no_such_message(session: Session, reference: str) -> NotFound:
    return NotFound(
        f"session {session.id} has no message {str(reference)[:80]}", slug="no-such-message",
        hint=f"name it by {FORMS}",
    )  # fmt: skip
