"""Where exports go and what they hold: never into a home, never over a stranger's file, never in part, never with a secret."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.errors import NotFound, RecollectError, Refused
from recollect.export.formats import FORMATS
from recollect.library.export_target import file_name
from recollect.library.library import Library
from recollect.store.home import Home
from recollect.testing import HomeBuilder, uuid_from
from recollect.testing.export_contract import build_export_home
from recollect.testing.toolcalls import bash

SECRET = "AKIA" + "Q3EGTZ2NV5KXW7RB"
SESSION = uuid_from("a session to export")
FORMATS_HERE = list(FORMATS)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    home = HomeBuilder(tmp_path / "claude")
    session = home.session("/home/ada/garden", session_id=SESSION)
    session.user("Is the gate open?")
    session.call(bash("cat /home/ada/.aws/credentials", f"aws_access_key_id = {SECRET}"), thinking="Hm.")
    session.assistant("It is open.")
    home.write()
    return Library([Home(tmp_path / "claude")], own_folder=lambda kind: tmp_path / "own" / kind)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def files_below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


# --- what is written --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS_HERE)
def test_files_are_private_and_nothing_else_is_left(library: Library, out: Path, name: str) -> None:
    result = library.session(SESSION).export(out / "talk", format=name)
    assert [str(out / found) for found in files_below(out)] == sorted(result.files)
    assert result.files[0] == str(out / "talk")
    assert result.bytes == sum(os.path.getsize(path) for path in result.files)
    assert result.messages == 3  # the result of the call is part of the answer that made it
    for path in out.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_the_ending_names_the_format(library: Library, out: Path) -> None:
    session = library.session(SESSION)
    for name, start in (
        ("a.json", '{"recollect_export":1'),
        ("a.md", "# "),
        ("a.txt", "Is the gate"),
        ("a.csv", "session_id,"),
    ):
        session.export(out / name)
        assert (out / name).read_text().startswith(start)


def test_without_a_path_it_is_named_after_the_session(
    library: Library, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(out)
    library.session(SESSION).export()
    (name,) = files_below(out)
    assert name.endswith(" Is the gate open.md")


@pytest.mark.parametrize(
    "title",
    [
        "../../etc/passwd",
        "a/b\\c",
        "CON",
        "nul.txt",
        "...",
        "",
        "  ",
        "x" * 400,
        "🍎" * 200,
        "a\x00b\nc",
        "#tag [x] ^y|z",
        "é\udc80",
    ],
)
def test_any_title_gives_a_file_name(title: str, tmp_path: Path) -> None:
    name = file_name("2026-03-02", title, SESSION)
    assert "/" not in name and "\\" not in name and len(name.encode()) < 200
    assert name == name.strip()
    (tmp_path / f"{name}.md").write_text("")


def test_a_stream_gets_one_whole_file(library: Library) -> None:
    stream = io.BytesIO()
    result = library.session(SESSION).export(stream, format="md")
    assert stream.getvalue().startswith(b"# Is the gate open?")
    assert result.files == []
    assert result.bytes == len(stream.getvalue())


def test_a_very_long_line_is_whole(tmp_path: Path, out: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    session = home.session("/w/app")
    session.user("Print it.")
    session.call(bash("print", "0123456789" * 900_000))
    home.write()
    library = recollect.open(tmp_path / "claude")
    for name in ("md", "json", "openai"):
        library.session("last").export(out / f"long.{name}", format=name, redact=False)
        assert (out / f"long.{name}").stat().st_size > 9_000_000
    library.session("last").export(out / "long.txt", redact=False)
    assert (out / "long.txt").read_text().count("0123456789") > 700_000  # some are broken by the ends of lines
    assert sum(map(str.isdigit, (out / "long.txt").read_text())) > 9_000_000


# --- where it may go --------------------------------------------------------------------------------------------------


def refused(library: Library, target: Path, **options: Any) -> RecollectError:
    before = files_below(target.parent) if target.parent.is_dir() else []
    with pytest.raises(RecollectError) as found:
        library.session(SESSION).export(target, format="md", **options)
    assert (files_below(target.parent) if target.parent.is_dir() else []) == before
    return found.value


def test_never_into_a_home(library: Library, tmp_path: Path, out: Path) -> None:
    home = tmp_path / "claude"
    (out / "link").symlink_to(home / "projects")
    other = out / "other"
    (other / "projects").mkdir(parents=True)
    (other / "history.jsonl").touch()
    for target in (
        home / "a.md",
        home / "projects" / "a.md",
        out / "link" / "a.md",
        other / "a.md",
        tmp_path / "own/data/a.md",
    ):
        assert refused(library, target, force=True).slug == "export-into-home"
    for how in ("into", "site"):
        with pytest.raises(Refused) as found:
            library.export(SESSION, **{how: home / "new"})
        assert found.value.slug == "export-into-home"
    assert not (home / "new").exists()


def test_never_over_a_file_of_somebody_else(library: Library, out: Path) -> None:
    target = out / "talk.md"
    target.write_text("mine")
    assert refused(library, target).slug == "exists"
    assert target.read_text() == "mine"
    library.session(SESSION).export(target, force=True)
    assert target.read_text().startswith("# ")
    library.session(SESSION).export(target, depth="all")  # it is our own now
    assert "Hm." in target.read_text()
    target.write_text(target.read_text() + "a note of mine\n")
    assert "changed since" in refused(library, target).message
    assert target.read_text().endswith("a note of mine\n")


def test_never_through_a_link_or_over_a_folder(library: Library, out: Path) -> None:
    (out / "elsewhere").write_text("kept")
    (out / "link.md").symlink_to(out / "elsewhere")
    (out / "folder.md").mkdir()
    os.mkfifo(out / "pipe.md")
    for name in ("link.md", "folder.md", "pipe.md"):
        assert refused(library, out / name, force=True).slug == "bad-target"
    assert (out / "elsewhere").read_text() == "kept"
    assert isinstance(refused(library, out / "missing" / "a.md"), NotFound)


def test_a_file_beside_it_may_be_in_the_way(tmp_path: Path, out: Path) -> None:
    library = recollect.open(build_export_home(tmp_path / "claude"))
    session = library.session(uuid_from("export", "rich"))
    (out / "talk.files").symlink_to(tmp_path)
    with pytest.raises(Refused) as found:
        session.export(out / "talk.md")
    assert found.value.slug == "bad-target"
    assert files_below(out) == []
    (out / "talk.files").unlink()
    result = session.export(out / "talk.md")
    assert len(result.files) == 2
    again = session.export(out / "talk.md", pictures="none")
    assert again.removed == [result.files[1]]
    assert files_below(out) == ["talk.md"]


@pytest.mark.parametrize("name", FORMATS_HERE)
def test_a_full_disk_leaves_what_was_there(
    library: Library, out: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = library.session(SESSION)
    target = out / "talk"
    session.export(target, format=name, redact=False)
    before = {path: (out / path).read_bytes() for path in files_below(out)}
    write = os.write
    for allowed in range(3):
        left = allowed

        def limited(fd: int, data: Any) -> int:
            nonlocal left
            left -= 1
            if left < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            return write(fd, data)

        with monkeypatch.context() as patch:
            patch.setattr("recollect.journal.disk.os.write", limited)
            slug = None
            try:
                session.export(target, format=name, redact=False, costs=True)
            except Refused as problem:
                slug = problem.slug
        if slug is not None or allowed == 0:
            assert slug == "disk-full"
            assert {path: (out / path).read_bytes() for path in files_below(out)} == before
        assert [item.name for item in out.iterdir() if item.name.startswith(".")] == []


# --- redaction --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS_HERE)
def test_secrets_are_left_out_of_what_is_shared(library: Library, out: Path, name: str) -> None:
    result = library.session(SESSION).export(out / "talk", format=name)
    written = b"".join((out / path).read_bytes() for path in files_below(out))
    if name in ("json", "jsonl"):
        assert SECRET.encode() in written
        assert result.redacted is None
        assert any("secrets" in words for words in result.warnings)
        library.session(SESSION).export(out / "other", format=name, redact=True)
        written = (out / "other").read_bytes()
        assert b"ada" not in written.replace(b"metadata", b"")
    else:
        assert result.redacted is not None
        assert result.redacted["kinds"]["aws-access-key-id"] == 1
    assert SECRET.encode() not in written
    if name in ("md", "text", "atif", "otel", "json"):
        assert b"redacted" in written.lower()


def test_nothing_is_redacted_if_that_is_wanted(library: Library, out: Path) -> None:
    library.session(SESSION).export(out / "talk.md", redact=False)
    assert SECRET in (out / "talk.md").read_text()


def test_markdown_in_a_git_work_tree_names_nobody(library: Library, out: Path) -> None:
    library.session(SESSION).export(out / "plain.md")
    assert "/home/ada" in (out / "plain.md").read_text()
    (out / ".git").mkdir()
    result = library.session(SESSION).export(out / "commit.md")
    assert result.redacted is not None
    assert result.redacted["profile"] == "personal"
    assert "ada" not in (out / "commit.md").read_text()


def test_output_that_holds_a_secret_is_thrown_away(
    library: Library, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollect.export import markdown

    def leaking(documents: Any, target: Any, options: Any) -> None:
        target.write(target.name, [f"# It slipped through: {SECRET}\n"])

    monkeypatch.setattr(markdown, "write", leaking)
    with pytest.raises(Refused) as found:
        library.session(SESSION).export(out / "talk.md")
    assert found.value.slug == "secrets-left"
    assert found.value.exit_code == 6
    assert SECRET not in found.value.message
    assert list(out.iterdir()) == []
    with pytest.raises(Refused):
        library.export(SESSION, into=out, format="md")
    assert files_below(out) == []


def test_a_secret_in_the_title_does_not_become_a_name(tmp_path: Path, out: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    home.session("/w/app").user(f"Use {SECRET} please")
    home.write()
    recollect.open(tmp_path / "claude").export("last", into=out)
    assert not any(SECRET in name for name in files_below(out))
    assert SECRET not in (out / ".recollect-export.json").read_text()


# --- folders ----------------------------------------------------------------------------------------------------------


def two_sessions(tmp_path: Path) -> tuple[HomeBuilder, Library]:
    home = HomeBuilder(tmp_path / "claude")
    for number in (1, 2):
        session = home.session("/w/app", session_id=uuid_from("same", number))
        session.user("The same title")
        session.assistant(f"Answer {number}")
    home.write()
    return home, recollect.open(tmp_path / "claude")


def test_a_folder_follows_the_sessions(tmp_path: Path, out: Path) -> None:
    home, library = two_sessions(tmp_path)
    chosen = [uuid_from("same", 1), uuid_from("same", 2)]
    first = library.export(chosen, into=out / "notes")
    assert len(first.files) == 2
    assert len({os.path.basename(name).casefold() for name in first.files}) == 2
    again = library.export(chosen, into=out / "notes")
    assert (again.files, again.unchanged, again.bytes) == ([], 2, 0)
    changed = home.sessions[0]
    changed.user("And another one")
    changed.state("custom-title", customTitle="Another title")
    home.write()
    later = recollect.open(tmp_path / "claude").export(chosen, into=out / "notes")
    assert later.files == [name for name in first.files if "Another" in Path(name).read_text()]
    assert later.unchanged == 1  # the name stays, though the title changed
    assert stat.S_IMODE((out / "notes").stat().st_mode) == 0o700


def test_a_folder_takes_options_and_formats_apart(tmp_path: Path, out: Path) -> None:
    _, library = two_sessions(tmp_path)
    ident = uuid_from("same", 1)
    library.export(ident, into=out)
    assert library.export(ident, into=out, depth="all").unchanged == 0
    library.export(ident, into=out, format="json")
    assert [Path(name).suffix for name in files_below(out) if not name.startswith(".")] == [".json", ".md"]


def test_a_file_edited_by_hand_is_not_replaced(tmp_path: Path, out: Path) -> None:
    _, library = two_sessions(tmp_path)
    ident = uuid_from("same", 1)
    (name,) = library.export(ident, into=out).files
    Path(name).write_text("my own notes")
    assert library.export(ident, into=out).unchanged == 1
    with pytest.raises(Refused) as found:
        library.export(ident, into=out, depth="all")
    assert found.value.slug == "exists"
    assert Path(name).read_text() == "my own notes"
    library.export(ident, into=out, depth="all", force=True)
    assert Path(name).read_text().startswith("# ")


def test_a_folder_with_files_of_others_is_left_alone(tmp_path: Path, out: Path) -> None:
    _, library = two_sessions(tmp_path)
    ident = uuid_from("same", 1)
    library.export(ident, into=out)
    (out / ".recollect-export.json").write_text("{ damaged")
    with pytest.raises(Refused):
        library.export(ident, into=out)
    (out / "file").write_text("")
    with pytest.raises(Refused) as found:
        library.export(ident, into=out / "file")
    assert found.value.slug == "bad-target"


# --- what is asked for ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "slug"),
    [
        ({"format": "docx"}, "no-such-format"), ({"depth": "deep"}, "bad-option"), ({"view": "side"}, "bad-option"),
        ({"pictures": "large"}, "bad-option"), ({"last": -1}, "bad-option"), ({"timezone": "Mars/Olympus"}, "no-such-zone"),
        ({"format": "jsonl", "last": 3}, "whole-lines-only"), ({"redact": "some"}, "no-such-profile"),
        ({"message": "ffffffff"}, "no-such-message"), ({"start": "zzzz"}, "no-such-message"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(library: Library, out: Path, options: dict[str, Any], slug: str) -> None:
    with pytest.raises(RecollectError) as found:
        library.session(SESSION).export(out / "talk.md", **options)
    assert found.value.slug == slug
    assert list(out.iterdir()) == []


def test_several_sessions_need_several_files(tmp_path: Path, out: Path) -> None:
    _, library = two_sessions(tmp_path)
    chosen = [uuid_from("same", 1), uuid_from("same", 2)]
    with pytest.raises(Refused) as found:
        library.export(chosen, out / "both.md")
    assert found.value.slug == "several-sessions"
    for name in ("csv", "parquet", "otel", "openai"):
        assert library.export(chosen, out / f"both.{name}", format=name).sessions == 2
    with pytest.raises(NotFound):
        library.export([], out / "none.md")


def test_messages_are_named_as_everywhere(library: Library, out: Path) -> None:
    session = library.session(SESSION)
    last = session.message_uuid("last")
    for reference in ("last", last, last[:12], "#4"):
        session.export(out / "talk.md", message=reference)
        assert "It is open." in (out / "talk.md").read_text()
        assert "Is the gate open?" not in (out / "talk.md").read_text().partition("Left out")[2]
    session.export(out / "talk.md", start="2", end="line:3")
    assert "credentials" in (out / "talk.md").read_text()


# --- the same bytes ---------------------------------------------------------------------------------------------------

_EXPORT_ALL = """
import sys, recollect
from recollect.export.formats import FORMATS
library = recollect.open(sys.argv[1])
for name in sys.argv[3:]:
    for ident in [item.session_id for item in library.sessions(kept=None, count=False)][:6]:
        library.session(ident).export(f"{sys.argv[2]}/{ident}.{name}", format=name, redact="all", costs=True, branches=True)
"""


def test_the_same_bytes_whatever_clock_zone_locale_and_hash_seed(tmp_path: Path) -> None:
    home = build_export_home(tmp_path / "claude")
    seen = []
    for number, more in enumerate(
        (
            {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONHASHSEED": "1", "COLUMNS": "40"},
            {"TZ": "America/St_Johns", "LC_ALL": "tr_TR.UTF-8", "PYTHONHASHSEED": "77", "LANG": "de_DE.UTF-8"},
        )
    ):
        folder = tmp_path / f"out{number}"
        folder.mkdir()
        own = {f"RECOLLECT_{kind}_DIR": str(tmp_path / f"own{number}" / kind) for kind in ("DATA", "CACHE", "CONFIG")}
        environment = {**os.environ, **own, **more}
        command = [sys.executable, "-c", _EXPORT_ALL, str(home), str(folder), *FORMATS_HERE]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        seen.append({name: (folder / name).read_bytes() for name in files_below(folder)})
    assert len(seen[0]) > 50
    assert seen[0].keys() == seen[1].keys()
    assert [name for name in seen[0] if seen[0][name] != seen[1][name]] == []


def test_the_moment_of_the_export_only_if_wanted(library: Library, out: Path) -> None:
    session = library.session(SESSION)
    session.export(out / "plain.json")
    assert json.loads((out / "plain.json").read_text())["exported_at"] is None
    session.export(out / "stamped.json", stamp=True)
    assert json.loads((out / "stamped.json").read_text())["exported_at"].endswith("Z")
