"""Export the session's own lines, byte for byte; those of its subagents lie beside it, as Claude Code keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .document import Document, ExportOptions
from .formats import Output


def write(documents: Iterable[Document], out: Output, options: ExportOptions) -> None:
    """Write the main transcript, and each subagent's into the folder `NAME.subagents/`."""
    for document in documents:
        session = document.session
        out.write(out.name, _bytes(document, None))
        if session.file.is_gone:  # the subagents are all there is: they stand in the file itself
            continue
        for subagent in session.file.subagents:
            if out.may_be_several:
                out.write(f"{out.stem}.subagents/{subagent.path.name}", _bytes(document, subagent.subagent_id))
            else:
                document.leave_out(f"the lines of subagent {subagent.subagent_id}")


def _bytes(document: Document, subagent: str | None) -> Iterator[bytes]:
    for line in document.session.lines(subagent):
        yield line.data
