"""Configuration of a home: typed, and never with a secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.format.masking import MASK
from recollect.store.config_files import (
    cached_flags,
    cleanup_days,
    client_config,
    config_backups,
    definitions,
    plugins,
    settings_files,
)
from recollect.store.home import Home
from recollect.testing import SECRET, HomeBuilder, uuid_from


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    return HomeBuilder(tmp_path / "claude")


def test_nothing_there(builder: HomeBuilder) -> None:
    home = Home(builder.write())
    assert settings_files(home) == {}
    assert client_config(home) is None
    assert config_backups(home) == []
    assert cached_flags(home) == []
    assert definitions(home) == {}
    assert plugins(home).installed is None
    assert cleanup_days(home) == 30


def test_settings_and_retention(builder: HomeBuilder) -> None:
    builder.settings({"cleanupPeriodDays": 90, "model": "opus"})
    builder.settings({"permissions": {"allow": ["Read"]}}, local=True)
    home = Home(builder.write())
    files = settings_files(home)
    assert files["settings.json"].model == "opus"
    assert files["settings.local.json"].permissions.allow == ("Read",)
    assert cleanup_days(home) == 90


def test_global_config(builder: HomeBuilder) -> None:
    project = builder.project_config(
        uuid_from("s"), cost=1.25, mcp_servers={"x": {"command": "x", "env": {"KEY": SECRET}}}
    )
    builder.global_config({"/w/app": project})
    home = Home(builder.write())
    config = client_config(home)
    assert config is not None
    assert config.signed_in
    found = config.projects["/w/app"]
    assert (found.last_cost, found.last_session_id) == (1.25, uuid_from("s"))
    assert found.mcp_servers["x"].env == {"KEY": MASK}


def test_global_config_beside_the_home(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / ".claude")
    builder.settings()
    builder.write()
    (tmp_path / ".claude.json").write_text('{"numStartups": 4}')
    config = client_config(Home(tmp_path / ".claude"))
    assert config is not None
    assert config.num_startups == 4


def test_config_of_the_first_clients(builder: HomeBuilder) -> None:
    builder.global_config(name="config.json")
    config = client_config(Home(builder.write()))
    assert config is not None
    assert config.num_startups == 17


def test_backups_of_the_config(builder: HomeBuilder) -> None:
    builder.config_backup()
    builder.config_backup(".claude.json.backup")
    found = config_backups(Home(builder.write()))
    assert [(info.path.parent.name, time is not None) for info, time in found] == [("claude", False), ("backups", True)]


@pytest.mark.parametrize("as_text", [True, False])
def test_flags(builder: HomeBuilder, as_text: bool) -> None:
    builder.statsig({"gate": True}, {"config": {"limit": 3}}, data_as_text=as_text)
    (flags,) = cached_flags(Home(builder.write()))
    assert [(gate.name, gate.value) for gate in flags.evaluations.gates] == [("gate", True)]
    assert flags.evaluations.dynamic_configs[0].value == {"limit": 3}
    assert flags.renewed == flags.evaluations.received_at


def test_definitions(builder: HomeBuilder, tmp_path: Path) -> None:
    builder.command("git/commit", "---\ndescription: Commit it\n---\nDo.\n")
    builder.subagent_definition("reviewer", "Reviews", "You review.", tools=["Read"])
    builder.skill("tidy", "Tidies up", "Tidy.")
    builder.file("skills/tidy/reference.md", "# Material")
    (tmp_path / "shared-skill").mkdir()
    builder.link("skills/elsewhere", str(tmp_path / "shared-skill"))
    found = definitions(Home(builder.write()))
    assert {
        folder: [(document.name, document.document.description) for document in documents]
        for folder, documents in found.items()
    } == {
        "commands": [("git/commit", "Commit it")],
        "agents": [("reviewer", "Reviews")],
        "skills": [("elsewhere", None), ("tidy", "Tidies up")],
    }
    problem = found["skills"][0].document.problem
    assert problem is not None
    assert "leads out of" in problem


def test_plugins(builder: HomeBuilder) -> None:
    builder.plugin("formatter")
    found = plugins(Home(builder.write()))
    assert found.installed is not None
    assert [plugin.name for plugin in found.installed.plugins] == ["formatter"]
    assert found.marketplaces is not None
    assert [market.name for market in found.marketplaces.marketplaces] == ["example-market"]


def test_no_secret_in_any_answer(builder: HomeBuilder) -> None:
    server = {"command": "x", "args": ["--api-key", SECRET], "env": {"API_TOKEN": SECRET}, "headers": {"X-A": SECRET}}
    builder.global_config({"/w/app": builder.project_config(uuid_from("s"), mcp_servers={"x": server})})
    builder.settings({"env": {"DB_PASSWORD": SECRET}, "apiKeyHelper": SECRET})
    builder.config_backup()
    builder.credentials()
    builder.session_key(5)
    builder.ide_lock(8080, "/w/app")
    home = Home(builder.write())
    answers = [
        settings_files(home),
        client_config(home),
        config_backups(home),
        cached_flags(home),
        plugins(home),
    ]
    assert SECRET not in repr(answers)
