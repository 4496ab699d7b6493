"""The timeline of files: checkpoints, first touches and edits, joined from a transcript's lines."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.format.file_history import hash_of_path
from recollect.store.file_versions import collect_file_versions
from recollect.testing import TranscriptBuilder, uuid_from
from recollect.testing.toolcalls import edit, failed, write

CWD = "/w/app"
FILE = "/w/app/src/main.py"


def builder() -> TranscriptBuilder:
    return TranscriptBuilder(uuid_from("files"), cwd=CWD)


def a_session() -> tuple[TranscriptBuilder, dict[str, str]]:
    """A prompt that edits a file and makes another, then a second prompt that edits again."""
    session = builder()
    rows: dict[str, str] = {}
    rows["first"] = session.user("change it")
    session.file_history_snapshot(rows["first"], {})
    rows["call"] = session.assistant("I will")
    session.file_history_delta(rows["call"], rows["first"], FILE, 1)
    rows["edited"] = session.call(edit(FILE, "one", "two", original="one\n"))
    session.file_history_delta(rows["edited"], rows["first"], "/w/app/new.txt", None)
    rows["written"] = session.call(write("/w/app/new.txt", "hello\nworld\n"))
    rows["second"] = session.user("again")
    session.file_history_snapshot(rows["second"], {FILE: 2, "/w/app/new.txt": 2})
    rows["edited again"] = session.call(edit(FILE, "two", "three\nfour", original="two\n"))
    return session, rows


def test_versions_in_order() -> None:
    session, rows = a_session()
    name = hash_of_path(FILE)
    files = collect_file_versions(session.entries, backups_on_disk={f"{name}@v1"})
    assert list(files.files) == [FILE, "/w/app/new.txt"]
    versions = files.files[FILE].versions
    assert [(version.kind, version.version, version.backup, version.on_disk) for version in versions] == [
        ("first-touch", 1, f"{name}@v1", True),
        ("edit", None, None, False),
        ("checkpoint", 2, f"{name}@v2", False),
        ("edit", None, None, False),
    ]
    assert versions[0].message_uuid == rows["call"]
    assert versions[2].message_uuid == rows["second"]
    assert all(version.time is not None for version in versions)


def test_summary_of_a_file() -> None:
    session, _ = a_session()
    files = collect_file_versions(session.entries).files
    main, new = files[FILE], files["/w/app/new.txt"]
    assert (main.edits, main.lines_added, main.lines_removed, main.created) == (2, 3, 2, False)
    assert (new.edits, new.lines_added, new.created, new.deleted) == (1, 2, True, False)


def test_a_file_that_is_gone_at_the_next_prompt() -> None:
    session, _ = a_session()
    last = session.user("where is it?")
    session.file_history_snapshot(last, {"/w/app/new.txt": None})
    assert collect_file_versions(session.entries).files["/w/app/new.txt"].deleted


def test_a_repeated_snapshot_is_no_new_version() -> None:
    session, _ = a_session()
    before = len(collect_file_versions(session.entries).files["/w/app/new.txt"].versions)
    for _ in range(3):
        session.file_history_snapshot(session.user("go on"), {FILE: 3, "/w/app/new.txt": 2})
    files = collect_file_versions(session.entries).files
    assert len(files["/w/app/new.txt"].versions) == before
    assert [version.version for version in files[FILE].versions] == [1, None, 2, None, 3]


def test_an_old_version_after_an_edit_is_news() -> None:
    session, _ = a_session()
    session.file_history_snapshot(session.user("I took it back"), {FILE: 2})
    assert [version.version for version in collect_file_versions(session.entries).files[FILE].versions] == [
        1,
        None,
        2,
        None,
        2,
    ]


def test_snapshot_updates_of_older_clients() -> None:
    session = builder()
    prompt = session.user("change it")
    session.file_history_snapshot(prompt, {})
    session.file_history_snapshot(prompt, {FILE: 1}, update=True)
    session.call(edit(FILE, "a", "b", original="a"))
    session.file_history_snapshot(prompt, {FILE: 1, "/w/app/b": None}, update=True)
    files = collect_file_versions(session.entries).files
    assert [version.kind for version in files[FILE].versions] == ["first-touch", "edit"]
    assert [version.kind for version in files["/w/app/b"].versions] == ["first-touch"]


def test_texts_are_kept_only_where_asked() -> None:
    session, _ = a_session()
    files = collect_file_versions(session.entries, keep_texts=lambda path: path == FILE).files
    assert [version.edit.original for version in files[FILE].versions if version.edit] == ["one\n", "two\n"]
    other = files["/w/app/new.txt"]
    assert [version.edit.content for version in other.versions if version.edit] == [None]
    assert other.lines_added == 2


def test_a_row_that_stands_twice_counts_once() -> None:
    session, _ = a_session()
    assert collect_file_versions([*session.entries, *session.entries]).files[FILE].edits == 2


def test_the_hash_tells_the_working_directory() -> None:
    """A relative path in a session that moved: the backup's name says which directory was meant."""
    entries: list[dict[str, Any]] = [
        {"type": "user", "uuid": "1", "cwd": "/w/app"},
        {"type": "user", "uuid": "2", "cwd": "/w/tree"},
        {
            "type": "file-history-snapshot",
            "messageId": "2",
            "snapshot": {
                "messageId": "2",
                "trackedFileBackups": {
                    "a.py": {"backupFileName": f"{hash_of_path('/w/tree/a.py')}@v1", "version": 1},
                    "../b.py": {"backupFileName": None, "version": 1},
                },
            },
        },
    ]
    assert list(collect_file_versions(entries).files) == ["/w/tree/a.py", "/w/b.py"]


def test_windows_paths() -> None:
    entries: list[dict[str, Any]] = [
        {"type": "user", "uuid": "1", "cwd": "C:\\work"},
        {
            "type": "file-history-delta",
            "messageId": "1",
            "trackingPath": "src\\a.py",
            "backup": {"backupFileName": None, "version": 1},
        },
        {"uuid": "2", "toolUseResult": {"filePath": "C:\\work\\src\\a.py", "content": "x", "structuredPatch": []}},
    ]
    files = collect_file_versions(entries)
    assert list(files.files) == ["C:\\work\\src\\a.py"]
    assert [file.path for file in files.matching("src/a.py")] == ["C:\\work\\src\\a.py"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (FILE, [FILE]),
        ("src/main.py", [FILE]),
        ("./src/main.py", [FILE]),
        ("main.py", [FILE]),
        ("new.txt", ["/w/app/new.txt"]),
        ("ain.py", []),
        ("", []),
        ("/", []),
    ],
)
def test_files_are_found_as_people_write_them(asked: str, found: list[str]) -> None:
    session, _ = a_session()
    assert [file.path for file in collect_file_versions(session.entries).matching(asked)] == found


def test_edits_of_subagents_are_placed_by_their_time() -> None:
    def row(uuid: str, second: int, text: str) -> dict[str, Any]:
        result = {"type": "update", "filePath": "/w/a", "content": text, "structuredPatch": []}
        return {"type": "user", "uuid": uuid, "timestamp": f"2026-03-02T09:00:{second:02}Z", "toolUseResult": result}

    main = [row("m1", 0, "1"), row("m2", 20, "3")]
    subagents = [[row("a1", 10, "2")], [row("b1", 30, "5"), row("b2", 25, "4")]]
    versions = collect_file_versions(main, subagents=subagents).files["/w/a"].versions
    assert [version.message_uuid for version in versions] == ["m1", "a1", "m2", "b2", "b1"]


def test_calls_of_subagents_count_by_their_arguments() -> None:
    """Rows of subagents have no structured results."""
    session = builder()
    session.user("go")
    subagent = session.subagent("look")
    subagent.call(write("/w/app/made.txt", "hello\n"))
    subagent.call(failed("Edit", {"file_path": "/w/app/not.txt", "old_string": "a", "new_string": "b"}, "no match"))
    subagent.finish("done")
    assert all("toolUseResult" not in entry for entry in subagent.entries)
    files = collect_file_versions(session.entries, subagents=[subagent.entries]).files
    assert list(files) == ["/w/app/made.txt"]
    assert files["/w/app/made.txt"].created


def test_broken_entries_are_passed_over() -> None:
    entries: list[dict[str, Any]] = [
        {"type": "file-history-snapshot", "snapshot": None},
        {"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": {"a": 5}}},
        {"type": "file-history-delta", "backup": {}},
        {"type": "user", "uuid": 5, "cwd": 7, "timestamp": [], "toolUseResult": {"filePath": None}},
        {"type": "user", "uuid": "x", "toolUseResult": {"filePath": "", "structuredPatch": None}},
        {},
    ]
    assert list(collect_file_versions(entries).files) == [""]
