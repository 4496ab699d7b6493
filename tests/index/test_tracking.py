"""Which files a stage has to look at again, and from where."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.tracking import FileChange, begin, changed, done, note_touched, open_changed
from recollect.store.home import Home

SESSION = "0a0a0a0a-0000-4000-8000-000000000001"
OTHER = "0a0a0a0a-0000-4000-8000-000000000002"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "claude" / "projects" / "-p").mkdir(parents=True)
    return Home(tmp_path / "claude")


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Catalogue.open(tmp_path / "index")


def write(home: Home, path: str, text: str) -> Path:
    full = home.root / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text(text)
    return full


def main(home: Home, text: str, session: str = SESSION) -> Path:
    return write(home, f"projects/-p/{session}.jsonl", text)


def take_in(catalogue: Catalogue, home: Home, stage: str = "entries") -> list[FileChange]:
    """Go through all changes as a stage does that counts lines and nothing else."""
    changes = changed(catalogue, [home], stage)
    for change in changes:
        with catalogue.transaction():
            begin(catalogue, change)
            if change.reason == "gone":
                continue
            with open_changed(change) as stream:
                data = os.pread(stream.fileno(), change.size, 0)
                lines = data.count(b"\n") + (not data.endswith(b"\n"))
                done(catalogue, change, stream, offset=len(data), lines=lines)
    return changes


def reasons(changes: list[FileChange]) -> list[tuple[str, str]]:
    return [(os.path.basename(change.path), change.reason) for change in changes]


def test_a_new_file_is_seen_once_by_each_stage(home: Home, catalogue: Catalogue) -> None:
    main(home, '{"a":1}\n')
    assert reasons(take_in(catalogue, home)) == [(f"{SESSION}.jsonl", "new")]
    assert take_in(catalogue, home) == []
    assert reasons(take_in(catalogue, home, "calls")) == [(f"{SESSION}.jsonl", "new")]
    assert take_in(catalogue, home, "calls") == []
    assert catalogue.connection.execute("SELECT count(*) FROM files").get == 1


def test_every_kind_of_file_is_found(home: Home, catalogue: Catalogue) -> None:
    main(home, "{}\n")
    write(home, f"projects/-p/{SESSION}/subagents/agent-a1.jsonl", "{}\n")
    write(home, f"projects/-p/{SESSION}/subagents/agent-a1.meta.json", "{}")
    write(home, f"projects/-p/{SESSION}/subagents/workflows/run7/agent-a2.jsonl", "{}\n")
    write(home, f"projects/-p/{SESSION}/custom-title.json", "{}")
    write(home, "projects/-p/agent-abc1234.jsonl", "{}\n")
    write(home, "history.jsonl", "{}\n")
    write(home, f"tasks/{SESSION}/1.json", "{}")
    write(home, f"todos/{SESSION}-agent-a9.json", "[]")
    write(home, "projects/-p/sessions-index.json", "{}")
    write(home, f"projects/-p/{SESSION}/tool-results/x.txt", "long")
    write(home, f"tasks/{SESSION}/.lock", "")
    take_in(catalogue, home)
    rows = catalogue.connection.execute(
        "SELECT kind, session_id, subagent_id, folder, workflow FROM files ORDER BY kind, subagent_id"
    ).fetchall()
    assert rows == [
        ("history", None, None, None, None),
        ("session", SESSION, None, "-p", None),
        ("subagent", SESSION, "a1", "-p", None),
        ("subagent", SESSION, "a2", "-p", "run7"),
        ("subagent", None, "abc1234", "-p", None),
        ("subagent_meta", SESSION, "a1", "-p", None),
        ("task", SESSION, None, None, None),
        ("title", SESSION, None, "-p", None),
        ("todo", SESSION, "a9", None, None),
    ]


def test_a_grown_file_goes_on_where_it_was_left(home: Home, catalogue: Catalogue) -> None:
    path = main(home, '{"a":1}\n{"b":2}\n')
    take_in(catalogue, home)
    with path.open("a") as stream:
        stream.write('{"c":3}\n')
    (change,) = take_in(catalogue, home)
    assert (change.reason, change.start, change.lines_before) == ("grown", 16, 2)


def test_a_last_line_without_an_end_may_get_one_but_not_more(home: Home, catalogue: Catalogue) -> None:
    path = main(home, '{"a":1}')
    take_in(catalogue, home)
    path.write_text('{"a":1}\n{"b":2}')
    assert reasons(take_in(catalogue, home)) == [(path.name, "grown")]
    path.write_text('{"a":1}\n{"b":2}{"c":3}\n')
    assert reasons(take_in(catalogue, home)) == [(path.name, "rewritten")]


@pytest.mark.parametrize("text", ["", '{"a":1}\n', '{"x":1}\n{"b":2}\n', '{"x":1}\n{"b":2}\n{"c":3}\n'])
def test_other_bytes_are_read_from_the_start(home: Home, catalogue: Catalogue, text: str) -> None:
    path = main(home, '{"a":1}\n{"b":2}\n')
    take_in(catalogue, home)
    before = path.stat().st_mtime_ns
    path.write_text(text)
    os.utime(path, ns=(before + 1, before + 1))
    (change,) = take_in(catalogue, home)
    assert (change.reason, change.start, change.lines_before) == ("rewritten", 0, 0)


def test_a_change_between_head_and_tail_shows_by_the_new_inode(home: Home, catalogue: Catalogue) -> None:
    lines = [f'{{"number":{number},"text":"{"x" * 50}"}}\n' for number in range(1000)]
    path = main(home, "".join(lines))
    take_in(catalogue, home)
    lines[500] = lines[500].replace("x", "y")
    other = path.with_suffix(".new")
    other.write_text("".join([*lines, "{}\n"]))
    os.replace(other, path)
    assert reasons(take_in(catalogue, home)) == [(path.name, "rewritten")]


def write_keeping_time(path: Path, text: str) -> None:
    info = path.stat()
    path.write_text(text)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (info.st_size, info.st_mtime_ns)


def test_other_bytes_of_the_same_size_and_time_are_read_from_the_start(home: Home, catalogue: Catalogue) -> None:
    path = main(home, '{"a":1}\n{"title":"AAAA"}\n')
    history = write(home, "history.jsonl", '{"display":"AAAA"}\n')
    todo = write(home, f"todos/{SESSION}-agent-a9.json", '["AAAA"]')
    take_in(catalogue, home)
    for file in (path, history, todo):
        write_keeping_time(file, file.read_text().replace("AAAA", "BBBB"))
    assert sorted(reasons(take_in(catalogue, home))) == [
        (f"{SESSION}-agent-a9.json", "rewritten"), (f"{SESSION}.jsonl", "rewritten"), ("history.jsonl", "rewritten"),
    ]  # fmt: skip
    assert take_in(catalogue, home) == []


def test_a_file_of_which_only_links_and_permissions_changed_is_not_read_again(
    home: Home, catalogue: Catalogue, tmp_path: Path
) -> None:
    path = main(home, '{"a":1}\n' * 2000)
    take_in(catalogue, home)
    for mode in (0o640, None):
        if mode is not None:
            path.chmod(mode)
        else:
            os.link(path, tmp_path / "backup")
        (seen,) = changed(catalogue, [home], "entries")
        assert (seen.reason, note_touched(catalogue, seen)) == ("touched", True)
        assert changed(catalogue, [home], "entries") == []
    with path.open("a") as stream:
        stream.write("{}\n")
    (seen,) = changed(catalogue, [home], "entries")
    assert (seen.reason, seen.start, seen.lines_before, note_touched(catalogue, seen)) == ("grown", 16000, 2000, False)


def test_a_renamed_file_keeps_its_number_in_every_stage(home: Home, catalogue: Catalogue) -> None:
    path = main(home, '{"a":1}\n')
    take_in(catalogue, home)
    (first,) = take_in(catalogue, home, "calls")
    path.rename(path.with_name(f"{OTHER}.jsonl"))
    (moved,) = take_in(catalogue, home)
    assert (moved.reason, moved.file_id, moved.session_id) == ("moved", first.file_id, OTHER)
    (moved,) = take_in(catalogue, home, "calls")
    assert (moved.reason, moved.file_id, moved.start) == ("moved", first.file_id, 8)
    assert take_in(catalogue, home) == take_in(catalogue, home, "calls") == []
    assert catalogue.connection.execute("SELECT session_id FROM files").fetchall() == [(OTHER,)]


def test_a_copy_is_new_and_the_original_stays(home: Home, catalogue: Catalogue) -> None:
    path = main(home, '{"a":1}\n')
    take_in(catalogue, home)
    main(home, path.read_text(), OTHER)
    assert reasons(take_in(catalogue, home)) == [(f"{OTHER}.jsonl", "new")]


def test_two_files_that_changed_places_are_read_again(home: Home, catalogue: Catalogue) -> None:
    one, two = main(home, '{"a":1}\n'), main(home, '{"b":2}\n{"b":3}\n', OTHER)
    take_in(catalogue, home)
    aside = one.with_suffix(".aside")
    one.rename(aside)
    two.rename(one)
    aside.rename(two)
    assert reasons(take_in(catalogue, home)) == [(one.name, "rewritten"), (two.name, "rewritten")]


def test_a_file_that_is_gone_leaves_no_row_when_all_stages_know(home: Home, catalogue: Catalogue) -> None:
    path = main(home, '{"a":1}\n')
    take_in(catalogue, home)
    take_in(catalogue, home, "calls")
    path.unlink()
    assert reasons(take_in(catalogue, home)) == [(path.name, "gone")]
    assert catalogue.connection.execute("SELECT count(*) FROM files").get == 1
    assert reasons(take_in(catalogue, home, "calls")) == [(path.name, "gone")]
    assert catalogue.connection.execute("SELECT count(*) FROM files").get == 0
    assert catalogue.connection.execute("SELECT count(*) FROM progress").get == 0


def test_a_partly_read_file_goes_on_from_there(home: Home, catalogue: Catalogue) -> None:
    main(home, '{"a":1}\n{"b":2}\n')
    (change,) = changed(catalogue, [home], "entries")
    with catalogue.transaction():
        begin(catalogue, change)
        with open_changed(change) as stream:
            done(catalogue, change, stream, offset=8, lines=1, complete=False)
    (change,) = take_in(catalogue, home)
    assert (change.reason, change.start, change.lines_before) == ("grown", 8, 1)
    assert take_in(catalogue, home) == []


def test_links_of_the_store_are_followed_and_no_others(home: Home, catalogue: Catalogue, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / f"{OTHER}.jsonl").write_text("{}\n")
    (home.projects / "-linked").symlink_to(outside)
    (home.projects / "-p" / f"{OTHER}.jsonl").symlink_to(outside / f"{OTHER}.jsonl")
    (home.projects / "-p" / OTHER).mkdir()
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / "agent-a1.jsonl").write_text("{}\n")
    (home.projects / "-p" / OTHER / "subagents").symlink_to(tmp_path / "planted")
    assert sorted(change.path for change in take_in(catalogue, home)) == [
        f"projects/-linked/{OTHER}.jsonl", f"projects/-p/{OTHER}.jsonl",
    ]  # fmt: skip


def test_two_homes_live_in_one_catalogue(home: Home, catalogue: Catalogue, tmp_path: Path) -> None:
    (tmp_path / "second" / "projects" / "-p").mkdir(parents=True)
    second = Home(tmp_path / "second")
    main(home, '{"a":1}\n')
    main(second, '{"a":1}\n')
    take_in(catalogue, home)
    take_in(catalogue, second)
    assert changed(catalogue, [home, second], "entries") == []
    assert catalogue.connection.execute("SELECT count(DISTINCT home_id) FROM files").get == 2
