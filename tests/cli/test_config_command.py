"""`recollect config`, and that no secret gets out of any of these commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect.cli.main import main
from recollect.testing import SECRET, HomeBuilder, uuid_from


@pytest.fixture
def home(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude")
    server = {"command": "npx", "args": ["-y", "server", "--token", SECRET], "env": {"API_KEY": SECRET, "MODE": "fast"}}
    remote = {"type": "http", "url": f"https://a.example/mcp?key={SECRET}", "headers": {"Authorization": SECRET}}
    builder.global_config(
        {
            "/w/app": builder.project_config(uuid_from("s"), cost=1.25, mcp_servers={"local": server}),
            "/w/secret-plans": builder.project_config(),
        },
        mcp_servers={"remote": remote},
        cachedStatsigGates={"tengu_on": True},
    )
    builder.settings({"model": "opus", "cleanupPeriodDays": 90, "env": {"GH_TOKEN": SECRET}, "apiKeyHelper": SECRET})
    builder.settings({"permissions": {"allow": ["Read"]}}, local=True)
    builder.session("/w/app", session_id=uuid_from("s")).user("hi")
    builder.credentials()
    builder.session_key(5)
    builder.running(5, uuid_from("s"), "/w/app")
    builder.ide_lock(8080, "/w/app")
    builder.config_backup()
    builder.statsig({"gate": True}, {"config": {"apiKey": SECRET, "limit": 3}})
    builder.plugin("formatter")
    builder.skill("tidy", "Tidies up", "Tidy.")
    builder.memory("/w/app", "# Facts\n")
    return builder.write()


def test_home(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "--json", "config"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["cleanup_days"] == 90
    assert row["settings"]["settings.json"]["model"] == "opus"
    assert row["settings"]["settings.json"]["env"] == {"GH_TOKEN": "(masked)"}
    assert row["settings"]["settings.local.json"]["permissions"]["allow"] == ["Read"]
    assert row["client"]["mcp_servers"]["remote"]["headers"] == {"Authorization": "(masked)"}
    assert row["client"]["signed_in"] is True
    assert row["projects"][0] == {"path": "/w/app", "last_session_id": uuid_from("s"), "last_cost": 1.25}
    assert [plugin["id"] for plugin in row["plugins"]["installed"]["plugins"]] == ["formatter@example-market"]
    assert [skill["name"] for skill in row["definitions"]["skills"]] == ["tidy"]
    assert row["memory"] == {"-w-app": ["MEMORY"]}
    assert row["config_backups"] == 1


def test_project(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for asked in ("/w/app", "app"):
        assert main(["--home", str(home), "--json", "config", asked]) == 0
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        assert (row["path"], row["last_cost"]) == ("/w/app", 1.25)
        assert row["mcp_servers"]["local"]["env"] == {"API_KEY": "(masked)", "MODE": "fast"}


def test_project_by_a_folder(
    home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = json.loads((home / ".claude.json").read_text())
    config["projects"] = {str(tmp_path): {"lastCost": 3}}
    (home / ".claude.json").write_text(json.dumps(config))
    assert main(["--home", str(home), "--json", "config", "."]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["last_cost"] == 3


def test_no_such_project(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "config", "/w/nowhere"]) == 3
    assert "/w/app" in capsys.readouterr().err


def test_text(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "--no-color", "config"]) == 0
    out = capsys.readouterr().out
    assert "      model: opus\n" in out
    assert "GH_TOKEN: (masked)" in out


def test_a_broken_config_is_shown_as_such(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".claude.json").write_text('{"oops')
    assert main(["--home", str(home), "--json", "config"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["client"]["problem"] == "not JSON at character 1"
    assert row["projects"] == []


@pytest.mark.parametrize("form", [[], ["--json"], ["--jsonl"]])
@pytest.mark.parametrize(
    "command",
    [
        ["config"],
        ["config", "/w/app"],
        ["config", "secret-plans"],
        ["flags"],
        ["todos"],
        ["history"],
        ["plans"],
        ["files", "last"],
    ],
)
def test_no_secret_gets_out(
    home: Path, capsys: pytest.CaptureFixture[str], form: list[str], command: list[str]
) -> None:
    assert main(["--home", str(home), *form, *command]) in (0, 1)
    captured = capsys.readouterr()
    assert SECRET not in captured.out + captured.err
    assert "dev@example.invalid" not in captured.out + captured.err
