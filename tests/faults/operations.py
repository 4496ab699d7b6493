"""Every operation that changes a home, as the fault tests carry it out."""

from __future__ import annotations

import contextlib
import io
import json
import os
import unittest.mock
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct
from tests.faults.scene import BYSTANDER, CWD, SESSION, SHARING, TORN, Scene

from recollect.cli.command_run import CommandRun
from recollect.cli.main import cli
from recollect.edit.append import SessionWriter
from recollect.edit.delete import plan_delete, plan_delete_project
from recollect.edit.fork import plan_fork
from recollect.edit.migrate import plan_migrate
from recollect.edit.move import plan_move
from recollect.edit.repair.plan import plan_repair
from recollect.edit.split import plan_split
from recollect.edit.state_lines import plan_rename, plan_rewind, plan_tag
from recollect.edit.todo_changes import plan_add_task, plan_remove_task, plan_save_todos, plan_set_task
from recollect.format.encode import RowContext, custom_title, encode_line
from recollect.journal.changes import Change, Journal, Record
from recollect.library.library import Library
from recollect.library.writing import subagent_writer

Perform = Callable[[Scene], None]


@dataclass(frozen=True)
class Operation:
    """One change. `prepare` makes what it needs; `perform` returns when the change is acknowledged."""

    name: str
    perform: Perform
    prepare: Perform | None = None
    grows: bool = False
    """A writer appends: a kill may leave an incomplete last line, which is not rolled back."""
    ends_later: bool = False
    """If it fails, it is for the next run to end it."""
    share: float = 1.0
    """Of the kills at random moments: several ways of one command get its number together, or more."""


def command(*words: str) -> Perform:
    """A command as it is typed, but in this process; `{outside}` is where the project's own files are."""

    def perform(scene: Scene) -> None:
        arguments = ["--home", str(scene.root), *(word.format(outside=scene.outside) for word in words)]
        with (
            unittest.mock.patch.dict(os.environ, environment(scene)),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            cli.main(arguments, prog_name="recollect", standalone_mode=False, obj=CommandRun())

    return perform


def environment(scene: Scene) -> dict[str, str]:
    """Recollect's own folders; only the one of the journal is looked at."""
    beside = {f"RECOLLECT_{kind}_DIR": str(scene.data.parent / kind.lower()) for kind in ("CACHE", "CONFIG")}
    return beside | {"RECOLLECT_DATA_DIR": str(scene.data)}


def _append_with_a_writer(scene: Scene) -> None:
    with scene.writer() as writer:
        writer.append_message("user", "One more question. " * 20)


def _append_behind_a_torn_line(scene: Scene) -> None:
    with scene.writer(TORN) as writer:
        writer.append_message("user", "Where were we?")


def _create_with_a_writer(scene: Scene) -> None:
    session_id = str(uuid.uuid4())
    path = scene.home.projects / "-work-fresh" / f"{session_id}.jsonl"
    with SessionWriter(scene.journal, scene.home, path, RowContext(session_id, "/work/fresh")) as writer:
        writer.append_message("user", "A new session")


def _begin_a_subagent(scene: Scene) -> None:
    """Its folder, the file that says what it is, and its first line."""
    with subagent_writer(scene.writer(BYSTANDER), "a0123456789abcdef") as writer:
        writer.append_message("user", "An errand")


def _append_as_a_change(scene: Scene) -> None:
    row = {"type": "system", "subtype": "note", "sessionId": SESSION, "content": "x" * 5000}
    with scene.journal.change(scene.home, "append", "Append a row") as change:
        change.append(scene.transcript(), encode_line(row))
        change.append(scene.transcript(TORN), encode_line(row))
        change.append(scene.transcript(), encode_line(row))
        change.commit()


def _create(scene: Scene) -> None:
    session_id = str(uuid.uuid4())
    with scene.journal.change(scene.home, "new", "A new session in a new project") as change:
        path = scene.home.projects / "-work-new" / f"{session_id}.jsonl"
        change.append(path, encode_line(custom_title(session_id, "New")), create=True)
        change.commit()


def _replace(scene: Scene) -> None:
    with scene.journal.change(scene.home, "write", "Replace a file") as change:
        change.write(
            scene.root / "settings.json", [b"{}" + b" " * 300_000] * 2, replace=True, mtime_ns=1_700_000_000 * 10**9
        )
        change.commit()


def _commit(planned: Change | tuple[Change, object]) -> None:
    change = planned[0] if isinstance(planned, tuple) else planned
    with change:
        change.commit()


def _rename(scene: Scene) -> None:
    _commit(plan_rename(scene.journal, scene.session_file(), "Groceries", force=True))


def _tag(scene: Scene) -> None:
    _commit(plan_tag(scene.journal, scene.session_file(), "home", force=True))


def _rewind(scene: Scene) -> None:
    rows = [json.loads(line) for line in scene.transcript().read_bytes().splitlines()]
    first = next(row["uuid"] for row in rows if row["type"] == "assistant")
    _commit(plan_rewind(scene.journal, scene.session_file(), first, force=True))


def _fork(scene: Scene) -> None:
    _commit(plan_fork(scene.journal, scene.session_file()))


def _move(scene: Scene) -> None:
    _commit(plan_move(scene.journal, scene.home, CWD, "/work/moved", force=True))


def _split(scene: Scene) -> None:
    _commit(plan_split(scene.journal, scene.home, "-work-notes", project=SHARING, name="shared-before", force=True))


def _delete(scene: Scene) -> None:
    _commit(plan_delete(scene.journal, scene.home, [scene.session_file()]))


def _delete_project(scene: Scene) -> None:
    _commit(plan_delete_project(scene.journal, scene.home, "/work/other", force=True))


def _save_todos(scene: Scene) -> None:
    items = [{"content": "Buy milk", "status": "pending", "activeForm": "Buying milk"}]
    _commit(plan_save_todos(scene.journal, scene.home, SESSION, items))


def _complete_a_todo(scene: Scene) -> None:
    items = [{"content": "Buy milk", "status": "completed", "activeForm": "Buying milk"}]
    _commit(plan_save_todos(scene.journal, scene.home, SESSION, items))


def _add_a_task(scene: Scene) -> None:
    _commit(plan_add_task(scene.journal, scene.home, SESSION, "Buy milk"))


def _set_a_task(scene: Scene) -> None:
    _commit(plan_set_task(scene.journal, scene.home, SESSION, "1", "in_progress"))


def _remove_a_task(scene: Scene) -> None:
    _commit(plan_remove_task(scene.journal, scene.home, SESSION, "1"))


def _add_and_set_a_task(scene: Scene) -> None:
    _add_a_task(scene)
    _set_a_task(scene)


def _repair(scene: Scene) -> None:
    """A torn line leaves the file; its bytes are kept in Recollect's own folder."""
    _commit(plan_repair(scene.journal, scene.session_file(TORN)))


def _repair_into_a_fork(scene: Scene) -> None:
    _commit(plan_repair(scene.journal, scene.session_file(TORN), fork=True))


def _age(scene: Scene) -> None:
    """The subagent's file stands beside the session, as old clients put it, and there is a to-do list."""
    (subagent,) = (scene.project / SESSION / "subagents").glob("agent-*.jsonl")
    subagent.rename(scene.project / subagent.name)
    for rest in (scene.project / SESSION / "subagents").iterdir():
        rest.unlink()
    (scene.project / SESSION / "subagents").rmdir()
    (scene.root / "todos").mkdir()
    todos = scene.root / "todos" / f"{SESSION}-agent-{SESSION}.json"
    todos.write_text('[{"content":"Buy milk","status":"pending","activeForm":"Buying milk"}]')
    os.utime(todos, (1_600_000_000, 1_600_000_000))


def _migrate(scene: Scene) -> None:
    library = Library([scene.home])
    _commit(plan_migrate(scene.journal, library.session(SESSION).file))


def _restore_a_file(place: str) -> Perform:
    """A file of the project, outside the home."""
    return command(
        "files", SESSION, f"{CWD}/list.md", "--at", "end", "--write", "--output", f"{{outside}}/{place}", "--yes"
    )


def _many_files(scene: Scene) -> None:
    """Every kind of step in one change."""
    root = scene.root
    with scene.journal.change(scene.home, "many", "Every kind of step") as change:
        change.rely_on(scene.transcript(BYSTANDER))
        change.write(root / "new" / "deep" / "file.txt", [b"written\n" * 2000], mtime_ns=1_600_000_000 * 10**9)
        change.write(root / "settings.json", [b'{"model":"haiku"}'], replace=True)
        change.move(root / "plans" / "quiet-river.md", root / "new" / "river.md")
        change.remove_folder(root / "plans")
        change.remove(root / "file-history" / "old")
        change.append(scene.transcript(), encode_line(custom_title(SESSION, "Many")), keep_mtime=True)
        change.move(scene.project / SESSION, root / "new" / "moved")
        change.commit()


def _undo(scene: Scene) -> None:
    scene.journal.undo(scene.journal.record(), scene.home)


class _Crash(BaseException):
    """The process ends here."""


class _CrashingJournal(Journal):
    """Ends when everything is done, but for the note that it is."""

    def mark(self, folder: Path, state: str, told: Mapping[str, Struct] | None = None) -> None:
        raise _Crash

    def roll_back(self, record: Record) -> None:
        raise _Crash


def _leave_half_done(scene: Scene) -> None:
    """As a crash leaves it."""
    root = scene.root
    change = _CrashingJournal(scene.data).change(scene.home, "many", "Many steps")
    change.write(root / "new" / "file.txt", [b"written\n" * 2000])
    change.write(root / "settings.json", [b"{}"], replace=True)
    change.remove(root / "file-history" / "old")
    change.append(scene.transcript(), encode_line(custom_title(SESSION, "Many")), keep_mtime=True)
    change.move(root / "plans" / "quiet-river.md", root / "new" / "river.md")
    with contextlib.suppress(_Crash):
        change.commit()
    assert scene.journal.is_interrupted(scene.home)


def _recover(scene: Scene) -> None:
    journal = scene.journal
    with journal.locked(scene.home):
        journal.recover(scene.home)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("append with a writer", _append_with_a_writer, grows=True),
        Operation("append behind a torn line", _append_behind_a_torn_line, grows=True),
        Operation("create with a writer", _create_with_a_writer, grows=True),
        Operation("begin a subagent", _begin_a_subagent, grows=True, share=0.4),
        Operation("append as a change", _append_as_a_change),
        Operation("create", _create),
        Operation("replace", _replace),
        Operation("rename", _rename),
        Operation("tag", _tag),
        Operation("archive", command("archive", SESSION, "--title", "Groceries (done)", "--force", "--yes")),
        Operation("rewind", _rewind),
        Operation("fork", _fork),
        Operation("move", _move),
        Operation("split", _split),
        Operation("delete", _delete),
        Operation("delete a project", _delete_project),
        Operation("save to-dos", _save_todos),
        Operation("set a to-do", _complete_a_todo, _save_todos, share=0.4),
        Operation("add a task", _add_a_task),
        Operation("set a task", _set_a_task, _add_a_task, share=0.4),
        Operation("remove a task", _remove_a_task, _add_and_set_a_task, share=0.4),
        Operation("repair", _repair),
        Operation("repair into a fork", _repair_into_a_fork),
        Operation("migrate", _migrate, _age),
        Operation("restore a file", _restore_a_file("list.md")),
        Operation("restore a file into a new folder", _restore_a_file("more/list.md"), share=0.4),
        Operation("many files", _many_files),
        Operation("undo an append", _undo, _append_as_a_change),
        Operation("undo a writer", _undo, _append_with_a_writer),
        Operation("undo a new session", _undo, _create_with_a_writer),
        Operation("undo a new subagent", _undo, _begin_a_subagent, share=0.25),
        Operation("undo a replace", _undo, _replace),
        Operation("undo many files", _undo, _many_files),
        Operation("undo a move", _undo, _move),
        Operation("undo a repair", _undo, _repair),
        *(
            Operation(f"undo a {name}", _undo, prepare, share=0.25)
            for name, prepare in (
                ("rename", _rename),
                ("tag", _tag),
                ("rewind", _rewind),
                ("fork", _fork),
                ("split", _split),
                ("delete", _delete),
                ("new task", _add_a_task),
                ("set task", _add_and_set_a_task),
                ("restored file", _restore_a_file("list.md")),
            )
        ),
        Operation("recover", _recover, _leave_half_done, ends_later=True),
    )
}

ON_TWO_DISKS = [
    "replace",
    "delete",
    "restore a file",
    "repair",
    "many files",
    "undo a replace",
    "undo many files",
    "recover",
]
"""Operations to try with a journal from which nothing can be renamed into the home."""
