"""Collect the values to mask: found by the rules, in the homes, in the vault and in what the journal keeps.

The values are only ever in memory. A value of which nothing is left in a home may still stand in a session that only the vault
has, or in the trash.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from ..errors import DamagedData
from ..journal.changes import Journal
from ..journal.masking import kept_files
from ..store.home import Home
from ..store.layout import FileKind, file_at
from ..vault.masking import generation_bytes, generations
from ..vault.vault import Vault
from .find import Finder
from .findings import Found
from .mask import Progress, file_chunks, home_files
from .masked_bytes import is_json, is_lines, may_be_json, whole_lines
from .rewrite import Replacement, rewrite_strings
from .untouched import is_untouched
from .values import SecretValue

Choose = Callable[[Found], "str | None"]
"""Return the fingerprint of a find whose value is to be masked; None for one that stays."""


def finds_in(finder: Finder, name: str, chunks: Iterable[bytes]) -> Iterator[Found]:
    """Yield what the rules find in the bytes of a file, by its name: lines of JSON, one JSON value, or text."""
    if is_lines(name):
        for block in whole_lines(chunks):
            if finder.anything.first(block) is not None:
                for line in block.splitlines(keepends=True):
                    if finder.anything.first(line) is not None:
                        yield from _in_json(finder, line, is_entry=True)
        return
    data = b"".join(chunks)
    if finder.anything.first(data) is None:
        return
    if may_be_json(name) and is_json(data):
        yield from _in_json(finder, data, is_entry=False)
    else:
        yield from finder.in_text(data.decode("utf-8", "surrogateescape").encode("utf-8", "replace").decode())


def _in_json(finder: Finder, data: bytes, *, is_entry: bool) -> list[Found]:
    found: list[Found] = []

    def look(pointer: str, text: str) -> Sequence[Replacement]:
        if not (is_entry and pointer and is_untouched(pointer, text)):
            found.extend(finder.in_text(text.encode("utf-8", "replace").decode()))
        return ()

    rewrite_strings(data, look, change_key=look)
    return found


def collect_values(
    finder: Finder,
    choose: Choose,
    homes: Sequence[Home],
    journal: Journal,
    vault: Vault,
    *,
    progress: Progress | None = None,
) -> list[SecretValue]:
    """Return every value that is to be masked, once."""
    values: dict[str, SecretValue] = {}

    def take(finds: Iterable[Found]) -> None:
        for found in finds:
            if found.value not in values and (fingerprint := choose(found)) is not None:
                values[found.value] = SecretValue(found.kind, fingerprint, found.value)

    for home in homes:
        paths = list(home_files(home))
        for number, path in enumerate(paths):
            if progress is not None:
                progress("searching the home", number, len(paths))
            name = os.path.relpath(path, home.root)
            if file_at(Path(name).parts).kind is FileKind.SECRET:
                continue
            try:
                take(finds_in(finder, name, file_chunks(path)))
            except OSError:
                continue  # the survey names it
    if vault.exists:
        kept = list(generations(vault))
        for number, (file, generation) in enumerate(kept):
            if progress is not None:
                progress("searching the vault", number, len(kept))
            try:
                take(finds_in(finder, file.path, generation_bytes(vault, file, generation)))
            except DamagedData:
                continue  # the masking itself refuses a damaged vault
    for record in journal.records():
        for path, name, _ in kept_files(journal.folder_of(record), record):
            take(finds_in(finder, name, file_chunks(path)))
    return list(values.values())
