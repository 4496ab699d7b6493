"""`recollect bookmark`: mark sessions and messages, list the marks, take them away.

JSON: the list is rows of {session_id, message, note, title, time, gone}, with total; `add` answers with the bookmark,
`remove` with {session_id, message, removed}. `message` is null for a session as a whole, `gone` tells that no home that is
open has the session.
"""

from __future__ import annotations

import click

from ...export.moments import local
from ...library.bookmarks import Bookmark, bookmark_row
from ..command_run import Column, CommandRun, command, complete_session


@command(
    "bookmark",
    epilog='recollect bookmark add last --note "the idea with two queues"\nrecollect bookmark add 3f2a 8c1f\n'
    "recollect bookmark\nrecollect bookmark remove 3f2a 8c1f",
)
@click.argument("action", required=False, type=click.Choice(["add", "list", "remove"]))
@click.argument("session", required=False, shell_complete=complete_session)
@click.argument("message", required=False)
@click.option("--note", metavar="TEXT", help="Why it is worth coming back to.")
def bookmark(run: CommandRun, action: str | None, session: str | None, message: str | None, note: str | None) -> None:
    """Mark SESSION, or a MESSAGE of it (#12, line:292, a uuid or the start of one). Without an action: the list, newest first.

    Bookmarks are kept in Recollect's own folder; nothing is written into a home. The pages of `serve` show the same ones.
    """
    bookmarks = run.library.bookmarks
    if action in (None, "list"):
        if session is not None or note is not None:
            raise click.UsageError("to mark it: recollect bookmark add SESSION")
        _show(run)
        return
    if session is None:
        raise click.UsageError(f"which session? for example: recollect bookmark {action} last")
    if action == "add":
        made = bookmarks.add(session, message, note or "")
        if run.is_text:
            run.print(f"marked {_name(made)}")
        else:
            run.value(bookmark_row(made))
        return
    gone = bookmarks.remove(session, message)
    if run.is_text:
        run.print(f"no longer marked: {_name(gone)}")
    else:
        run.value({"session_id": gone.session_id, "message": gone.message, "removed": True})


def _name(item: Bookmark) -> str:
    return f"{'message ' + item.message + ' of ' if item.message else ''}{item.session_id}"


def _show(run: CommandRun) -> None:
    rows = run.library.bookmarks.rows()
    run.rows(
        rows,
        (
            Column("time", "marked", local), Column("session_id", "session", lambda text: text[:8]),
            Column("message", show=lambda text: (text or "")[:8]), Column("title", stretch=True), Column("note", stretch=True),
            Column("gone", "", lambda gone: "gone" if gone else ""),
        ),
        empty="nothing is marked: recollect bookmark add SESSION", total=len(rows),
    )  # fmt: skip
