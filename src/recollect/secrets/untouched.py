"""Say which strings of an entry are neither searched nor changed: ids, signatures and the data of pictures.

Claude Code and the API compare these strings letter by letter: a changed id breaks the conversation, a changed signature is
refused. They look random, too, so that a search in them finds only what is no secret. Finding, redacting and masking all go
by this list.
"""

from __future__ import annotations

import re
from typing import Final


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Names of fields whose strings stand for themselves, wherever Claude Code writes them.
UNTOUCHED_NAMES: Final = _names(
    """
    uuid parentUuid logicalParentUuid leafUuid headUuid anchorUuid tailUuid sessionId session_id promptId agentId messageId
    requestId requestRef id tool_use_id toolUseID toolUseId parentToolUseID parentToolUseId parent_tool_use_id
    signature encrypted_content encrypted_index timestamp version type subtype role model media_type mimeType sha256
    contentHash backupFileName stop_reason service_tier
    """
)
_UNTOUCHED_BEGINNING: Final = "sourceTool"

#: Below these fields lies what a tool was given and what it answered: any name may stand there, and mean anything.
_TOOLS_OWN: Final = re.compile(r"/(?:input|toolUseResult|structuredContent)(?:/|\Z)")
#: Names that Claude Code itself writes into a tool's answer.
_IN_TOOLS_OWN: Final = frozenset({"agentId", "sessionId", "tool_use_id", "toolUseId", "signature", "encrypted_content"})

#: Fields that hold a picture or a document in base64, or the data of a thinking block that is not shown.
_DATA_NAMES: Final = frozenset({"data", "base64"})
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_\-\s]*+={0,2}\s*+")
_LEAST_DATA: Final = 64
"""A shorter text below `data` is searched like any other."""
_DATA_ADDRESS: Final = re.compile(r"data:[a-z]+/[\w.+-]+(?:;[\w=-]+)*;base64,", re.IGNORECASE)
_JUDGED: Final = 4096
"""How many letters of a long text are looked at to say that it is base64."""


def is_untouched(pointer: str, text: str) -> bool:
    """Return whether the string at this JSON pointer of an entry is left as it is, without being searched."""
    name = pointer[pointer.rfind("/") + 1 :]
    if name in _DATA_NAMES and is_media_data(text):
        return True
    if name not in UNTOUCHED_NAMES and not name.startswith(_UNTOUCHED_BEGINNING):
        return False
    return name in _IN_TOOLS_OWN or _TOOLS_OWN.search(pointer) is None


def is_media_data(text: str) -> bool:
    """Return whether a text, found where pictures are kept, is base64 from end to end; a document may also be plain text."""
    if len(text) < _LEAST_DATA:
        return False
    address = _DATA_ADDRESS.match(text)
    place = address.end() if address is not None else 0
    return (
        _BASE64.fullmatch(text, place, place + _JUDGED) is not None
        and _BASE64.fullmatch(text, max(place, len(text) - _JUDGED)) is not None
        and " " not in text[place : place + _JUDGED]
    )
