"""Where bytes go that leave a transcript: a side file in Recollect's data folder, one for each repair.

    fragments/<session>/<hash>.jsonl      a line for each: {"why", "path", "line", "offset", "length", and one of
                                          "text", "base64", "nul_bytes"}

The file is part of the change: it appears with it and goes when the change is undone.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...journal.changes import Change
from .draft import Fragment


def keep_fragments(
    change: Change, data_folder: Path, session_id: str, found: Sequence[tuple[Path, Fragment]]
) -> Path | None:
    """Let the change keep these fragments; the path of the side file, or None where there is nothing to keep."""
    if not found:
        return None
    lines = [keep_fragment(path, item) for path, item in found]
    digest = hashlib.sha256()
    for _, item in found:
        digest.update(f"{item.why} {item.offset} {len(item.data)} ".encode() + item.data)
    name = digest.hexdigest()[:16]
    # A session's name may be anything where the file's is; only ids that lead nowhere else become a folder's name.
    folder = (
        session_id if session_id.replace("-", "").isalnum() else hashlib.sha256(session_id.encode()).hexdigest()[:32]
    )
    target = data_folder / "fragments" / folder / f"{name}.jsonl"
    if target.exists():  # an earlier repair of the same damage kept the same bytes, and the file was put back since
        return target
    change.write(target, lines, elsewhere=True)
    return target


def keep_fragment(path: Path, item: Fragment) -> bytes:
    """One fragment as a line of the side file."""
    told: dict[str, Any] = {
        "why": item.why,
        "path": str(path),
        "line": item.line,
        "offset": item.offset,
        "length": len(item.data),
    }
    if item.data and not item.data.strip(b"\x00"):
        told["nul_bytes"] = len(item.data)
    else:
        try:
            told["text"] = item.data.decode()
        except UnicodeDecodeError:
            told["base64"] = base64.b64encode(item.data).decode()
    return json.dumps(told, ensure_ascii=True).encode() + b"\n"


def read_fragments(path: Path) -> Iterator[tuple[dict[str, Any], bytes]]:
    """The fragments of a side file, with their bytes."""
    with open(path, "rb") as stream:
        for line in stream:
            told = json.loads(line)
            if "nul_bytes" in told:
                yield told, b"\x00" * told["nul_bytes"]
            elif "base64" in told:
                yield told, base64.b64decode(told["base64"])
            else:
                yield told, told["text"].encode()
