"""Check lines and what each says of itself: damage, length, uuids, the session it names, unknown parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...format.blocks import KNOWN_BLOCKS
from ...format.line import DAMAGE_KINDS, HARMLESS
from ...format.versions import is_future, parse_version
from ...graph.rows import Row
from ..rule import ERROR, INFO, NUL_ESCAPE, WARNING, Finding, Rule, SessionSubject

_SPLIT: Final = "`recollect repair` gives every readable object a line of its own and keeps the rest in a side file."
_TEXT: Final = "`recollect repair` rewrites the line so that every version of Claude Code reads it."
_TEXT_ON_REQUEST: Final = (
    "`recollect repair --rule {}` rewrites the line so that every version of Claude Code reads it."
)
_SKIPS: Final = "Skips the line; everything before it is out of reach where a later row hangs on it."

_TOLD: Final[dict[str, tuple[str, str, str, str | None]]] = {
    "torn": (ERROR, _SKIPS, _SPLIT, "lines"),
    "glued": (ERROR, "Reads the first object at most, and loses the others.", _SPLIT, "lines"),
    "nul": (ERROR, _SKIPS, _SPLIT, "lines"),
    "not-json": (WARNING, "Skips the line.", _SPLIT, "lines"),
    "not-object": (WARNING, "Skips the line; 2.1.197 fails on `null`.", _SPLIT, "lines"),
    "encoding": (WARNING, "Shows U+FFFD in place of the bad bytes.", _TEXT_ON_REQUEST, "text"),
    "surrogate": (
        WARNING, "Shows U+FFFD; versions of Claude Code before 2.1.132 get an error from the API on every turn.",
        _TEXT_ON_REQUEST, "text",
    ),
    "nonstandard-number": (ERROR, _SKIPS, _TEXT, "text"),
    "control-character": (ERROR, _SKIPS, _TEXT, "text"),
    "several-lines-unread": (
        ERROR, "Skips its lines; in a file of up to 5 MiB it would read them.",
        "`recollect repair` puts the object on one line.", "one-line",
    ),
    "too-deep": (INFO, "Reads the line; other programs may not.", "Nothing to do.", None),
    "oversize": (WARNING, "Cannot hold the line, and may hang.", "Fork the session without it.", None),
}  # fmt: skip


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


DAMAGED_LINES: Final = {
    kind: Rule(kind, severity, _sentence(DAMAGE_KINDS[kind].partition(":")[0]), client, remedy.format(kind), fix)
    for kind, (severity, client, remedy, fix) in _TOLD.items()
}
assert DAMAGED_LINES.keys() == DAMAGE_KINDS.keys() - HARMLESS


def check_line_damage(subject: SessionSubject) -> Iterator[Finding]:
    """Report lines that are not one plain JSON object, by the kinds of damage that the reader of lines tells apart."""
    subagent = subject.subagent
    for item in subject.transcript.damage:
        rule = DAMAGED_LINES.get(item.kind)
        if rule is not None:
            yield Finding(
                rule, subject.path, item.detail, item.line, item.offset, item.length, None, subject.file.session_id,
                subagent.subagent_id if subagent is not None else None,
            )  # fmt: skip


NUL_IN_TEXT: Final = Rule(
    "nul-in-text", WARNING, "A text holds NUL characters, as binary output does.",
    "Sends them; some releases can no longer use the session.",
    "`recollect repair --rule nul-in-text` writes U+FFFD in their place.", "text", fold=True,
)  # fmt: skip


def check_nul_text(subject: SessionSubject) -> Iterator[Finding]:
    """Find NUL characters inside a text, as binary output of a tool leaves them."""
    for row in subject.rows_with(NUL_ESCAPE):
        yield subject.finding(NUL_IN_TEXT, row)


_LINE_LIMIT: Final = 8 << 20
_FILE_LIMIT: Final = 256 << 20

LONG_LINE: Final = Rule(
    "long-line", WARNING, "A line is longer than 8 MB.", "Reads it on every resume; lines of 12 MB were seen to hang it.",
    "`recollect repair --rule long-line` moves long results into files, as newer versions do.", "outputs",
)  # fmt: skip
LONG_FILE: Final = Rule(
    "long-file", INFO, "The file is larger than 256 MB.", "Takes long to resume.",
    "`recollect fork` makes a session of its active conversation alone.",
)  # fmt: skip


def check_long_lines(subject: SessionSubject) -> Iterator[Finding]:
    """Find lines and files so long that a resume is slow."""
    for row in subject.rows:
        if row.length > _LINE_LIMIT:
            yield subject.finding(LONG_LINE, row, f"{row.length:,} bytes")
    if subject.transcript.size > _FILE_LIMIT:
        yield subject.finding(LONG_FILE, None, f"{subject.transcript.size:,} bytes")


FILE_NAME: Final = Rule(
    "file-name", ERROR, "The file's name is not a UUID in lower case.", "Does not find the session.",
    "`recollect repair` gives it a name that Claude Code finds.", "name",
)  # fmt: skip
FOREIGN_SESSION_ID: Final = Rule(
    "foreign-session-id", WARNING, "Some rows name another session than the file does.",
    "Goes by the file's name; two sessions may have been written into one file.",
    "`recollect repair --rule foreign-session-id` parts them.", "sessions",
)  # fmt: skip


def check_session_identity(subject: SessionSubject) -> Iterator[Finding]:
    """Compare the session id in the file's name with those on its lines."""
    own = subject.file.session_id
    if subject.is_main and not subject.file.client_lists:
        yield subject.finding(FILE_NAME, None, subject.path.name)
    named = subject.transcript.session_ids
    others = {name: count for name, count in named.items() if name.lower() != own.lower()}
    if not others or not subject.is_main:
        return
    listed = ", ".join(f"{name} ({count:,} rows)" for name, count in list(others.items())[:5])
    # All rows of one other session: a copy under a new name. That is how old versions resumed.
    mixed = own in named
    yield subject.finding(FOREIGN_SESSION_ID, None, listed, None if mixed else INFO)


_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")

VALID_UUID: Final = Rule(
    "valid-uuid", INFO, "A row's uuid is not spelled as a UUID.", "Takes any text.", "Nothing to do.", fold=True
)
MISSING_UUID: Final = Rule(
    "missing-uuid", ERROR, "A row has no uuid, or one that is not text.",
    "Nothing can hang on the row: everything before it is out of reach.",
    "`recollect repair` gives it the uuid that the next row asks for, or a new one.", "identity",
)  # fmt: skip


def check_uuids(subject: SessionSubject) -> Iterator[Finding]:
    """Check the uuids of rows: missing ones break the chain, odd ones are only unusual."""
    fits = _UUID.fullmatch
    for row in subject.rows:
        uuid = row.uuid
        if uuid is None or uuid == "" or uuid[0] == "<":
            yield subject.finding(MISSING_UUID, row)
        elif fits(uuid) is None:
            yield subject.finding(VALID_UUID, row, uuid[:80])


DUPLICATE_UUID: Final = Rule(
    "duplicate-uuid", INFO, "A row stands in the file twice, with the same content.",
    "Takes it once; 2.1.197 loses the later turns where a copy comes last.",
    "`recollect repair --rule duplicate-uuid` moves exact copies to the side file.", "copies", fold=True,
)  # fmt: skip
DUPLICATE_UUID_OTHER: Final = Rule(
    "duplicate-uuid-other", WARNING, "Two rows have the same uuid and different content.",
    "Shows the content of the last one at the place of the first.",
    "Look at both with `recollect cat`; neither is taken out.",
)  # fmt: skip


def check_copies(subject: SessionSubject) -> Iterator[Finding]:
    """Find rows with the same uuid: a line written twice, or two different ones."""
    first: dict[str, Row] = {}
    for row in subject.rows:
        if row.uuid is None or not row.client_reads:
            continue
        known = first.setdefault(row.uuid, row)
        if known is not row:
            same = known.length == row.length and subject.value(known) == subject.value(row)
            yield subject.finding(DUPLICATE_UUID if same else DUPLICATE_UUID_OTHER, row, f"first on line {known.line}")


UNKNOWN_BLOCK: Final = Rule(
    "unknown-block", WARNING, "A content block is of an unknown type.",
    "Sends it as it is; the API answers 400 where it does not know it either.",
    "`recollect repair --rule unknown-block` writes it as plain words.", "blocks",
)  # fmt: skip
UNKNOWN_TYPE: Final = Rule(
    "unknown-type", INFO, "Entries are of a type that is not known.",
    "Passes over them; what hangs on such a row has no parent.", "Nothing to do; they are kept and shown.",
)  # fmt: skip
UNKNOWN_VERSION: Final = Rule(
    "unknown-version", INFO, "Rows were written by a Claude Code newer than 2.1.326, or by one that does not say which.",
    "Does not look at the version.", "Nothing to do; look for a newer Recollect.",
)  # fmt: skip


def check_unknown_parts(subject: SessionSubject) -> Iterator[Finding]:
    """Report unknown blocks, entry types and versions of Claude Code."""
    for row in subject.rows:
        for kind in row.block_types:
            if kind is not None and kind not in KNOWN_BLOCKS:
                yield subject.finding(UNKNOWN_BLOCK, row, kind)
    if subject.transcript.unknown_types:
        listed = ", ".join(f"{kind} ({count})" for kind, count in subject.transcript.unknown_types.most_common(10))
        yield subject.finding(UNKNOWN_TYPE, None, listed)
    odd = [text for text in subject.transcript.versions if is_future(text) or parse_version(text) is None]
    if odd:
        yield subject.finding(UNKNOWN_VERSION, None, ", ".join(odd[:10]))
