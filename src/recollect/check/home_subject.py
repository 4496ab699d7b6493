"""What the rules about a home look at: its names, and whose sessions they are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from ..store.home import Home
from ..store.scan import Scan


@dataclass
class HomeSubject:
    home: Home
    scan: Scan
    """With the subagents beside sessions given to their sessions."""

    @cached_property
    def session_ids(self) -> Counter[str]:
        return Counter(file.session_id for file in self.scan.sessions)
