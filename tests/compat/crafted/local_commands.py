"""System rows: of what they say, only the answers of local commands are sent, as the user's words."""

from __future__ import annotations

from tests.compat.crafted.sheet import Sheet

SUBTYPES = (
    "api_error", "away_summary", "file_snapshot", "informational", "late_allow_not_run", "local_command", "memory_saved",
    "microcompact_boundary", "notification", "permission_retry", "scheduled_task_fire", "stop_hook_summary",
    "task_notification", "turn_duration",
)  # fmt: skip


def system_rows_of_many_kinds(s: Sheet) -> None:
    """Only one of them is sent."""
    s.turns(1)
    for subtype in SUBTYPES:
        s.system(f"said by {subtype}", subtype)
    s.turns(2)


def local_commands_everywhere(s: Sheet) -> None:
    """Before the first prompt, marked as meta, on a branch that was left, behind the last answer."""
    s.system("before all", "local_command", parent=None)
    s.turns(1)
    s.system("meta", "local_command", isMeta=True)
    s.turns(2)
    s.system("left behind", "local_command", parent="A1")
    s.turn(3, parent="A2")
    s.system("at the end", "local_command")


def local_commands_around_a_compaction(s: Sheet) -> None:
    """What stands before the boundary is summarised."""
    s.turns(1)
    s.system("before it", "local_command")
    s.boundary("B")
    s.summary("C1")
    s.system("after it", "local_command")
    s.turns(2)


def local_command_beside_a_call(s: Sheet) -> None:
    """It hangs on the call beside the result, and is put back."""
    s.user("U1")
    s.call("C1", "T1")
    s.system("between", "local_command")
    s.result("R1", "T1", parent="C1")
    s.assistant("A1")
    s.checkpoint("A1")
    s.system("late", "local_command")
