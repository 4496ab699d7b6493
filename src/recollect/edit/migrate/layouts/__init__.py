"""The steps that lift old layouts of the client, in the order of their age."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from ..framework import Migration
from ..session_layout import LayoutDraft
from . import (
    block_lines,
    todo_tasks,
)
from . import (
    subagent_files as subagent_files,
)
from . import (
    subagent_meta as subagent_meta,
)
from . import (
    subagents_inside as subagents_inside,
)


def _step(module: ModuleType) -> Migration[LayoutDraft]:
    def rollback(draft: LayoutDraft) -> None:
        draft.go_back(module.NAME)

    return Migration(
        module.NAME, module.FROM, module.TO, module.DESCRIPTION, module.migrate, rollback, module.verify
    )  # fmt: skip


LAYOUTS: Final = tuple(
    _step(module) for module in (block_lines, subagents_inside, subagent_files, subagent_meta, todo_tasks)
)
