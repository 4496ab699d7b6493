"""Leave secrets and personal data out of a text: each value is replaced, everywhere and in every form, by what it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

from .findings import Found

Profile = Literal["none", "secrets", "personal", "all"]
"""What is left out: nothing; secrets; secrets with home paths, user, host and mail names; also addresses, phones and cards."""
PROFILES: Final[tuple[Profile, ...]] = ("none", "secrets", "personal", "all")


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without what was found in it."""

    text: str
    finds: list[Found]


@dataclass
class Redaction:
    """What was left out of an export: how many different values, of which kinds."""

    profile: Profile
    kinds: dict[str, int] = field(default_factory=dict)
    """How many different values of each kind were replaced."""

    @property
    def values(self) -> int:
        return sum(self.kinds.values())

    def in_words(self) -> str:
        """Say what was left out, for the top of an export."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        return {"profile": self.profile, "values": self.values, "kinds": self.kinds}


class Redactor:
    """Replaces values in texts, with the same pseudonym for the same value: one for each export."""

    def __init__(self, profile: Profile = "personal", *, same_length: bool = False) -> None:
        self.profile = profile
        self.same_length = same_length


def redact_text(text: str, profile: Profile = "personal") -> Redacted:
    """Return a text without the secrets and the personal data in it."""
    raise NotImplementedError
