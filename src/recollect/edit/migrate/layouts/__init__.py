"""The steps that lift old layouts of the client, in the order of their age."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from ..framework import Migration
from ..session_layout import LayoutDraft
from . import (
    subagent_files as agent_files,
    subagent_meta as agent_meta,
    subagents_inside as agents_inside,
    block_lines,
    todo_tasks,
)


def _step(module: ModuleType) -> Migration[LayoutDraft]:
    def rollback(draft: LayoutDraft) -> None:
        draft.go_back(module.NAME)

    return Migration(
        module.NAME, module.FROM, module.TO, module.DESCRIPTION, module.migrate, rollback, module.verify
    )  # fmt: skip


LAYOUTS: Final = tuple(_step(module) for module in (block_lines, agents_inside, agent_files, agent_meta, todo_tasks))
