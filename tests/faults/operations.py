"""Every operation that changes a home, as the fault tests carry it out."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from recollect.format.encode import RowContext, checkpoint, custom_title, encode_line, tag
from recollect.store.append import SessionWriter

from tests.faults.scene import BYSTANDER, SESSION, TORN, Scene

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
        change.write(scene.root / "settings.json", [b"{}" + b" " * 300_000] * 2, replace=True, mtime_ns=1_700_000_000 * 10**9)
        change.commit()


def _state_line(scene: Scene, name: str, entry: dict[str, object]) -> None:
    with scene.journal.change(scene.home, name, name) as change:
        change.append(scene.transcript(), encode_line(entry), keep_mtime=True)
        change.commit()


def _rename(scene: Scene) -> None:
    _state_line(scene, "rename", custom_title(SESSION, "Groceries"))


def _tag(scene: Scene) -> None:
    _state_line(scene, "tag", tag(SESSION, "home"))


def _rewind(scene: Scene) -> None:
    rows = [json.loads(line) for line in scene.transcript().read_bytes().splitlines()]
    first = next(row["uuid"] for row in rows if row["type"] == "assistant")
    _state_line(scene, "rewind", checkpoint(SESSION, first))


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


def _leave_half_done(scene: Scene) -> None:
    """As a crash leaves it: written down, some of the steps done."""
    change = scene.journal.change(scene.home, "many", "Every kind of step")
    done = 0

    class Crash(BaseException):
        pass

    def crash(*_: object) -> None:
        raise Crash

    journal = change.journal
    journal.roll_back = crash  # type: ignore[method-assign]
    root = scene.root
    change.write(root / "new" / "file.txt", [b"written\n" * 2000])
    change.write(root / "settings.json", [b"{}"], replace=True)
    change.remove(root / "file-history" / "old")
    change.append(scene.transcript(), encode_line(custom_title(SESSION, "Many")), keep_mtime=True)
    change.move(root / "plans" / "quiet-river.md", root / "new" / "river.md")
    journal.mark = crash  # type: ignore[method-assign]
    try:
        change.commit()
    except Crash:
        done += 1
    assert done == 1


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
        Operation("append as a change", _append_as_a_change),
        Operation("create", _create),
        Operation("replace", _replace),
        Operation("rename", _rename),
        Operation("tag", _tag),
        Operation("rewind", _rewind),
        Operation("many files", _many_files),
        Operation("undo an append", _undo, _append_as_a_change),
        Operation("undo a writer", _undo, _append_with_a_writer),
        Operation("undo a new session", _undo, _create_with_a_writer),
        Operation("undo a replace", _undo, _replace),
        Operation("undo many files", _undo, _many_files),
        Operation("recover", _recover, _leave_half_done, ends_later=True),
    )
}
