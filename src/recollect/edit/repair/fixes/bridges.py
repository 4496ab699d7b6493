"""Bypass rows that cannot be used: their children get their parent.

Clients since 2.1 do that by themselves; those before fail to resume. The row stays in the file.
"""

from __future__ import annotations

from typing import Final

from ....format.row_edit import set_members
from ....graph.client_state import shorten
from ..draft import Draft

NAME: Final = "bridges"
WORDS: Final = "pass over messages without content"


def fix(draft: Draft) -> int:
    rows = draft.rows()
    usable = {row.uuid for row, _ in rows if row.usable}
    unusable = {row.uuid: row.parent for row, _ in rows if not row.usable and row.uuid and row.uuid not in usable}
    if not unusable:
        return 0
    ends = shorten(unusable)
    mended = 0
    for row, place in rows:
        if row.usable and row.parent in unusable:
            data = draft.bytes_of(draft.pieces[place])
            draft.rewrite(place, set_members(data, {"parentUuid": ends[row.parent]}))
            mended += 1
    return mended
