"""`recollect files`"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.running import run, tree_state

from recollect.cli.main import main
from recollect.testing import HomeBuilder, uuid_from
from recollect.testing.toolcalls import edit, write

SESSION = uuid_from("files")
MAIN = "/w/app/src/main.py"


@dataclass
class Case:
    home: Path
    capsys: pytest.CaptureFixture[str]
    rows: dict[str, str]

    def json(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        assert main(["--home", str(self.home), "--json", "files", SESSION, *arguments]) == code
        found = json.loads(self.capsys.readouterr().out)
        assert isinstance(found, dict)
        return found

    def text(self, *arguments: str, code: int = 0) -> str:
        assert main(["--home", str(self.home), "--no-color", "files", SESSION, *arguments]) == code
        return self.capsys.readouterr().out


@pytest.fixture
def case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Case:
    builder = HomeBuilder(tmp_path / "claude")
    session = builder.session("/w/app", session_id=SESSION)
    rows = {"first": session.user("change it")}
    session.file_history_delta(rows["first"], rows["first"], MAIN, 1)
    builder.backup(SESSION, MAIN, 1, "one\n")
    rows["edited"] = session.call(edit(MAIN, "one", "two\x1b[31m", original="one\n"))
    rows["written"] = session.call(write("/w/app/new.bin", "hello\n"))
    subagent = session.subagent("look into it")
    rows["subagent"] = subagent.call(write("/w/app/by-agent.txt", "made by a subagent\n"))
    subagent.finish("done")
    rows["second"] = session.user("I changed it myself")
    session.file_history_snapshot(rows["second"], {MAIN: 2, "/w/app/new.bin": 2})
    builder.backup(SESSION, MAIN, 2, "mine\r\n")
    builder.backup(SESSION, "/w/app/new.bin", 2, b"\xff\x00")
    rows["third"] = session.user("bye")
    session.file_history_snapshot(rows["third"], {MAIN: 3})
    return Case(builder.write(), capsys, rows)


def test_files(case: Case) -> None:
    found = case.json()
    assert {(row["path"], row["edits"], row["created"]) for row in found["rows"]} == {
        (MAIN, 1, False),
        ("/w/app/new.bin", 1, True),
        ("/w/app/by-agent.txt", 1, True),
    }
    assert found["session_id"] == SESSION
    assert "main.py" in case.text()


def test_versions(case: Case) -> None:
    found = case.json("main.py")
    assert found["path"] == MAIN
    assert [(row["kind"], row["version"], row["on_disk"]) for row in found["rows"]] == [
        ("first-touch", 1, True),
        ("edit", None, False),
        ("checkpoint", 2, True),
        ("checkpoint", 3, False),
    ]


@pytest.mark.parametrize(
    ("at", "options", "content"),
    [
        ("edited", [], "two\x1b[31m\n"),
        ("edited", ["--before"], "one\n"),
        ("first", [], "one\n"),
        ("second", [], "mine\r\n"),
    ],
)
def test_content(case: Case, at: str, options: list[str], content: str) -> None:
    found = case.json(MAIN, "--at", case.rows[at], *options)
    assert (found["content"], found["encoding"], found["exists"]) == (content, "utf-8", True)
    assert found["at"] == case.rows[at]


def test_content_at_both_ends(case: Case) -> None:
    assert case.json(MAIN, "--at", "start")["content"] == "one\n"
    end = case.json(MAIN, "--at", "end")
    assert (end["content"], end["certain"]) == ("mine\r\n", False)
    assert "is missing" in end["note"]


def test_bytes_that_are_no_text(case: Case) -> None:
    found = case.json("new.bin", "--at", case.rows["second"])
    assert base64.b64decode(found["content"]) == b"\xff\x00"
    assert found["encoding"] == "base64"


def test_a_file_that_was_not_there_yet(case: Case) -> None:
    found = case.json("new.bin", "--at", case.rows["written"], "--before", code=1)
    assert (found["exists"], found["content"]) == (False, None)


def test_text_is_safe_and_raw_is_not(case: Case) -> None:
    assert case.text(MAIN, "--at", case.rows["edited"]) == "two\n"
    assert case.text(MAIN, "--at", case.rows["edited"], "--raw") == "two\x1b[31m\n"


def test_diff_of_one_file(case: Case) -> None:
    assert case.text(MAIN, "--diff", "--to", case.rows["edited"]).splitlines() == [
        f"--- {MAIN}\tstart",
        f"+++ {MAIN}\t{case.rows['edited']}",
        "@@ -1 +1 @@",
        "-one",
        "+two",
    ]


def test_diff_of_all_files(case: Case) -> None:
    found = case.json("--diff", "--to", case.rows["written"])
    diffs = {row["path"]: row["diff"] for row in found["rows"]}
    assert diffs["/w/app/new.bin"].splitlines()[-1] == "+hello"
    assert "+two" in diffs[MAIN]
    assert found["changed"] >= 2


def test_a_row_by_the_start_of_its_uuid(case: Case) -> None:
    assert case.json(MAIN, "--at", case.rows["second"][:13])["content"] == "mine\r\n"


@pytest.mark.parametrize(
    "arguments",
    [["nothing.py"], [MAIN, "--at", "no-such-row"], [MAIN, "--at", "x"], [MAIN, "--diff", "--to", "zzzzzz"]],
)
def test_not_found(case: Case, arguments: list[str]) -> None:
    assert main(["--home", str(case.home), "files", SESSION, *arguments]) == 3
    assert case.capsys.readouterr().err.startswith("recollect: ")


def test_no_such_session(case: Case) -> None:
    assert main(["--home", str(case.home), "files", "nowhere-at-all"]) == 3


def test_at_needs_a_path(case: Case) -> None:
    assert main(["--home", str(case.home), "files", SESSION, "--at", "start"]) == 2


def test_a_session_without_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = HomeBuilder(tmp_path / "empty")
    builder.session("/w/app", session_id=SESSION).user("hello")
    assert main(["--home", str(builder.write()), "--json", "files", SESSION]) == 1
    assert json.loads(capsys.readouterr().out)["rows"] == []


class TestPlacesThatAreNeverWritten:
    """`files --write` is for files of projects: it neither writes nor shows what is in a home."""

    def refused(self, case: Case, *output: str, code: int = 6) -> str:
        before = tree_state(case.home)
        ran = run(case.capsys, case.home, "files", SESSION, "new.bin", "--at", "end", "--write", "--yes", *output)
        assert ran.code == code
        assert tree_state(case.home) == before
        assert ran.out == ""
        return ran.err

    def test_a_transcript(self, case: Case) -> None:
        place = next(case.home.glob("projects/*/*.jsonl"))
        assert "[inside-home]" in self.refused(case, "--output", str(place))

    def test_a_new_file_in_the_home(self, case: Case) -> None:
        assert "[inside-home]" in self.refused(case, "--output", str(case.home / "new.txt"))

    def test_by_a_link_to_a_folder_of_the_home(self, case: Case, tmp_path: Path) -> None:
        (tmp_path / "innocent").symlink_to(case.home / "projects")
        assert "[inside-home]" in self.refused(case, "--output", str(tmp_path / "innocent" / "new.txt"))

    def test_a_home_that_is_not_the_one_asked(
        self, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        other = tmp_path / "other"
        (other / "projects").mkdir(parents=True)
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(other))
        assert "[inside-home]" in self.refused(case, "--output", str(other / "new.txt"))
        assert not (other / "new.txt").exists()

    def test_the_files_own_place(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        builder = HomeBuilder(tmp_path / "claude")
        session = builder.session("/w/app", session_id=SESSION)
        session.user("remember it")
        session.call(write(str(builder.root / "CLAUDE.md"), "remembered\n"))
        root = builder.write()
        ran = run(capsys, root, "files", SESSION, "CLAUDE.md", "--at", "end", "--write", "--yes")
        assert (ran.code, ran.out) == (6, "")
        assert not (root / "CLAUDE.md").exists()

    @pytest.mark.parametrize("inside", [True, False])
    def test_secrets_are_not_shown(self, case: Case, tmp_path: Path, inside: bool) -> None:
        place = (case.home if inside else tmp_path) / ".credentials.json"
        place.write_text('{"token": "hush"}')
        assert "[secret]" in self.refused(case, "--output", str(place))
        assert place.read_text() == '{"token": "hush"}'

    def test_an_empty_name(self, case: Case) -> None:
        self.refused(case, "--output", "", code=2)
