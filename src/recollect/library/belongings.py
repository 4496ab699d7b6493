"""List the files that belong to sessions, and the sessions of a copy that was made of such files."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..edit.delete import footprints
from ..errors import RecollectError
from ..store.home import Home, is_session_link
from ..store.read import attach_subagents_beside
from ..store.scan import SessionFile, scan_home

if TYPE_CHECKING:
    from .session import Session

_SLUG: Final = re.compile(rb'"slug":"([A-Za-z0-9_-]{1,200})"')


def belongings(home: Home, sessions: Sequence[Session]) -> Iterator[Path]:
    """Yield every file of some sessions of a home, including the plans they made.

    Links and what leads out of the home are left out. The home is looked through once for all of them.
    """
    for session, places in zip(sessions, footprints(home, [session.file for session in sessions]), strict=True):
        yield from _files_at(home, [*places, *_plans(home, session)])


def _files_at(home: Home, places: Sequence[Path]) -> Iterator[Path]:
    for place in places:
        if place.parts[len(home.root.parts)] == "session-env":
            continue  # may hold secrets
        if place.is_symlink() and not is_session_link(home, place):
            continue
        if place.is_dir():
            for folder, below, names in os.walk(place):
                below.sort()
                yield from (
                    path for name in sorted(names) if (path := Path(folder, name)).is_file() and not path.is_symlink()
                )
        elif place.is_file():
            yield place


def _plans(home: Home, session: Session) -> list[Path]:
    names: set[str] = set()
    with contextlib.suppress(RecollectError, OSError):
        for line in session.lines():
            names.update(name.decode() for name in _SLUG.findall(line.data))
    return [path for name in sorted(names) if (path := home.root / "plans" / f"{name}.md").is_file()]


def scan_view(view: Home) -> Iterable[SessionFile]:
    """List the sessions of a home that was written only to be read, those too of which only subagents are left."""
    scan = scan_home(view)
    attach_subagents_beside(view, scan, scan.beside, {})
    return [*scan.sessions, *scan.orphans.values()]
