"""The home builder puts files where the client of the age puts them, with times that do not depend on the clock."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from recollect.testing import SECRET, HomeBuilder, backup_name
from recollect.testing.toolcalls import bash


def tree(root: Path) -> dict[str, tuple[str, int]]:
    """Content hash and modification time of every file."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path.relative_to(root))] = (digest, path.stat().st_mtime_ns)
    return found


def everything(root: Path) -> HomeBuilder:
    """A home with one of each file."""
    home = HomeBuilder(root)
    t = home.session("/w/app")
    t.user("hello")
    t.call(bash("ls"))
    subagent = t.subagent("look", workflow="run1")
    subagent.finish("seen")
    sid = t.session_id
    home.todos(sid, [])
    home.todos(sid, [], subagent=sid)
    home.todos(sid, [], subagent=subagent.subagent_id)
    home.task(sid, 1, "one")
    home.plan("slow-blue-fox", "# Plan\n")
    home.history("hello", "/w/app", sid, pasted={1: "text"})
    home.backup(sid, "/w/app/a.py", 1, "old\n")
    home.running(4_000_001, sid, "/w/app")
    home.session_key(4_000_001)
    home.session_env(sid)
    home.shell_snapshot()
    home.debug_log(sid)
    home.paste("pasted")
    home.ide_lock(4321, "/w/app")
    home.memory("/w/app", "note")
    home.stats_cache()
    home.statsig()
    home.command("go", "Go.")
    home.subagent_definition("scout", "Looks", "You look.")
    home.skill("see", "Sees", "See.")
    home.plugin("lens")
    home.settings()
    home.settings({"env": {}}, local=True)
    home.global_config({"/w/app": home.project_config(sid)})
    home.credentials()
    home.claude_md()
    home.config_backup()
    home.sessions_index("/w/app", [home.index_entry(t)])
    home.custom_title_file("/w/app", sid, "T")
    home.tool_output(t, "abc", "long")
    home.folder("plugins/marketplaces")
    return home


def test_two_homes_of_the_same_calls_are_equal_to_the_byte_and_second(tmp_path: Path) -> None:
    # Some files hold absolute paths of the home itself, so both are built at the same place in turn.
    everything(tmp_path / "c").write()
    first = tree(tmp_path / "c")
    (tmp_path / "c").rename(tmp_path / "moved")
    everything(tmp_path / "c").write()
    assert tree(tmp_path / "c") == first


def test_writing_twice_changes_nothing(tmp_path: Path) -> None:
    home = everything(tmp_path / "c")
    home.write()
    before = tree(home.root)
    home.write()
    assert tree(home.root) == before


@pytest.mark.parametrize(
    ("version", "place"),
    [
        ("2.0.26", None),
        ("2.0.77", "projects/-w-app/agent-{subagent}.jsonl"),
        ("2.1.9", "projects/-w-app/{session}/subagents/agent-{subagent}.jsonl"),
        ("2.1.325", "projects/-w-app/{session}/subagents/agent-{subagent}.jsonl"),
    ],
)
def test_subagents_are_where_the_age_keeps_them(tmp_path: Path, version: str, place: str | None) -> None:
    home = HomeBuilder(tmp_path / "c", version=version)
    t = home.session("/w/app")
    t.user("go")
    subagent = t.subagent("look")
    subagent.finish("seen")
    home.write()
    path = home.subagent_path(subagent)
    found = sorted((home.root / "projects").rglob("agent-*.jsonl"))
    if place is None:
        assert path is None
        assert found == []
        return
    expected = home.root / place.format(subagent=subagent.subagent_id, session=t.session_id)
    assert path == expected
    assert found == [expected]
    meta = expected.with_suffix("").with_suffix(".meta.json")
    assert meta.exists() is (version == "2.1.325")


def test_workflow_subagents_have_a_folder_of_their_run(tmp_path: Path) -> None:
    home = everything(tmp_path / "c")
    home.write()
    (found,) = home.root.rglob("agent-*.meta.json")
    assert found.parent.parts[-3:] == ("subagents", "workflows", "run1")
    assert json.loads(found.read_text())["toolUseId"].startswith("toolu_")


def test_transcripts_bear_the_time_of_their_last_row_unless_told(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "c")
    own = home.session("/w/one", start="2026-01-01T00:00:00Z", step=60.0)
    own.user("a")
    last = own.user("b")
    told = home.session("/w/two", modified="2020-05-05T05:05:05Z")
    told.user("a")
    home.write()
    assert own.entry(last)["timestamp"] == "2026-01-01T00:01:00.000Z"
    assert home.session_path(own).stat().st_mtime == 1767225660
    assert home.session_path(told).stat().st_mtime == 1588655105


def test_two_projects_can_share_a_folder(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "c")
    one, two = home.session("/w/a-b"), home.session("/w/a/b")
    one.user("x")
    two.user("y")
    assert one.session_id != two.session_id
    assert home.session_path(one).parent == home.session_path(two).parent


def test_backups_are_named_by_the_hash_of_the_path(tmp_path: Path) -> None:
    name = backup_name("/w/app/a.py", 3)
    assert name == hashlib.sha256(b"/w/app/a.py").hexdigest()[:16] + "@v3"
    home = HomeBuilder(tmp_path / "c")
    assert home.backup("sid", "/w/app/a.py", 3, "x").endswith(f"file-history/sid/{name}")


def test_the_highest_task_number_is_kept(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "c")
    for number in (1, 7, 3):
        home.task("sid", number, "x")
    assert home.files["tasks/sid/.highwatermark"].content == b"7"


def test_secrets_stand_in_files_that_hold_secrets_and_nowhere_else(tmp_path: Path) -> None:
    root = everything(tmp_path / "c").write()
    holders = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and SECRET in path.read_text()}
    kinds = {name.split("/")[0] for name in holders}
    assert kinds == {".claude.json", ".credentials.json", "backups", "ide", "sessions"}
    assert {name for name in holders if name.startswith("sessions/")} == {
        name for name in holders if name.endswith(".key")
    }


def test_latest_debug_log_is_a_link(tmp_path: Path) -> None:
    root = everything(tmp_path / "c").write()
    assert (root / "debug/latest").read_text() == "[DEBUG] Loading settings\n"


def test_damage_replaces_what_the_builder_made(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "c")
    t = home.session("/w/app")
    t.user("hello")
    home.damage(t, b"\0\0")
    home.write()
    assert home.session_path(t).read_bytes() == b"\0\0"


@pytest.mark.parametrize("as_text", [True, False])
def test_flags_are_json_inside_json_or_nested(tmp_path: Path, as_text: bool) -> None:
    home = HomeBuilder(tmp_path / "c")
    path = home.statsig({"a": True}, {"b": {"c": 1}}, data_as_text=as_text)
    data = json.loads(home.files[str(Path(path).relative_to(home.root))].content)["data"]
    assert isinstance(data, str) is as_text
    evaluations = json.loads(data) if as_text else data
    assert evaluations["feature_gates"]["a"]["value"] is True
    assert evaluations["dynamic_configs"]["b"]["value"] == {"c": 1}
