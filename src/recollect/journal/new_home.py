"""A folder that is to become a Claude home gets its `projects/`."""

from __future__ import annotations

import contextlib

from ..store.home import Home
from . import disk


def make_home(home: Home) -> None:
    """Make the home's folder and `projects/`, private to the user, where they are not there yet."""
    missing = []
    step = home.projects
    while not step.exists():
        missing.append(step)
        step = step.parent
    try:
        for folder in reversed(missing):
            with contextlib.suppress(FileExistsError):  # another task just made it
                disk.make_folder(folder)
    except OSError as problem:
        raise disk.explain(problem, home.root) from problem
