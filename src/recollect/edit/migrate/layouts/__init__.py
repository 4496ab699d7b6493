"""List the steps that migrate old layouts of Claude Code, the oldest layout first."""

from __future__ import annotations

from typing import Final

from ..session_layout import Layout
from . import block_lines, subagent_files, subagent_meta, subagents_inside, todo_tasks

LAYOUTS: Final[tuple[Layout, ...]] = (block_lines, subagents_inside, subagent_files, subagent_meta, todo_tasks)
