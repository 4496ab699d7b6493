"""`ChatMessage`: a message as agent frameworks pass it around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class ChatMessage:
    """A message to log. `content` is text, or content blocks as the Messages API has them."""

    role: str
    content: str | Sequence[Mapping[str, Any]]
    model: str | None = None
    message_id: str | None = None
    """The uuid of its row; made up where not given."""
    usage: Mapping[str, Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    """Further fields for the row, such as ``{"isMeta": True}``."""
    allow_unknown_call: bool = False
    """Write results of calls that the session does not have, too; the client drops them."""
