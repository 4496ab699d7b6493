"""Find the homes to work on: those that were named, else those of the environment. Imports little, for light commands."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..environment import home_candidates, own_folder_name, refuse_inside
from ..errors import NotFound, Refused
from ..store.home import Home, check_home, existing_homes


def open_homes(homes: Sequence[str | os.PathLike[str]] = ()) -> list[Home]:
    """Open the named homes, else those of CLAUDE_CONFIG_DIR, else the usual ones. A named folder must be a home."""
    candidates, named = home_candidates(homes)
    if named:
        return _own_folders_outside(_each_once([check_home(path) for path in candidates]))
    found = existing_homes(candidates)
    if not found:
        places = " and ".join(str(path) for path in candidates)
        raise NotFound(
            f"no Claude home found: looked at {places}",
            hint="name one with --home DIR, or try `recollect demo`",
            slug="no-home",
        )
    return found


def homes_to_restore(homes: Sequence[str | os.PathLike[str]] = ()) -> list[Home]:
    """Return the homes that are meant, whether or not they still exist."""
    return _own_folders_outside(_each_once([Home(path) for path in home_candidates(homes)[0]]))


def _each_once(homes: list[Home]) -> list[Home]:
    found: dict[str, Home] = {}
    for home in homes:
        found.setdefault(home.real_root, home)
    return list(found.values())


def _own_folders_outside(homes: list[Home]) -> list[Home]:
    for kind in ("data", "config", "cache"):
        refuse_inside(own_folder_name(kind), [str(home.root) for home in homes])
    return homes


def home_to_fill(homes: Sequence[str | os.PathLike[str]] = ()) -> Home:
    """Return the one home to fill, which may be missing or empty on a new machine."""
    candidates, named = home_candidates(homes)
    found = existing_homes(candidates)
    if named:
        for path in candidates:
            if os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir())):
                check_home(path)  # a folder that holds something else must not be filled by mistake
        found = list({home.real_root: home for home in map(Home, candidates)}.values())
    if len(found) > 1:
        raise Refused(
            "there are several homes", hint="name the one that is meant with --home DIR", slug="several-homes"
        )
    return found[0] if found else Home(candidates[0])
