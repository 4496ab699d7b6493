"""Read and change small files of Recollect's own: budgets, bookmarks, saved queries.

    marks = OwnList(folder / "bookmarks.json", Bookmark, damaged)
    marks.read()
    marks.change(lambda found: [made, *found])

One process at a time changes such a file. The new content is staged and synced before it replaces the old one, so a full disk
or a crash loses nothing. A file that cannot be parsed raises an error that names it, and is never overwritten.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from ..errors import DamagedData, StoreBusy
from ..journal import disk
from ..journal import locks as presence

LOCK_SECONDS: Final = 30.0

T = TypeVar("T")


def replace_own_file(path: Path, content: bytes) -> None:
    """Replace a file of our own without a lock: one, such as a history, in which a lost write does no harm."""
    staged = path.with_name(f".{path.name}.staged")
    disk.make_folders(path.parent)
    disk.remove_if_there(staged)
    disk.write_new(staged, [content])
    disk.replace(staged, path)


@contextlib.contextmanager
def changing(path: Path) -> Iterator[Callable[[bytes], None]]:
    """Lock one of Recollect's own files, and yield the function that replaces its content.

    Raises StoreBusy, or the error that `disk.explain` makes of a system error; then the old content is still there.
    """
    locks = path.parent / "locks"
    try:
        disk.make_folders(locks)
        release = presence.take_lock(str(locks / f"{path.stem}.lock"), LOCK_SECONDS)
    except TimeoutError as problem:
        raise StoreBusy(f"another Recollect process is changing {path}", slug="locked") from problem
    except OSError as problem:
        raise disk.explain(problem, path) from problem

    def write(data: bytes) -> None:
        target = Path(os.path.realpath(path))  # a link, as settings managers make them, stays a link
        staged = target.with_name(f".{target.name}.staged")
        try:
            disk.remove_if_there(staged)  # left by a process that was killed: the lock is ours
            disk.write_new(staged, (data,))
            disk.replace(staged, target)
        except OSError as problem:
            with contextlib.suppress(OSError):
                disk.remove_if_there(staged)
            raise disk.explain(problem, path) from problem

    try:
        yield write
    finally:
        release()


class OwnList(Generic[T]):
    """A list of items of one type in a JSON file."""

    def __init__(
        self,
        path: Path,
        kind: type[T],
        damaged: Callable[[Path, str], DamagedData],
        *,
        check: Callable[[list[T]], str | None] = lambda _: None,
    ) -> None:
        self.path = path
        self._list: type[list[T]] = list[kind]  # type: ignore[valid-type]
        self._damaged = damaged
        """Makes the error for a file that cannot be read, from its path and the reason."""
        self._check = check
        """Returns what is wrong with a list that could be decoded; None if nothing is."""

    def read(self) -> list[T]:
        """Return the items; an empty list if the file does not exist. Raises DamagedData if it cannot be parsed."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise self._damaged(self.path, problem.strerror or str(problem)) from problem
        try:
            found = msgspec.json.decode(data, type=self._list)
            wrong = self._check(found)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as problem:
            wrong = str(problem)
        if wrong is not None:
            raise self._damaged(self.path, wrong)
        return found

    def change(self, how: Callable[[list[T]], list[T]]) -> tuple[list[T], list[T]]:
        """Replace the items by what `how` returns for them. Returns the items before and after."""
        with changing(self.path) as write:
            before = self.read()
            after = how(list(before))
            if after != before:
                write(msgspec.json.format(msgspec.json.encode(after), indent=1) + b"\n")
        return before, after
