"""Check what a home holds beside its sessions."""

from __future__ import annotations

from ..store.home import Home
from ..store.scan import Scan
from .rule import Finding, fold
from .rules import HOME_CHECKS
from .subject import HomeSubject


def check_home(home: Home, scan: Scan) -> list[Finding]:
    """Return the findings about a home's own files. In `scan`, subagents beside sessions belong to their sessions."""
    subject = HomeSubject(home, scan)
    return fold(item for look in HOME_CHECKS for item in look(subject))
