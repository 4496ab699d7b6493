"""`recollect bookmark`: mark sessions and messages, list the marks, take them away.

JSON: the list is rows of {session_id, message, note, title, time, gone}, with total; `add` answers with the bookmark,
`remove` with {session_id, message, removed}. `message` is null for a session as a whole, `gone` tells that no home that is
open has the session.
"""

from __future__ import annotations

from typing import Any

import click

from ...errors import NotFound
from ...format.times import to_iso
from ...library.bookmarks import Bookmark, add_bookmark, read_bookmarks, remove_bookmark
from ...library.messages import message_uuid
from ..command_run import Column, CommandRun, command, complete_session
from ..moments import local


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
    from ...environment import own_folder

    folder = own_folder("data")
    if action in (None, "list"):
        if session is not None or note is not None:
            raise click.UsageError("to mark it: recollect bookmark add SESSION")
        _show(run, read_bookmarks(folder))
        return
    if session is None:
        raise click.UsageError(f"which session? for example: recollect bookmark {action} last")
    if action == "add":
        found = run.library.session(session)
        uuid = None if message is None else message_uuid(found, message)
        made = add_bookmark(folder, found.id, uuid, note or "", found.summary.title or "")
        if run.is_text:
            run.print(f"marked {'message ' + uuid + ' of ' if uuid else ''}{found.id}")
        else:
            run.value(_data(made, gone=False))
        return
    gone = _marked(run, read_bookmarks(folder), session, message)
    remove_bookmark(folder, gone.session_id, gone.message)
    if run.is_text:
        run.print(f"no longer marked: {'message ' + gone.message + ' of ' if gone.message else ''}{gone.session_id}")
    else:
        run.value({"session_id": gone.session_id, "message": gone.message, "removed": True})


def _marked(run: CommandRun, known: list[Bookmark], session: str, message: str | None) -> Bookmark:
    """The bookmark that is meant; its session may be gone by now."""
    start, part = session.strip().lower(), (message or "").strip().lower()
    ids = {item.session_id for item in known if start and item.session_id.lower().startswith(start)}
    if len(ids) != 1:
        ids = {run.library.session(session).id}
    found = [
        item
        for item in known
        if item.session_id in ids
        and (item.message is None if message is None else (item.message or "").lower().startswith(part or "-"))
    ]
    if len(found) == 1:
        return found[0]
    what = f"message {message} of session {session}" if message else f"session {session}"
    raise NotFound(
        f"{what} is not marked" if not found else f"{message!r} is the start of {len(found)} marked messages",
        slug="no-such-bookmark" if not found else "ambiguous-message",
        hint="`recollect bookmark` lists all bookmarks",
        nearest=tuple(item.message or item.session_id for item in known if item.session_id in ids)[:10],
    )


def _data(item: Bookmark, *, gone: bool) -> dict[str, Any]:
    return {
        "session_id": item.session_id, "message": item.message, "note": item.note, "title": item.title,
        "time": to_iso(item.time), "gone": gone,
    }  # fmt: skip


def _show(run: CommandRun, known: list[Bookmark]) -> None:
    there = {file.session_id for file in run.library.files()} if known else set()
    rows = [_data(item, gone=item.session_id not in there) for item in known]
    run.rows(
        rows,
        (
            Column("time", "marked", local), Column("session_id", "session", lambda text: text[:8]),
            Column("message", show=lambda text: (text or "")[:8]), Column("title", stretch=True), Column("note", stretch=True),
            Column("gone", "", lambda gone: "gone" if gone else ""),
        ),
        empty="nothing is marked: recollect bookmark add SESSION", total=len(rows),
    )  # fmt: skip
