"""`recollect secrets`: what it prints, what it never prints, and its exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from tests.running import run

from recollect.testing import HomeBuilder
from recollect.testing.secret_home.marked_text import Dice
from recollect.testing.secret_home.values import SECRETS

TOKEN = SECRETS[0](Dice("cli")).text
ROW = (
    "session_id path home line pointer start end kind family confidence form length masked fingerprint time".split()  # noqa: SIM905
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "home")
    session = builder.session("/home/dev/garden")
    session.user(f"use {TOKEN} please")
    session.assistant("done")
    builder.write()
    return tmp_path / "home"


def test_text(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, home, "secrets")
    assert (
        ran.code == 1
        and "anthropic-api-key" in ran.out
        and "console.anthropic.com" in ran.out
        and "sk-ant-…AA" in ran.out
    )
    assert TOKEN not in ran.out + ran.err and "must be revoked" in ran.err


def test_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, home, "secrets", "--json")
    (row,) = ran.data["rows"]
    assert ran.code == 1 and list(row) == ROW and row["pointer"].startswith("/message/content") and row["line"] == 1
    assert (ran.data["values"], ran.data["finds"], ran.data["sessions"]) == (1, 1, 1) and ran.data["rules_version"]
    assert set(ran.data) >= {"bytes", "seconds"} and TOKEN not in ran.out
    lines = run(capsys, home, "secrets", "--jsonl").out.splitlines()
    assert [json.loads(line) for line in lines] == [row]


def test_reveal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert TOKEN in run(capsys, home, "secrets", "--reveal").out
    assert run(capsys, home, "secrets", "--reveal", "--json").data["rows"][0]["value"] == TOKEN


def test_quiet_and_nothing_found(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, home, "secrets", "--quiet")
    assert (ran.code, ran.out, ran.err) == (1, "", "")
    fingerprint = run(capsys, home, "secrets", "--json").data["rows"][0]["fingerprint"]
    ran = run(capsys, home, "secrets", "--ignore", fingerprint)
    assert (ran.code, ran.out) == (0, "") and "no secrets found" in ran.err
    assert run(capsys, home, "secrets", "--kind", "jwt", "--quiet").code == 0


def test_rules(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(capsys, home, "secrets", "--rules", "--json")
    kinds = {row["kind"]: row for row in ran.data["rows"]}
    assert ran.code == 0 and len(kinds) == ran.data["total"] > 110 and kinds["github-pat"]["checksum"]
    assert all(row["source"] for row in kinds.values())


def test_mistakes(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, home, "secrets", "--kind", "github-patt").code == 3
    assert run(capsys, home, "secrets", "last", "--all").code == 2
    assert run(capsys, home, "secrets", "--same-length").code == 2
    assert run(capsys, home, "secrets", "--files").code == 2
    assert run(capsys, home, "secrets", "--files", "x", "--mask").code == 2
    assert run(capsys, home, "secrets", "no such session").code == 3


def test_wrong_rules(home: Path, capsys: pytest.CaptureFixture[str], own_home: Path) -> None:
    folder = own_home / "recollect" / "config"
    folder.mkdir(parents=True)
    (folder / "rules.toml").write_text('[[rule]]\nkind = "a"\nregex = "(open"\n')
    ran = run(capsys, home, "secrets", "--json")
    assert ran.code == 6 and json.loads(ran.err)["error"]["slug"] == "wrong-secret-rules"


def test_files(tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text(f"# Notes\n\n{TOKEN}\n")
    (tmp_path / "b.md").write_text("# Nothing\n")
    ran = run(capsys, home, "secrets", "--files", str(tmp_path / "a.md"), str(tmp_path / "b.md"))
    assert ran.code == 1 and ran.out.startswith(f"{tmp_path / 'a.md'}:3: anthropic-api-key (definite) sk-ant-…AA [")
    assert run(capsys, home, "secrets", "--files", str(tmp_path / "b.md")).code == 0
    assert run(capsys, home, "secrets", "--files", str(tmp_path / "c.md")).code == 3
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"x {TOKEN}\n".encode())))
    found = run(capsys, home, "secrets", "--files", "-", "--json")
    assert found.code == 1 and found.data["rows"][0]["start"] == 2
