"""`recollect check`, `repair` and `migrate` on the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.running import run, tree_state

from recollect.testing import DAMAGES, HomeBuilder, build_age, sample_session

Capsys = pytest.CaptureFixture[str]
LONG_AGO = 1_750_000_000
SESSION = sample_session().session_id


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """A home with a damaged session and a healthy one."""
    home = HomeBuilder(tmp_path / "claude")
    broken = home.session("/home/dev/orchard", session_id=SESSION)
    broken.user("x")
    home.damage(broken, DAMAGES["torn-middle"].make(1))
    healthy = home.session("/home/dev/garden")
    healthy.user("Hello")
    healthy.assistant("Hello to you")
    root = home.write()
    root.chmod(0o700)
    for path in root.rglob("*.jsonl"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return root


def test_check_says_what_is_wrong_and_ends_with_1(damaged: Path, capsys: Capsys) -> None:
    before = tree_state(damaged)
    ran = run(capsys, damaged, "check")
    assert ran.code == 1
    assert "torn" in ran.out
    assert "history-out-of-reach" in ran.out
    assert "Claude Code: " in ran.out
    assert "2 sessions checked, 1 whole" in ran.out
    assert tree_state(damaged) == before


def test_check_as_json(damaged: Path, capsys: Capsys) -> None:
    told = run(capsys, damaged, "check", "--json").data
    assert {row["code"] for row in told["rows"]} >= {"torn", "history-out-of-reach", "valid-parent-reference"}
    assert all(row["client"] and row["remedy"] for row in told["rows"])
    (session,) = told["sessions"]
    assert session["session_id"] == SESSION
    assert 0 < session["reachable_share"] < 1
    assert (told["checked"], told["whole"]) == (2, 1)


def test_check_one_session_a_project_or_a_rule(damaged: Path, capsys: Capsys) -> None:
    assert run(capsys, damaged, "check", SESSION[:8]).code == 1
    assert run(capsys, damaged, "check", "--project", "garden").code == 0
    told = run(capsys, damaged, "check", "--rule", "torn", "--json").data
    assert {row["code"] for row in told["rows"]} == {"torn"}
    assert run(capsys, damaged, "check", "--rule", "nonsense").code == 2
    assert run(capsys, damaged, "check", SESSION, "--all").code == 2


def test_the_exit_code_is_for_ci(damaged: Path, capsys: Capsys) -> None:
    assert run(capsys, damaged, "check", "--fail-on", "never").code == 0
    assert run(capsys, damaged, "check", "--project", "garden", "--fail-on", "info").code == 0
    run(capsys, damaged, "repair", SESSION, "--apply", "--yes")
    assert run(capsys, damaged, "check", "--fail-on", "warning").code == 0


def test_repair_shows_first_and_does_on_request(damaged: Path, capsys: Capsys) -> None:
    before = tree_state(damaged)
    ran = run(capsys, damaged, "repair", SESSION)
    assert ran.code == 0
    assert "-> 100% reachable" in ran.out
    assert "nothing was changed" in ran.err
    assert tree_state(damaged) == before
    assert "undo" in run(capsys, damaged, "repair", SESSION, "--apply", "--yes").err
    assert "nothing to repair" in run(capsys, damaged, "repair", SESSION).out
    assert run(capsys, damaged, "undo").code == 0
    path = next(damaged.glob(f"projects/*/{SESSION}.jsonl"))
    assert path.read_bytes() == DAMAGES["torn-middle"].make(1)


def test_repair_as_json(damaged: Path, capsys: Capsys) -> None:
    told = run(capsys, damaged, "repair", "--all", "--json").data
    (row,) = told["rows"]
    assert told["dry_run"] is True
    assert row["before"]["reachable_share"] < row["after"]["reachable_share"] == 1.0
    assert [item["fix"] for item in row["fixes"]] == ["lines", "links"]
    assert row["change"] is None
    told = run(capsys, damaged, "repair", SESSION, "--fork", "--apply", "--json").data
    assert told["rows"][0]["change"] == 1
    assert Path(told["rows"][0]["target"]).stem == told["rows"][0]["fork"]


def test_repair_goes_on_when_one_session_is_in_use(damaged: Path, capsys: Capsys) -> None:
    os.utime(next(damaged.glob(f"projects/*/{SESSION}.jsonl")))
    assert run(capsys, damaged, "repair", SESSION).code == 5
    ran = run(capsys, damaged, "repair", "--all", "--apply", "--yes")
    assert ran.code == 5
    assert "in use" in ran.err


def test_repair_the_files_of_a_home(damaged: Path, capsys: Capsys) -> None:
    (damaged / ".claude.json").write_text("{")
    (damaged / "backups").mkdir(exist_ok=True)
    (damaged / "backups" / ".claude.json.backup.1770000000000").write_text('{"numStartups": 3}')
    assert "restored from" in run(capsys, damaged, "repair", "--home-files").out
    assert (damaged / ".claude.json").read_text() == "{"
    told = run(capsys, damaged, "repair", "--home-files", "--apply", "--yes", "--json").data
    assert told["home_files"][0]["change"] == 1
    assert json.loads((damaged / ".claude.json").read_text()) == {"numStartups": 3}


@pytest.mark.parametrize(
    "arguments",
    [("repair",), ("repair", "x", "--all"), ("repair", "x", "--apply", "--dry-run"), ("migrate", "x", "--all"),
     ("migrate", "--apply"), ("migrate", "x", "--project", "p")],
)  # fmt: skip
def test_wrong_usage(arguments: tuple[str, ...], damaged: Path, capsys: Capsys) -> None:
    assert run(capsys, damaged, *arguments).code == 2


def test_migrate_lifts_sessions(tmp_path: Path, capsys: Capsys) -> None:
    root = tmp_path / "claude"
    build_age(root, "2.0.77")
    for path in root.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    before = tree_state(root)
    ran = run(capsys, root, "migrate", "--all", "--to", "2.1")
    assert "1 session to migrate" in ran.out
    assert tree_state(root) == before
    told = run(capsys, root, "migrate", "--all", "--to", "2.1", "--copy", str(tmp_path / "copy"), "--json").data
    assert told["home"] == str(tmp_path / "copy")
    assert tree_state(root) == before
    told = run(capsys, root, "migrate", "--all", "--to", "2.1", "--apply", "--yes", "--json").data
    assert [row["change"] for row in told["rows"]] == [2]
    assert run(capsys, root, "migrate", "--all", "--to", "2.1", "--json").data["rows"] == []
    assert run(capsys, root, "migrate", "--all", "--to", "3.0").code == 8
