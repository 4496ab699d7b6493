"""`recollect secrets --mask`: plan, question, result; exit codes and JSON. No value is ever printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.running import Ran, run, tree_state
from tests.secrets.masking_scene import MaskScene

from recollect.testing import HomeBuilder, uuid_from

# Valid in form, checksum included, and made up here.
TOKEN = "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"
PASSWORD = "correct-Horse7battery"
ONE, TWO = uuid_from("mask", "one"), uuid_from("mask", "two")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude")
    one = builder.session("/work/tea", session_id=ONE)
    one.user(f"export API_TOKEN={TOKEN}")
    one.assistant("Done.", thinking=f"It is {TOKEN}.")
    two = builder.session("/work/tea", session_id=TWO)
    two.user(f"DB_PASSWORD={PASSWORD}")
    two.assistant("Noted.")
    builder.file("settings.json", json.dumps({"env": {"API_TOKEN": TOKEN}}))
    return builder.write()


def says_nothing(ran: Ran) -> Ran:
    assert TOKEN not in ran.out + ran.err
    assert PASSWORD not in ran.out + ran.err
    return ran


def holds(home: Path, value: str) -> list[str]:
    return sorted(path.name for path in home.rglob("*") if path.is_file() and value.encode() in path.read_bytes())


def test_a_dry_run_shows_the_plan_and_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree_state(home)
    ran = says_nothing(run(capsys, home, "secrets", "--mask", "--dry-run"))
    assert tree_state(home) == before
    assert ran.code == 1  # the settings would stay
    assert f"mask projects/-work-tea/{ONE}.jsonl" in ran.out
    assert "1 thinking block as a whole" in ran.out
    assert "must be revoked" in ran.err
    assert "--settings" in ran.err
    assert "Not reached from here" in ran.err
    assert "nothing was changed" in ran.err


def test_without_a_terminal_it_needs_yes(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree_state(home)
    ran = says_nothing(run(capsys, home, "secrets", "--mask"))
    assert (ran.code, tree_state(home)) == (6, before)
    assert "not-confirmed" in ran.err


def test_everything_is_masked_and_a_second_run_finds_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = says_nothing(run(capsys, home, "secrets", "--mask", "--yes", "--settings"))
    assert ran.code == 0, ran.err
    assert "nothing is left" in ran.out
    assert holds(home, TOKEN) == holds(home, PASSWORD) == []
    again = run(capsys, home, "secrets", "--mask", "--yes", "--settings")
    assert (again.code, again.out) == (0, "nothing to mask\n")
    assert run(capsys, home, "secrets", "--quiet").code == 0


def test_what_stays_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = says_nothing(run(capsys, home, "secrets", "--mask", "--yes"))
    assert ran.code == 1
    assert holds(home, TOKEN) == ["settings.json"]
    assert "stays: " in ran.err


def test_only_what_was_chosen_is_masked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = says_nothing(run(capsys, home, "secrets", TWO, "--mask", "--yes"))
    assert ran.code == 0, ran.err
    assert holds(home, PASSWORD) == []
    assert holds(home, TOKEN) == [f"{ONE}.jsonl", "settings.json"]
    kind = run(capsys, home, "secrets", "--kind", "github-pat", "--mask", "--dry-run", "--json").data
    assert {row["kind"] for row in kind["values"]} == {"github-pat"}


def test_json_tells_hashes_and_no_value(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    planned = says_nothing(run(capsys, home, "secrets", "--mask", "--dry-run", "--settings", "--json")).data
    assert planned["dry_run"] is True
    assert planned["change"] is None
    assert all(file["after"] is None for file in planned["files"])
    done = says_nothing(run(capsys, home, "secrets", "--mask", "--yes", "--settings", "--json")).data
    assert done["masked"] is True
    assert done["change"] == 1
    assert len(done["files"]) == 3
    assert all(len(file["before"]) == len(file["after"]) == 64 for file in done["files"])
    assert all(row["advice"] for row in done["values"])
    assert done["not_reached"]


def test_undo_says_why_it_cannot(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, home, "rename", ONE, f"Tea {TOKEN}", "--force")
    run(capsys, home, "secrets", "--mask", "--yes")
    rows = says_nothing(run(capsys, home, "changes", "--json")).data["rows"]
    assert [(row["name"], row["state"]) for row in rows] == [("mask", "done"), ("rename", "masked")]
    for number in ("1", "2"):
        ran = says_nothing(run(capsys, home, "undo", number))
        assert ran.code == 6
        assert "masked-for-good" in ran.err


def test_the_options_need_mask(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("--dry-run", "--yes", "--everywhere", "--same-length", "--settings"):
        assert run(capsys, home, "secrets", option).code == 2


def test_a_damaged_vault_is_told_before_a_home_is_touched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = MaskScene(tmp_path)
    scene.fill()
    for kind in ("data", "cache", "config"):
        monkeypatch.setenv(f"RECOLLECT_{kind.upper()}_DIR", str(scene.own_folder(kind)))
    pack = next((tmp_path / "data" / "vault" / "packs").iterdir())
    data = bytearray(pack.read_bytes())
    data[200] ^= 1
    pack.write_bytes(data)
    before = tree_state(scene.home.root)
    ran = run(capsys, scene.home.root, "secrets", "--mask", "--yes")
    assert ran.code == 4
    assert "vault-damaged" in ran.err
    assert tree_state(scene.home.root) == before
