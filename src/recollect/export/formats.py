"""List the export formats: one module each, with a function `write`.

    def write(documents: Iterable[Document], out: Output, options: ExportOptions) -> None

writes the documents (one, unless the format `holds_many`) by calling `out.write(name, pieces)` once for each file: the main
file is `out.name`, pictures and further pages are beside it, named after `out.stem`. Pieces are made while they are written, so
that no document is in memory as a whole. Where the files go, who may read them, whether something is in the way and whether a
secret is left in them is decided by `library/exporting.py`, not here: a format only makes text.

The format `site` has `write_site(sessions: Iterable[SiteSession], out: SiteOutput, options: ExportOptions)` instead.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from ..errors import Refused
from .document import Depth, Document, ExportOptions

Pieces = Iterable[str | bytes]


class Output(Protocol):
    """Where a format writes."""

    @property
    def name(self) -> str:
        """Return the name of the main file: ``2026-03-02 A title.md``."""

    @property
    def stem(self) -> str:
        """Return the name without its ending: for the files beside the main file."""

    @property
    def may_be_several(self) -> bool:
        """Return whether files beside the main file can be written; not to standard output."""

    def write(self, name: str, pieces: Pieces) -> int:
        """Write a file (`/` separates folders) and return its size. A name is written once."""


class ScratchOutput(Output, Protocol):
    """Where a format writes that needs private files on the way."""

    def scratch(self, name: str) -> Path:
        """Return the path of a private file, which is removed after the export."""

    def write_scratch(self, path: Path, pieces: Pieces) -> None:
        """Write a private file. It is searched for secrets like those that are exported."""


class SiteOutput(Output, Protocol):
    """The folder of a site."""

    def remember(self, session_id: str, facts: dict[str, Any], files: Iterable[str]) -> None:
        """Remember what the site's own pages need of a session (JSON), and its files, for the next run.

        Files of an earlier run that no session has any more and that were not written are removed.
        """


@dataclass(frozen=True)
class SiteSession:
    """A session of a site."""

    id: str
    remembered: dict[str, Any] | None
    """What was remembered, if neither the session nor the options changed since: its files need not be written."""
    open: Callable[[], AbstractContextManager[Document]]
    """Opens the document, redacted if that is wanted."""


@dataclass(frozen=True)
class Format:
    """An export format."""

    name: str
    suffix: str
    media_type: str
    words: str
    """What it is for, for people."""
    module: str
    depth: Depth = "tools"
    """The depth where none is chosen."""
    redact: str = "secrets"
    """What is redacted where nothing is chosen: none, secrets or personal."""
    holds_many: bool = False
    """Whether one file holds several sessions."""
    branches: bool = False
    """Whether branches are written where nothing is chosen."""

    def write(self, documents: Iterable[Document], out: Output, options: ExportOptions) -> None:
        """Write documents in this format."""
        self._module().write(documents, out, options)

    def write_site(self, sessions: Iterable[SiteSession], out: SiteOutput, options: ExportOptions) -> None:
        """Write a folder of pages."""
        self._module().write_site(sessions, out, options)

    def _module(self) -> Any:
        return importlib.import_module(f".{self.module}", __package__)


FORMATS: Final = {
    item.name: item
    for item in (
        Format("html", ".html", "text/html", "one page for a browser", "html"),
        Format("md", ".md", "text/markdown", "Markdown for GitHub and Obsidian", "markdown"),
        Format("text", ".txt", "text/plain", "plain text, 100 columns", "plain_text"),
        Format("json", ".json", "application/json", "everything, for programs", "json_document", "all", "none", branches=True),
        Format("jsonl", ".jsonl", "application/jsonl", "the session's own lines", "raw_lines", "all", "none"),
        Format("csv", ".csv", "text/csv", "tables of messages and of tool calls", "csv_tables", "all", holds_many=True,
               branches=True),
        Format("parquet", ".parquet", "application/vnd.apache.parquet", "the same tables for data tools", "parquet_tables",
               "all", holds_many=True, branches=True),
        Format("atif", ".json", "application/json", "a trajectory for training and evaluation", "atif", "all"),
        Format("otel", ".json", "application/json", "spans for tracing (experimental)", "otel", "all", holds_many=True),
        Format("openai", ".jsonl", "application/jsonl", "chat messages for tuning", "openai_chat", "all", holds_many=True),
    )
}  # fmt: skip
SITE: Final = Format(
    "site", "", "text/html", "a folder of pages with search", "site", redact="personal", holds_many=True
)


def format_named(name: str) -> Format:
    """Return a format by its name. Raises Refused."""
    if name not in FORMATS:
        raise Refused(f"no such format: {name}", hint=f"one of {', '.join(FORMATS)}", slug="no-such-format")
    return FORMATS[name]
