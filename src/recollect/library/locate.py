"""Find a session by the names people use (id, start of an id, title, `last`), and a message of it (`#12`, `line:292`, uuid,
`last`). One rule for every verb.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ..environment import current_session_id
from ..errors import NotFound, Refused
from ..format.blocks import one_line
from ..store.home import Home, contained
from ..store.scan import SessionFile
from ..store.summary import SessionSummary, summarise

if TYPE_CHECKING:
    from ..graph.rows import Row
    from .library import Library
    from .session import Session


_CLOSE = 0.5
"""How similar two names must be for one to be suggested instead of the other."""


def find_session(library: Library, reference: str) -> SessionFile:
    """Find the session meant by `reference`: in the homes, else in the vault, else one of which only subagents are left.

    Raises NotFound, with the candidates if the reference is ambiguous.
    """
    found = _by_path(library, reference)
    if found is not None:
        return found
    if reference.strip() == "current":
        reference = _current()
    try:
        return library.with_subagents(find_among(library.named_files(), reference, library.summary_of))
    except NotFound as problem:
        _name_what_was_left_out(library, reference, problem)
        for find in (library.kept_files, library.orphans) if problem.slug != "ambiguous" else ():
            try:
                return find_among(find(), reference, library.summary_of)
            except NotFound as other:
                if other.slug == "ambiguous":
                    raise other from None
        raise


def _by_path(library: Library, reference: str) -> SessionFile | None:
    """Return the session whose file is at a path. Raises Refused for a path that leaves its home."""
    if not reference.endswith(".jsonl") and os.sep not in reference:
        return None
    try:
        real = os.path.realpath(reference)
    except ValueError:  # a NUL or half of a surrogate pair: such a path cannot exist
        real = ""
    file = library.files_by_real_path.get(real)
    if file is not None:
        return library.with_subagents(file)
    for home in library.homes:
        contained(home, reference)  # a path that leaves the home is refused, not just unknown
    return None


def _current() -> str:
    ident = current_session_id()
    if ident is None:
        raise NotFound(
            "there is no current session: CLAUDE_CODE_SESSION_ID is not set", slug="no-current-session",
            hint="`current` works in commands that Claude Code itself runs; `last` is the newest session",
        )  # fmt: skip
    return ident


def _name_what_was_left_out(library: Library, reference: str, problem: NotFound) -> None:
    """Name a file that matches but is not a session, and why: a link that leads out of the home, for example."""
    wanted = reference.strip().lower()
    for _, scan in library.scans:
        for item in scan.skipped:
            if len(wanted) >= 4 and item.path.name.lower().startswith(wanted):
                problem.hint = f"{item.path} is left out: {item.why}"
                return


def find_among(
    files: list[SessionFile], reference: str, summary_of: Callable[[SessionFile], SessionSummary] = summarise
) -> SessionFile:
    """Find the session meant by `reference` among these files. Raises NotFound, with the candidates if it is ambiguous."""
    wanted = reference.strip()
    if wanted in ("last", "latest"):
        if not files:
            raise NotFound("there is no session yet", slug="no-session")
        return max(files, key=lambda file: file.mtime)
    exact = [file for file in files if file.session_id == wanted]
    if exact:
        # The id is in two homes or folders: the newest copy, as a resume would want it.
        return max(exact, key=lambda file: file.mtime)
    prefix = [file for file in files if wanted and file.session_id.startswith(wanted.lower())]
    if len({file.session_id for file in prefix}) == 1:
        return max(prefix, key=lambda file: file.mtime)
    if prefix:
        raise NotFound(
            f"{wanted!r} is the start of {len(prefix)} session ids", slug="ambiguous",
            nearest=tuple(_named(summary_of(file)) for file in prefix[:10]), hint="give more characters of the id",
        )  # fmt: skip
    return _by_title([summary_of(file) for file in files], wanted)


def home_with(library: Library, session_id: str, *, hint: str) -> Home | None:
    """Return the home that has a session that is to be changed; None if no home has it.

    Reading uses the newest copy; a change to a session that is in several homes is refused, since either may be meant.
    """
    homes = {file.home.real_root: file.home for file in library.files() if file.session_id == session_id}
    if len(homes) > 1:
        names = ", ".join(str(home.root) for home in homes.values())
        raise Refused(f"session {session_id} is in several homes: {names}", hint=hint, slug="several-homes")
    return next(iter(homes.values()), None)


def _by_title(summaries: list[SessionSummary], wanted: str) -> SessionFile:
    lowered = wanted.lower()
    titled = [item for item in summaries if (item.title or "").strip().lower() == lowered]
    custom = [item for item in titled if item.custom_title]
    found = custom or titled or [item for item in summaries if lowered and lowered in (item.title or "").lower()]
    if len(found) == 1:
        return found[0].file
    if found:
        raise NotFound(
            f"{wanted!r} fits {len(found)} titles", slug="ambiguous",
            nearest=tuple(_named(item) for item in found[:10]), hint="use the session's id",
        )  # fmt: skip
    raise NotFound(
        f"no session {wanted!r}", slug="no-such-session", nearest=_nearest(summaries, lowered),
        hint="`recollect list` shows all sessions",
    )  # fmt: skip


def _nearest(summaries: list[SessionSummary], wanted: str) -> tuple[str, ...]:
    """Return up to five sessions whose id or title is close to the wanted one."""

    def closeness(item: SessionSummary) -> float:
        by_id = difflib.SequenceMatcher(None, wanted, item.session_id[: max(len(wanted), 4)]).quick_ratio()
        by_title = difflib.SequenceMatcher(None, wanted, (item.title or "").lower()[:120]).quick_ratio()
        return max(by_id, by_title)

    ranked = sorted(((closeness(item), item) for item in summaries), key=lambda pair: pair[0], reverse=True)
    return tuple(_named(item) for share, item in ranked[:5] if share >= _CLOSE)


def _named(item: SessionSummary) -> str:
    return f"{item.session_id}  {one_line(item.title, 60) or '(no title)'}"


SHORTEST_START: Final = 4
"""How many characters of a uuid must be given."""


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
    from ..edit.state_lines import MESSAGE_FORMS

    return NotFound(
        f"session {session.id} has no message {str(reference)[:80]}", slug="no-such-message",
        hint=f"name it by {MESSAGE_FORMS}",
    )  # fmt: skip
