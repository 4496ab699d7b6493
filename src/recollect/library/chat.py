"""`ChatMessage`: a message as agent frameworks pass it around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class ChatMessage:
    """A message to write to a session. `content` is text, or content blocks as in the Messages API."""

    role: str
    content: str | Sequence[Mapping[str, Any]]
    model: str | None = None
    message_id: str | None = None
    """The uuid of the message's row; a new one is made if it is not given."""
    usage: Mapping[str, Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    """Further fields for the row, such as ``{"isMeta": True}``."""
    allow_unknown_call: bool = False
    """Also write results of tool calls that the session does not have, although Claude Code drops them."""
