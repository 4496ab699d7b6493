"""A home on disk, an index of it that is kept up to date, and an index that is built anew to compare with."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from tests.index.contents import contents, words

from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.ingest import SyncReport
from recollect.index.catalogue.sync import bring_up_to_date
from recollect.store.home import Home
from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import bash, edit

ASKED = ("alpha", "beta", "gamma", "delta", "needle")


class Index:
    """An index that is brought up to date again and again."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.home = Home(root)
        self.folder = folder
        self._fresh = itertools.count()
        self.catalogue = Catalogue.open(folder / "index")

    def sync(self, **options: Any) -> SyncReport:
        return bring_up_to_date(self.catalogue, [self.home], ("entries", "words"), statuses=True, **options)

    def told(self) -> tuple[Any, Any]:
        return contents(self.catalogue), words(self.catalogue, *ASKED)

    def told_by_a_new_one(self) -> tuple[Any, Any]:
        """What an index says that was built from nothing."""
        with Catalogue.open(self.folder / f"fresh-{next(self._fresh)}") as fresh:
            bring_up_to_date(fresh, [self.home], ("entries", "words"), statuses=True)
            return contents(fresh), words(fresh, *ASKED)


def small_home(root: Path, *, sessions: int = 3) -> HomeBuilder:
    home = HomeBuilder(root)
    for number in range(sessions):
        t = home.session("/w/app", start=f"2026-03-{number + 1:02d}T09:00:00Z")
        t.user("alpha and beta")
        answer = t.assistant("gamma", thinking="delta")
        t.call(bash("echo alpha", "alpha"))
        t.call(edit("/w/app/a", "x", "y", original="x"))
        t.user("a way that is left")
        t.assistant("beta")
        t.rewind(answer)
        t.user("another way")
        helper = t.subagent("help with beta")
        helper.call(bash("true", "gamma"))
        helper.finish("delta")
        t.title(f"Title {number}")
    return home
