"""Places to export to, for tests of formats without the library around them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from recollect.export.document import Document, ExportOptions
from recollect.export.formats import Pieces
from recollect.export.html import write
from recollect.library.library import open_library


class FolderOutput:
    """Writes below a folder, each name once."""

    def __init__(self, folder: Path, stem: str = "talk", *, may_be_several: bool = True) -> None:
        self.folder = folder
        self.stem = stem
        self.name = f"{stem}.html"
        self.may_be_several = may_be_several
        self.files: dict[str, bytes] = {}
        self.remembered: dict[str, tuple[dict[str, Any], list[str]]] = {}

    def write(self, name: str, pieces: Pieces) -> int:
        assert name not in self.files
        self.files[name] = b""
        data = b"".join(piece.encode() if isinstance(piece, str) else piece for piece in pieces)
        self.files[name] = data
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return len(data)

    def remember(self, session_id: str, facts: dict[str, Any], files: Iterable[str]) -> None:
        self.remembered[session_id] = (facts, list(files))

    def text(self, name: str) -> str:
        return self.files[name].decode()


def export_html(home: Path, session_id: str, folder: Path, *, several: bool = True, **options: Any) -> FolderOutput:
    """Export one session of a home, as it is."""
    out = FolderOutput(folder, may_be_several=several)
    chosen = ExportOptions(**options)
    with open_library([str(home)]).session(session_id) as session:
        write([Document(session, chosen)], out, chosen)
    return out
