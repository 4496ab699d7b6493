"""Move very long results into files of their own, as versions since 2.1.9 write them; the line keeps a preview.

Only on request: the result is whole again in the file, but the model gets the preview.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from ....format.entries import decode_exactly
from ....format.row_edit import change_blocks, persisted_preview, set_members
from ....store.layout import tool_results_folder
from ..draft import Draft

NAME: Final = "outputs"
WORDS: Final = "move very long results into files"
LONG_LINE: Final = 8 << 20
LONG_RESULT: Final = 30_000


def fix(draft: Draft) -> int:
    mended = 0
    folder = tool_results_folder(draft.path)
    for row, place in draft.rows():
        if row.length <= LONG_LINE or not row.tool_results:
            continue
        data = draft.bytes_of(draft.pieces[place])
        moved: dict[Path, list[bytes]] = {}

        def with_preview(block: Any, moved: dict[Path, list[bytes]] = moved) -> list[Any]:
            content = block.get("content") if isinstance(block, dict) and block.get("type") == "tool_result" else None
            ident = str(block.get("tool_use_id")) if isinstance(block, dict) else ""
            if not isinstance(content, str) or len(content) <= LONG_RESULT or not ident.replace("_", "").isalnum():
                return [block]
            path = folder / f"{ident}.txt"
            moved[path] = [content.encode("utf-8", "replace")]
            return [block | {"content": persisted_preview(content, str(path))}]

        new = change_blocks(data, with_preview)
        if not moved:
            continue
        told = decode_exactly(data)
        if isinstance(told, dict) and "toolUseResult" in told:
            path = next(iter(moved))
            new = set_members(new, {"toolUseResult": {"persistedOutputPath": str(path)}})
        draft.beside |= moved
        draft.rewrite(place, new)
        mended += 1
    return mended
