"""Define the result of a capture."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class CaptureReport:
    """What a capture did."""

    home: str
    files: int = 0
    """Files found in the home."""
    new: int = 0
    grown: int = 0
    rewritten: int = 0
    healed: int = 0
    """Files of which the vault had lost something, and which were stored again."""
    bytes: int = 0
    """Newly kept bytes of files."""
    stored: int = 0
    """Bytes by which the vault grew."""
    sessions: set[str] = field(default_factory=set)
    """Sessions of which something is new."""
    skipped: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Files of the vault, from any home, of which something is lost and was not found in the home either."""
    recovered: bool = False

    @property
    def changed(self) -> int:
        return self.new + self.grown + self.rewritten + self.healed
