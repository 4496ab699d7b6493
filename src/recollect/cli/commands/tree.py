"""`recollect tree`: the branches of a session, drawn.

JSON: session_id, leaf, leaf_reason, reachable_share, counts (rows by status), roots, orphans, circles, compactions (list of
{uuid, line, trigger, pre_tokens, post_tokens, preserved, rows_before, summary}), turns of the thread (list of {prompt,
uuid, time, rows, tool_calls, duration, precompact}) and rows: branches of {number, status, left_at, parent_branch,
messages, rows, prompt, prompt_uuid, leaf, first, last, reason}, with total.
"""

from __future__ import annotations

from ...export.tree_text import tree_lines
from ...library.reading import prompt_words
from ..command_run import CommandRun, command, session_argument


@command("tree", epilog="recollect tree last\nrecollect tree 3f2a --json")
@session_argument
def tree(run: CommandRun, session: str) -> None:
    """The turns of the conversation with its compactions, and every branch where it left."""
    with run.library.session(session) as found:
        if run.format == "json":
            data = found.tree.as_dict()
            rows = data.pop("rows")
            run.rows(rows, **data)
        elif run.format == "jsonl":
            run.rows(found.tree.as_dict()["rows"])
        else:
            for line in tree_lines(
                found.conversation, lambda row: prompt_words(found, row), session_id=found.id, title=found.title,
                style=run.style,
            ):  # fmt: skip
                run.print_styled(line)
