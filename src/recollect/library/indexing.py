"""Open the index of a library, and bring it up to date.

library.index()                                  # everything
library.index(stages=("entries", "words"))       # what a search needs
library.catalogue.connection                     # SQLite, for reading
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ..environment import own_folder
from ..index.catalogue.catalogue import LOCK_SECONDS, Catalogue
from ..index.catalogue.catalogue import is_damage as is_damage

if TYPE_CHECKING:
    from ..index.catalogue.sync import Progress, SyncReport
    from ..store.home import Home
    from .library import Library

T = TypeVar("T")

ALL_STAGES: Final = ("calls", "entries", "words")


def open_catalogue(
    tell: Callable[[str], None] | None = None, folders: Callable[[str], Path] | None = None
) -> Catalogue:
    """Open the catalogue in Recollect's own cache folder. If the folder cannot be written, `tell` gets a message.

    `folders` returns our own folders, if they are not where the environment puts them.
    """
    folders = folders or own_folder
    catalogue = Catalogue.open(folders("cache") / "index", folders("data") / "vault", tell=tell)
    if catalogue.problem and tell is not None:
        tell(catalogue.problem)
    return catalogue


def rebuild_damaged(error: BaseException, tell: Callable[[str], None]) -> None:
    """Delete an index that an error shows to be damaged, and report that by `tell`; the next question builds a new one."""
    with Catalogue.open(own_folder("cache") / "index") as catalogue:
        tell(f"the index was damaged ({error}): it is built anew")
        catalogue.make_anew()


def with_index_healed(library: Library, question: Callable[[], T]) -> T:
    """Answer a question over the index. If the index turns out to be damaged, rebuild it and answer again."""
    try:
        return question()
    except BaseException as problem:  # a panic of the word index is not an Exception
        if not is_damage(problem):
            raise
        library.__dict__.pop("_opened_search", None)
        library.catalogue.make_anew(problem)
        return question()


def bring_up_to_date(
    library: Library,
    *,
    stages: tuple[str, ...] = ALL_STAGES,
    statuses: bool = False,
    rebuild: bool = False,
    progress: Progress | None = None,
    lock_seconds: float = LOCK_SECONDS,
) -> SyncReport:
    """Index what changed in the library's homes; with `rebuild`, everything from scratch."""
    return index_homes(
        library.catalogue, library.homes, stages=stages, statuses=statuses, rebuild=rebuild, progress=progress,
        lock_seconds=lock_seconds,
    )  # fmt: skip


def index_homes(
    catalogue: Catalogue,
    homes: Sequence[Home],
    *,
    stages: tuple[str, ...] = ALL_STAGES,
    statuses: bool = False,
    rebuild: bool = False,
    progress: Progress | None = None,
    lock_seconds: float = LOCK_SECONDS,
) -> SyncReport:
    """Index what changed in some homes, without a library: importing one takes longer than checking that nothing changed."""
    from ..index.catalogue import sync

    pricing = None
    if "calls" in stages:
        from ..analysis.cost import usual_prices

        pricing = usual_prices()
    if rebuild:
        catalogue.make_anew()
    return sync.bring_up_to_date(
        catalogue, homes, stages, statuses=statuses, progress=progress, lock_seconds=lock_seconds, pricing=pricing
    )


def index_facts(library: Library, report: SyncReport) -> dict[str, Any]:
    """Report what an update of the index did, and what the index holds: the object of `recollect index --json`."""
    catalogue = library.catalogue
    db = catalogue.connection
    return {
        "folder": str(catalogue.folder),
        "temporary": catalogue.is_temporary,
        "files": report.files,
        "gone": report.gone,
        "lines": report.lines,
        "bytes": report.bytes,
        "entries": report.entries,
        "documents": report.documents,
        "threaded": report.threaded,
        "unreadable": report.unreadable,
        "left_out": report.left_out.names,
        "seconds": round(report.seconds, 3),
        "index_bytes": _folder_size(catalogue.folder),
        "sessions": db.execute("SELECT count(*) FROM sessions").get,
        "damaged": db.execute("SELECT count(*) FROM damage").get,
    }


def _folder_size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:  # merged away meanwhile
                continue
    return total
