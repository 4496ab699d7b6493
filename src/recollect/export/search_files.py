"""Write the text of many pages as script files of about 1 MB, for the search in a browser.

A page under ``file://`` may not fetch data, but its script may load scripts that lie beside it: each file hands its entries to
the function `recollect` of the page. An entry is (page, uuids, speaker, text); a page is named from the folder of the file.
"""

from __future__ import annotations

import json
from typing import Any, Final

from .formats import Output
from .html_messages import RenderedMessage

FILE_BYTES: Final = 1_000_000


class SearchFiles:
    """Collects the text of messages and writes it to files whose names begin with `prefix`."""

    def __init__(self, out: Output, prefix: str, title: str) -> None:
        self._out = out
        self._prefix = prefix
        self._title = title
        self._entries: list[str] = []
        self._size = 0
        self.written: list[str] = []

    def add(self, page: str, item: RenderedMessage) -> None:
        """Add a message that is on a page. A file that is full is written."""
        if not item.words and not item.uuids:
            return
        entry = script_json([page, " ".join(item.uuids), item.speaker, item.words])
        self._entries.append(entry)
        self._size += len(entry)
        if self._size >= FILE_BYTES:
            self._write()

    def finish(self) -> list[str]:
        """Write what is left, and return the names of all files."""
        if self._entries:
            self._write()
        return self.written

    def _write(self) -> None:
        name = f"{self._prefix}search-{len(self.written) + 1:03d}.js"
        text = f'recollect({{"title":{script_json(self._title)},"entries":[\n' + ",\n".join(self._entries) + "\n]});\n"
        self._out.write(name, [text.encode("utf-8", "replace")])
        self.written.append(name)
        self._entries, self._size = [], 0


def script_json(value: Any) -> str:
    """Write a value as JSON that is also harmless inside a script."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
