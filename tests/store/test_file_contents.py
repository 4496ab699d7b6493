"""Files as they were at a row: from backups, from edits, and what is said where neither is enough."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recollect.format.file_history import hash_of_path
from recollect.store.file_contents import FileState, first_state, last_state, state_at, unified_diff
from recollect.store.file_versions import collect_file_versions
from recollect.testing import ToolCall, TranscriptBuilder, uuid_from
from recollect.testing.toolcalls import bash, edit, write

FILE = "/w/app/a.txt"
NAME = hash_of_path(FILE)


class Session:
    """A transcript, its backups, and questions about FILE."""

    def __init__(self) -> None:
        self.lines = TranscriptBuilder(uuid_from("contents"), cwd="/w/app")
        self.backups: dict[str, bytes] = {}

    def backup(self, version: int, content: bytes) -> None:
        self.backups[f"{NAME}@v{version}"] = content

    def at(self, row: str, side: str = "after") -> FileState:
        found = collect_file_versions(self.lines.entries, backups_on_disk=self.backups)
        assert side in ("before", "after")
        return state_at(found.files[FILE], found.places[row], "before" if side == "before" else "after", self.read)

    @property
    def read(self) -> Callable[[str], bytes | None]:
        return self.backups.get


@pytest.fixture
def session() -> Session:
    return Session()


def large_edit(old: str, new: str) -> ToolCall:
    """An edit whose result does not hold the file, as for large files."""
    structured: dict[str, object] = {
        "filePath": FILE,
        "oldString": old,
        "newString": new,
        "originalFile": None,
        "structuredPatch": [],
    }
    return ToolCall("Edit", {"file_path": FILE}, None, "ok", structured)


def test_around_an_edit(session: Session) -> None:
    prompt = session.lines.user("do it")
    session.lines.file_history_delta(prompt, prompt, FILE, 1)
    session.backup(1, b"one\r\n")
    row = session.lines.call(edit(FILE, "one", "two", original="one\n"))
    assert session.at(row, "before") == FileState(True, b"one\r\n", "backup", True, prompt)
    assert session.at(row) == FileState(True, b"two\n", "edit", True, row)
    later = session.lines.user("thanks")
    assert session.at(later).content == b"two\n"


def test_at_a_prompt_the_checkpoint_rules(session: Session) -> None:
    session.lines.user("do it")
    session.lines.call(write(FILE, "mine\n"))
    prompt = session.lines.user("I changed it by hand")
    session.lines.file_history_snapshot(prompt, {FILE: 2})
    session.backup(2, b"yours\n")
    for side in ("before", "after"):
        assert session.at(prompt, side).content == b"yours\n"
    assert session.at(prompt).source == "backup"


def test_a_new_file_does_not_exist_before(session: Session) -> None:
    session.lines.user("make it")
    row = session.lines.call(write(FILE, "new\n"))
    assert session.at(row, "before") == FileState(False, None, "edit", True, row)
    assert session.at(row).content == b"new\n"


def test_a_deleted_file(session: Session) -> None:
    session.lines.user("make it")
    session.lines.call(write(FILE, "new\n"))
    session.lines.call(bash("rm a.txt"))
    prompt = session.lines.user("gone?")
    session.lines.file_history_snapshot(prompt, {FILE: None})
    assert session.at(prompt).exists is False


def test_before_anything_is_known(session: Session) -> None:
    prompt = session.lines.user("first")
    second = session.lines.user("second")
    session.lines.file_history_delta(second, second, FILE, 1)
    session.backup(1, b"as ever\n")
    session.lines.call(edit(FILE, "ever", "never", original="as ever\n"))
    state = session.at(prompt)
    assert (state.content, state.certain) == (b"as ever\n", False)
    assert state.note == "not touched before; taken from the first known version"


def test_a_first_backup_made_too_late_is_not_believed(session: Session) -> None:
    prompt = session.lines.user("do it")
    session.lines.file_history_delta(prompt, prompt, FILE, 1)
    session.backup(1, b"two\n")
    row = session.lines.call(edit(FILE, "one", "two", original="one\n"))
    assert session.at(row, "before").content == b"one\n"
    assert first_state(collect_file_versions(session.lines.entries).files[FILE], session.read).content == b"one\n"


def test_a_first_backup_of_a_file_that_was_only_made_then(session: Session) -> None:
    prompt = session.lines.user("do it")
    session.lines.file_history_delta(prompt, prompt, FILE, 1)
    session.backup(1, b"new\n")
    row = session.lines.call(write(FILE, "new\n"))
    assert session.at(row, "before").exists is False
    assert session.at(prompt).exists is False


def test_edits_without_their_file_begin_from_what_is_known(session: Session) -> None:
    prompt = session.lines.user("do it")
    session.lines.file_history_delta(prompt, prompt, FILE, 1)
    session.backup(1, b"one two three")
    session.lines.call(large_edit("two", "2"))
    row = session.lines.call(large_edit("three", "3"))
    assert session.at(row) == FileState(True, b"one 2 3", "edit", True, row)


def test_edits_without_their_file_and_nothing_known(session: Session) -> None:
    session.lines.user("do it")
    row = session.lines.call(large_edit("two", "2"))
    state = session.at(row)
    assert (state.exists, state.content, state.certain) == (True, None, False)
    assert state.note == "the edit does not hold its result, and what it began from is not known"


def test_a_lost_backup(session: Session) -> None:
    session.lines.user("do it")
    session.lines.call(write(FILE, "known\n"))
    prompt = session.lines.user("later")
    session.lines.file_history_snapshot(prompt, {FILE: 2})
    state = session.at(prompt)
    assert (state.exists, state.content, state.certain) == (True, b"known\n", False)
    assert state.note == f"the backup {NAME}@v2 is missing; this is the version known before it"


def test_a_lost_backup_and_nothing_before(session: Session) -> None:
    prompt = session.lines.user("do it")
    session.lines.file_history_snapshot(prompt, {FILE: 1})
    state = session.at(prompt)
    assert state == FileState(True, None, "nothing", False, prompt, f"the backup {NAME}@v1 is missing")


def test_last_state(session: Session) -> None:
    session.lines.user("do it")
    session.lines.call(write(FILE, "1\n"))
    session.lines.call(edit(FILE, "1", "2", original="1\n"))
    assert last_state(collect_file_versions(session.lines.entries).files[FILE], session.read).content == b"2\n"


def test_only_backups_that_are_needed_are_read(session: Session) -> None:
    for version in (1, 2, 3):
        session.lines.file_history_snapshot(session.lines.user("go"), {FILE: version})
        session.backup(version, b"v%d" % version)
    asked: list[str] = []

    def read(name: str) -> bytes | None:
        asked.append(name)
        return session.backups[name]

    found = collect_file_versions(session.lines.entries, backups_on_disk=session.backups)
    assert last_state(found.files[FILE], read).content == b"v3"
    assert asked == [f"{NAME}@v3"]


def test_diff() -> None:
    assert unified_diff(b"a\nb\n", b"a\nc", "x", ("then", "now")) == [
        "--- x\tthen",
        "+++ x\tnow",
        "@@ -1,2 +1,2 @@",
        " a",
        "-b",
        "+c",
        "\\ No newline at end of file",
    ]


def test_diff_of_new_and_deleted_files() -> None:
    assert unified_diff(None, b"a\n", "x") == ["--- /dev/null", "+++ x", "@@ -0,0 +1 @@", "+a"]
    assert unified_diff(b"a\n", None, "x") == ["--- x", "+++ /dev/null", "@@ -1 +0,0 @@", "-a"]


def test_diff_of_a_last_line_end_alone() -> None:
    assert unified_diff(b"a", b"a\n", "x")[3:] == ["-a", "\\ No newline at end of file", "+a"]


def test_diff_of_equal_and_of_binary_files() -> None:
    assert unified_diff(b"a", b"a", "x") == []
    assert unified_diff(b"a\0", b"b", "x") == ["Binary files x and x differ"]
