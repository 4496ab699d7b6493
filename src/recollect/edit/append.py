"""Append messages to the end of the active conversation of a session: one synced O_APPEND write for each line.

A writer may be used while Claude Code or another Recollect process appends too: before every line the file's size is looked
at under the lock, and where somebody else wrote, the end of the conversation is found again. The first line of a writer is
journaled (`AppendRun`), so that `undo` takes away everything it wrote.

Before its first line, and where somebody else wrote since its last one, a writer asks whether the session is in use
(`guard.py`), unless it writes by force. Behind its own lines it goes on without a question.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..errors import NotFound, Refused, StoreBusy
from ..format.content_check import calls_in, check_blocks, check_row, check_uuid
from ..format.encode import (
    DEFAULT_MODEL,
    RowContext,
    RowLines,
    assistant_message,
    check_message,
    custom_title,
    encode_line,
    new_uuid,
    row,
    user_message,
)
from ..format.path_text import to_text
from ..format.times import LATEST
from ..graph.fork_point import append_point
from ..graph.rows import Row, Transcript
from ..journal import disk
from ..journal.actions import AppendRecord, AppendRun
from ..journal.changes import Change, Journal, Record
from ..journal.disk import new_hash
from ..journal.guard import refuse_if_busy
from ..store.home import Home, is_inside, place_to_write
from ..store.layout import is_session_id
from ..store.read import read_transcript
from ..store.stamp import Stamp, stamp_of

Content = str | Sequence[Mapping[str, Any]]


class SessionWriter:
    """Appends rows to one transcript file. Use as a context manager; `close` completes the journal entry."""

    def __init__(
        self,
        journal: Journal,
        home: Home,
        path: Path,
        context: RowContext,
        *,
        sync: bool = True,
        title: str = "",
        new: bool = False,
        force: bool = False,
        companion: tuple[Path, bytes] | None = None,
    ) -> None:
        """Prepare to append. With `new`, the file must not exist yet; `force` appends to a session that is in use.

        `companion` is a file that a new transcript has beside it; it is written with the first line.
        """
        if not is_session_id(context.session_id):
            raise Refused(f"{context.session_id!r} is not a session id (a UUID in lower case)", slug="bad-session-id")
        if not is_inside(home, path):
            raise Refused(f"{path} is outside of {home.root}", slug="outside-home")
        place = place_to_write(home, path)
        self.journal = journal
        self.home = home
        self.path = path
        self.context = context
        self.sync = sync
        self.title = title or f"Append to {context.session_id}"
        self.force = force
        self._is_new = new
        """Whether the file must not be there before the first line."""
        self.model: str | None = None
        self.leaf: str | None = None
        """What the next message hangs on, when the file was looked at."""
        self.hung_on: str | None = None
        """What the last message hangs on."""
        self._end_hides = False
        """Whether Claude Code would not resume with a message that hangs there."""
        self.record: Record | None = None
        self._lock = journal.lock_of(home)
        self._lock_size: int | None = None
        """It grows when something is begun that a crash may leave half done."""
        self._lines = RowLines(context)
        self._place = str(place)
        self._last_milliseconds = 0
        self._seen: Stamp | None = None
        self._exists = stamp_of(path) is not None
        self._written_up_to: int | None = None
        """Where our last line ended; None before the first."""
        self._tail = new_hash()
        """Of all that was appended."""
        self._known = False
        """Whether `leaf` and the uuids are those of the file as `_seen` says."""
        self._line_ended = False
        """Whether the file as `_seen` says ends in a line of ours."""
        self._uuids_known = False
        """Whether the uuids and calls are; the end of the conversation may have to be found again all the same."""
        self._uuids: set[str] = set()
        self._calls: set[str] = set()
        """The ids of all tool calls in the file."""
        self._companion = companion

    def __enter__(self) -> SessionWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- what is appended ---------------------------------------------------------------------------------------------

    def append_message(
        self,
        role: str,
        content: Content,
        *,
        model: str | None = None,
        uuid: str | None = None,
        parent: str | None = None,
        usage: Mapping[str, Any] | None = None,
        stop_reason: str | None = None,
        message_id: str | None = None,
        allow_unknown_call: bool = False,
        **fields: Any,
    ) -> str:
        """Append a prompt or an answer to the end of the conversation, or below `parent`, and return its uuid.

        Below any other row than the end it begins a branch: where a checkpoint in the file says that the conversation ends
        elsewhere, Claude Code goes on from there until it is rewound to the branch.
        A result must answer a call of this file, or Claude Code drops it; `allow_unknown_call` says that this is meant.
        """
        if role not in ("user", "assistant"):
            raise Refused(f"a message is of the user or the assistant, not of {role!r}", slug="bad-role")
        calls: Sequence[str] = ()
        results: Sequence[str] = ()
        if not isinstance(content, str):
            calls, results = check_blocks(role, content)
        check_message(content)
        if uuid is not None:
            check_uuid(uuid)
        if parent or model or usage or stop_reason or message_id or fields:
            texts = {"parent": parent, "model": model, "stop_reason": stop_reason, "message_id": message_id}
            check_row(texts, usage, fields)
        ident = uuid or new_uuid()
        self.journal.take(self._lock)
        fd: int | None = None
        try:
            self._recover()
            fd = self._open_if_unchanged()
            now = self._seen
            if fd is None:
                now = self._look()
                self._find_end(now)
            if parent is None:
                parent = self._end()
            elif parent not in self._uuids:
                raise NotFound(f"session {self.context.session_id} has no message {parent}", slug="no-such-message")
            if ident in self._uuids:
                raise Refused(f"message {ident} is there already", slug="exists")
            if calls:
                self._refuse_known_calls(calls)
            if results and not allow_unknown_call:
                self._refuse_unknown_calls(results)
            # In whole milliseconds, as they are written: else two lines of one moment would have the same time.
            milliseconds = max(int(time.time() * 1000), self._last_milliseconds + 1)
            if role == "user":
                message: Any = content if isinstance(content, str) and not fields else user_message(content)
            else:
                message = self._answer(content, model, message_id, stop_reason, usage)
            if fields:
                line = encode_line(row(self.context, role, ident, parent, milliseconds / 1000, message, **fields))
            else:
                line = self._lines.line(role, ident, parent, milliseconds, message)
            self._write(line, now, fd)
            self._last_milliseconds = milliseconds
            self.leaf, self.hung_on, self._end_hides = ident, parent, False
            self._uuids.add(ident)
            if calls:
                self._calls.update(calls)
        except OSError as problem:
            raise disk.explain(problem, self.path) from problem
        finally:
            if fd is not None:
                os.close(fd)
            self._lock.release()
        if role == "assistant":
            self.model = model or self.model or DEFAULT_MODEL
        return ident

    def _answer(
        self,
        content: Content,
        model: str | None,
        message_id: str | None,
        stop_reason: str | None,
        usage: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        calls = not isinstance(content, str) and any(block.get("type") == "tool_use" for block in content)
        return assistant_message(
            content,
            message_id=message_id or f"msg_{secrets.token_hex(12)}",
            model=model or self.model or DEFAULT_MODEL,
            stop_reason=stop_reason or ("tool_use" if calls else "end_turn"),
            usage=usage,
        )

    def append_thinking(self, thinking: str, *, signature: str = "", message_id: str, model: str | None = None) -> str:
        """Append a thought as a line of the response `message_id`, whose text follows."""
        block = {"type": "thinking", "thinking": thinking, "signature": signature}
        return self.append_message("assistant", [block], message_id=message_id, model=model)

    def append_tool_call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str | None = None,
        text: str | None = None,
        **more: Any,
    ) -> str:
        """Append a tool call, after a text if given, and return its id, which its result must name."""
        ident = call_id or f"toolu_{secrets.token_hex(12)}"
        blocks: list[Mapping[str, Any]] = [{"type": "text", "text": text}] if text else []
        blocks.append({"type": "tool_use", "id": ident, "name": name, "input": dict(arguments)})
        self.append_message("assistant", blocks, **more)
        return ident

    def append_tool_result(
        self, call_id: str, content: Content, *, is_error: bool = False, structured: Any = None, **more: Any
    ) -> str:
        """Append the result of a tool call."""
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if is_error:
            block["is_error"] = True
        return self.append_message("user", [block], toolUseResult=structured, **more)

    def append_image(self, data_base64: str, media_type: str, *, text: str | None = None) -> str:
        """Append a prompt with a picture."""
        source = {"type": "base64", "media_type": media_type, "data": data_base64}
        blocks: list[Mapping[str, Any]] = [{"type": "text", "text": text}] if text else []
        return self.append_message("user", [*blocks, {"type": "image", "source": source}])

    def append_entry(self, entry: Mapping[str, Any]) -> None:
        """Append an entry as it is: a state line, or a row whose fields the caller is responsible for.

        It needs a `type`, and its uuid, if it has one, must be new.
        """
        if not isinstance(entry, Mapping) or not isinstance(entry.get("type"), str):
            raise Refused("an entry needs a type", slug="bad-entry")
        uuid = entry.get("uuid")
        if uuid is not None:
            check_uuid(uuid)
        line = encode_line(entry)
        self.journal.take(self._lock)
        try:
            self._recover()
            now = self._look()
            if now != self._seen:  # somebody else wrote: what was known of the file is no longer so
                self._known = self._uuids_known = False
            if uuid is not None:
                if not self._uuids_known:
                    self._find_end(now)
                if uuid in self._uuids:
                    raise Refused(f"message {uuid} is there already", slug="exists")
            self._write(line, now)
            if uuid is not None:
                self._uuids.add(uuid)
                self._calls.update(calls_in(entry))
                self._known = False
        except OSError as problem:
            raise disk.explain(problem, self.path) from problem
        finally:
            self._lock.release()

    # --- how it is appended -------------------------------------------------------------------------------------------

    def _recover(self) -> None:
        """Roll back what a crash left half done in the home. Call with the lock held."""
        if self.record is not None and self._lock.size == self._lock_size and self._lock_size is not None:
            return
        if self.record is None or self.journal.is_interrupted(self.home):
            self.journal.recover(self.home)
        self._lock_size = self._lock.size

    def _open_if_unchanged(self) -> int | None:
        """Open the file for appending if it still is as our last line left it, so that its end need not be found again.

        On systems with leases no other program can open it meanwhile, so it stays unchanged.
        """
        if not self._known or self._seen is None or self.record is None:
            return None
        return disk.open_if_unchanged(self._place, self._seen)

    def _look(self) -> Stamp | None:
        """Return the stamp of the file now. Raises if the file was moved, or the session is in use."""
        now = stamp_of(self._place)
        if self._exists and now is None:  # never a second session of the same name
            raise StoreBusy(
                f"{self.path} was moved or removed meanwhile", hint="nothing was written; look for it again",
                slug="changed-meanwhile",
            )  # fmt: skip
        if self._is_new and not self._exists and now is not None:
            raise Refused(f"session {self.context.session_id} is there already", slug="exists")
        if not self.force and (self._seen is None or now != self._seen):
            refuse_if_busy(self.home, self.context.session_id, self.path, self.journal)
        return now

    def _find_end(self, now: Stamp | None) -> None:
        """Find the end of the conversation, if another program has written since the last time."""
        if self._known and now is not None and now == self._seen:
            return
        transcript = read_transcript(self.path, self.home) if now is not None else None
        self._uuids, self._calls = set(), set()
        self.leaf, self._end_hides = None, False
        if transcript is not None:
            self._note(transcript)
        self._seen, self._line_ended = now, False
        self._known = self._uuids_known = True

    def _note(self, transcript: Transcript) -> None:
        rows = transcript.rows
        self._uuids = {item.uuid for item in rows if item.uuid is not None}
        self._calls = {ident for item in rows for ident, _ in item.tool_uses}
        newest = max((item.time for item in rows if item.time is not None), default=0.0)
        if newest > LATEST:
            raise Refused(
                f"{self.path.stem} has a row of the year 9999: nothing can be written that is later", slug="no-later-time",
                hint="a fork of it has other times: recollect fork",
            )  # fmt: skip
        self._last_milliseconds = round(1000 * newest)
        if self.context.subagent_id is None:
            moment = max(time.time(), self._last_milliseconds / 1000 + 0.001)
            self.leaf, is_read = append_point(transcript, moment)
            self._end_hides = not is_read
        elif rows:
            own = [item for item in rows if item.uuid is not None and self._is_of_this_subagent(item)]
            self.leaf = own[-1].uuid if own else None
        self.model = self.model or next(
            (item.model for item in reversed(rows) if item.model and item.model[0] != "<"), None
        )

    def _end(self) -> str | None:
        """Return the parent of the next message. Raises if Claude Code would not resume with a message there."""
        if self._end_hides:
            raise Refused(
                f"Claude Code would not resume {self.path.stem} with what is appended to it: its rows or checkpoints are damaged",
                slug="append-hidden",
                hint="repair it first (`recollect check` says what is wrong), or go on with a fork of it",
            )
        return self.leaf

    def _is_of_this_subagent(self, item: Row) -> bool:
        """Whether a row was written by the subagent of this writer. In a main file (to 2.0.26) the row must name it."""
        if self.path.stem == self.context.session_id:
            return item.sidechain and item.subagent_id == self.context.subagent_id
        return item.subagent_id in (None, self.context.subagent_id)

    def _refuse_known_calls(self, calls: Sequence[str]) -> None:
        for number, ident in enumerate(calls):
            if ident in self._calls or ident in calls[:number]:
                raise Refused(
                    f"{self.path.stem} has a call {ident} already: its result could not be told from the other's",
                    slug="exists",
                )  # fmt: skip

    def _refuse_unknown_calls(self, results: Sequence[str]) -> None:
        for ident in results:
            if ident not in self._calls:
                raise Refused(
                    f"{self.path.stem} has no call {ident} that this would be the result of", slug="unknown-call",
                    hint="write the call first, or say that it is meant (allow_unknown_call); Claude Code drops such results",
                )  # fmt: skip

    def _write(self, line: bytes, now: Stamp | None, fd: int | None = None) -> None:
        """Write a line: to the open file, or by its path for the first line and after other programs wrote."""
        if self.record is None:
            self._begin()
        try:
            if fd is None or now is None:
                done = disk.append_bytes(Path(self._place), line, create=now is None, sync=self.sync)
            else:
                done = disk.append_open(fd, self._place, line, now, sync=self.sync, line_ended=self._line_ended)
        except BaseException:
            self._give_up_if_empty()
            raise
        self._tail.update(done.data)
        self._written_up_to = done.start + len(done.data)
        self._exists = True
        self._seen, self._line_ended = done.left, True
        self.journal.written[self._place] = done.left

    def planned_line(self, role: str, content: Content, *, model: str | None = None) -> bytes:
        """Return the line that `append_message` would write now, with another uuid. Raises the same errors; changes nothing."""
        check_message(content)
        self._find_end(self._look())
        message = user_message(content) if role == "user" else self._answer(content, model, None, None, None)
        return encode_line(row(self.context, role, new_uuid(), self._end(), time.time(), message))

    def _begin(self) -> None:
        """Record in the journal that this file is about to grow."""
        change = Change(self.journal, self.home, "append", self.title)
        if not self.path.parent.is_dir():
            change.folder(self.path.parent)
        if self._companion is not None and not self._exists and stamp_of(self._companion[0]) is None:
            change.write(self._companion[0], [self._companion[1]])
        does_something = bool(change.steps)
        change.steps.append(AppendRun(self._place, stamp_of(self._place)))
        self.record = change.begin() if does_something else change.note()

    def _give_up_if_empty(self) -> None:
        """Roll back the record of a writer that has written nothing. Call with the lock held."""
        if self.record is not None and self._written_up_to is None:
            record, self.record = self.record, None
            with contextlib.suppress(OSError):
                self.journal.announce("doing", self.journal.folder_of(record), self.home)
                self.journal.roll_back(record)
                self.journal.withdraw("doing", self.home)

    def close(self) -> None:
        """Complete the journal entry. Nothing is lost without it, but only then can the writer's lines be undone."""
        self._lock.close()
        if self.record is None or self._written_up_to is None:
            return
        record, self.record = self.record, None
        left = {} if self._seen is None else {to_text(self._place): self._seen}
        grown = AppendRecord(self._written_up_to, self._tail.hexdigest(), left)
        self._written_up_to, self._tail = None, new_hash()
        folder = self.journal.folder_of(record)
        try:
            disk.write_new(folder / "grown.json", [msgspec.json.encode(grown)])
        except OSError as problem:
            raise disk.explain(problem, folder) from problem


def project_folder(home: Home, cwd: str) -> Path:
    """Return the folder of a project in a home, named after its path with links resolved."""
    from ..format.path_text import project_key

    return home.projects / project_key(os.path.realpath(cwd))


def plan_new_session(
    journal: Journal, home: Home, cwd: str, session_id: str, *, title: str | None = None
) -> tuple[Change, Path]:
    """Plan a session without messages: a file that says its project, and its title if given. Returns the change and the path.

    Claude Code resumes the session once it has a message.
    """
    path = project_folder(home, cwd) / f"{session_id}.jsonl"
    # Without rows, nothing else tells the project.
    lines = [{"type": "relocated", "sessionId": session_id, "relocatedCwd": cwd}]
    if title is not None:
        lines.append(custom_title(session_id, title))
    change = journal.change(home, "new", f"New session {session_id} in {cwd}")
    change.append(path, b"".join(encode_line(line) for line in lines), create=True)
    return change, path
