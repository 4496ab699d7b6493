"""Remove from the index what files held before secrets in them were masked, down to the free pages of its files.

The catalogue indexes the masked files again, and is written anew without its free pages; the word index is built anew, because
its segments keep the words of deleted entries until they are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from ...format.path_text import to_text
from ..words.word_index import forget_words
from .catalogue import Catalogue


def forget_stamps(catalogue: Catalogue, paths: Mapping[str, Collection[str]]) -> None:
    """Make the next sync index these files again, by home (links resolved) and path below it, whatever their stamps say."""
    with catalogue.locked(), catalogue.transaction() as db:
        for root, names in paths.items():
            home_id = catalogue.home_id(root)
            for name in names:
                db.execute(
                    "UPDATE progress SET mtime_ns = -1, inode = -1 WHERE file_id IN "
                    "(SELECT id FROM files WHERE home_id = ? AND path = ?)",
                    (home_id, to_text(name)),
                )


def forget_free_pages(catalogue: Catalogue, holds: Callable[[str], bool]) -> None:
    """Delete texts that no row needs any more, the word index, the tables of SQL, and every page that is not in use.

    Call it after a sync of the catalogue; the next sync builds the words again.
    """
    with catalogue.locked():
        forget_words(catalogue)
        remove_questions(catalogue)
        db = catalogue.connection
        db.execute("PRAGMA secure_delete=ON")
        with catalogue.transaction():
            odd = [number for number, text in db.execute("SELECT id, text FROM strings") if holds(text)]
            db.executemany("DELETE FROM strings WHERE id = ?", [(number,) for number in odd])
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def remove_questions(catalogue: Catalogue) -> None:
    """Remove the tables that SQL reads: the next question builds them again."""
    from ...journal import disk

    for path in catalogue.folder.glob(f"{catalogue.questions_path.stem}*"):
        disk.remove_tree(path)
