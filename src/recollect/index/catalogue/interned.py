"""Texts that stand in many rows, by number: asked of the catalogue once, then remembered."""

from __future__ import annotations

from typing import Any

import apsw


class Strings:
    """Numbers of texts. Used by the one writer; a text that is new gets a row."""

    def __init__(self, db: apsw.Connection) -> None:
        self.numbers = _Numbers(db)
        """A dictionary that asks for what it does not have."""
        self.number = self.numbers.__getitem__


class _Numbers(dict[Any, "int | None"]):
    def __init__(self, db: apsw.Connection) -> None:
        super().__init__({None: None})
        self._db = db
        self._all = db.execute("SELECT 1 FROM strings LIMIT 1").get is None
        """Whether every text is here: then one that is not needs not be asked for."""

    def __missing__(self, text: str) -> int:
        found = None if self._all else self._db.execute("SELECT id FROM strings WHERE text = ?", (text,)).get
        if found is None:
            self._db.execute("INSERT INTO strings(text) VALUES (?)", (text,))
            found = self._db.last_insert_rowid()
        number = int(found)
        if len(self) > 100_000:
            self.clear()
            self._all = False
            self[None] = None
        self[text] = number
        return number
