"""Texts that stand in many rows, by number: asked of the catalogue once, then remembered."""

from __future__ import annotations

from typing import Any

import apsw


class Strings:
    """Numbers of texts. Used by the one writer; a text that is new gets a row."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._numbers: dict[Any, int | None] = {None: None}

    def number(self, text: Any) -> int | None:
        try:
            return self._numbers[text]
        except KeyError:
            return self._ask(text)

    def _ask(self, text: str) -> int:
        found = self._db.execute("SELECT id FROM strings WHERE text = ?", (text,)).get
        if found is None:
            self._db.execute("INSERT INTO strings(text) VALUES (?)", (text,))
            found = self._db.last_insert_rowid()
        number = int(found)
        if len(self._numbers) > 100_000:
            self._numbers = {None: None}
        self._numbers[text] = number
        return number
