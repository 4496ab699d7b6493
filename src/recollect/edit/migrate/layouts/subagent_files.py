"""Clients 2.0.28 - 2.1.8 wrote sub-agents into files beside the session. Since 2.1.9 they stand in `<session>/subagents/`."""

from __future__ import annotations

from typing import Final

from ..session_layout import LayoutDraft

NAME: Final = "sub-agents into the session's folder"
FROM: Final = "2.0.28"
TO: Final = "2.1.9"
DESCRIPTION: Final = "Move the files of sub-agents from beside the session into its folder."


def migrate(draft: LayoutDraft) -> int:
    beside = [agent for agent in draft.file.agents if agent.layout == "beside"]
    for agent in beside:
        draft.moved[agent.path] = draft.agent_folder / agent.path.name
    return len(beside)


def verify(draft: LayoutDraft) -> str | None:
    taken = [path.name for path in draft.moved.values() if path.exists() or path in draft.written]
    return f"there is a {taken[0]} already" if taken else None
