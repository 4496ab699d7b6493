"""Clients 2.0.28 - 2.1.8 wrote subagents into files beside the session. Since 2.1.9 they stand in `<session>/subagents/`."""

from __future__ import annotations

from typing import Final

from ..session_layout import LayoutDraft

NAME: Final = "subagents into the session's folder"
FROM: Final = "2.0.28"
TO: Final = "2.1.9"
DESCRIPTION: Final = "Move the files of subagents from beside the session into its folder."


def migrate(draft: LayoutDraft) -> int:
    beside = [subagent for subagent in draft.file.subagents if subagent.layout == "beside"]
    for subagent in beside:
        draft.moved[subagent.path] = draft.subagent_folder / subagent.path.name
    return len(beside)


def verify(draft: LayoutDraft) -> str | None:
    taken = [path.name for path in draft.moved.values() if path.exists() or path in draft.written]
    return f"there is a {taken[0]} already" if taken else None
