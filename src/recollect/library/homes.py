"""Which homes are meant: those that were named, else those of the environment. Light, for commands that need no more."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..environment import home_candidates
from ..errors import NotFound
from ..store.home import Home, check_home, existing_homes


def open_homes(homes: Sequence[str | os.PathLike[str]] = ()) -> list[Home]:
    """The named homes, else those of CLAUDE_CONFIG_DIR, else the usual ones. A named folder must be a home."""
    candidates, named = home_candidates(homes)
    if named:
        found: list[Home] = []
        for path in candidates:
            home = check_home(path)
            if home.real_root not in {item.real_root for item in found}:
                found.append(home)
        return found
    found = existing_homes(candidates)
    if not found:
        places = " and ".join(str(path) for path in candidates)
        raise NotFound(
            f"no Claude home found: looked at {places}",
            hint="name one with --home DIR, or try `recollect demo`",
            slug="no-home",
        )
    return found
