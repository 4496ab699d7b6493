"""Collect the values to mask: found by the rules, in the homes, in the vault and in what the journal keeps.

The values are only ever in memory. A value of which nothing is left in a home may still stand in a session that only the vault
has, or in the trash.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from ..errors import DamagedData
from ..journal.changes import Journal
from ..journal.masking import kept_files
from ..store.home import Home
from ..store.layout import FileKind, file_at
from ..vault.masking import generation_bytes, generations
from ..vault.vault import Vault
from .file_search import FileSearch, Place
from .findings import Found
from .mask import Progress, file_chunks, home_files
from .masked_bytes import is_lines
from .values import SecretValue

Choose = Callable[[str, Place], bool]
"""Return whether a find in the file of this path is one whose value is to be masked."""


class _Chunks:
    """Reads a sequence of pieces as a stream."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)

    def read(self, _: int = -1) -> bytes:
        return next((chunk for chunk in self._chunks if chunk), b"")


def search_file(search: FileSearch, name: str, chunks: Iterable[bytes]) -> Iterator[tuple[Place, Found]]:
    """Yield what is found in the bytes of a file, by its name: lines of JSON, one JSON value, or text."""
    found: list[tuple[Place, Found]] = []
    places: list[Place] = []
    search.take = lambda place, what: found.append((place, what))
    if is_lines(name):
        search.in_lines(cast(BinaryIO, _Chunks(chunks)), 0, 0, places.append)
    else:
        for _ in search.in_file(name, b"".join(chunks)):
            pass
    yield from found


def collect_values(
    search: FileSearch,
    choose: Choose,
    homes: Sequence[Home],
    journal: Journal,
    vault: Vault,
    *,
    progress: Progress | None = None,
) -> list[SecretValue]:
    """Return every value that is to be masked, once."""
    values: dict[str, SecretValue] = {}

    def take(name: str, chunks: Iterable[bytes]) -> None:
        for place, found in search_file(search, name, chunks):
            if found.value not in values and choose(name, place):
                values[found.value] = SecretValue(found.kind, place.fingerprint, found.value)

    for home in homes:
        paths = list(home_files(home))
        for number, path in enumerate(paths):
            if progress is not None:
                progress("searching the home", number, len(paths))
            name = os.path.relpath(path, home.root)
            if file_at(Path(name).parts).kind is not FileKind.SECRET:
                try:
                    take(name, file_chunks(path))
                except OSError:
                    continue  # the survey names it
    if vault.exists:
        kept = list(generations(vault))
        for number, (file, generation) in enumerate(kept):
            if progress is not None:
                progress("searching the vault", number, len(kept))
            try:
                take(file.path, generation_bytes(vault, file, generation))
            except DamagedData:
                continue  # the masking itself refuses a damaged vault
    for record in journal.records():
        for path, name, _ in kept_files(journal.folder_of(record), record):
            take(os.path.relpath(name, record.home), file_chunks(path))
    return list(values.values())
