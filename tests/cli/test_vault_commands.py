"""`keep`, `verify`, `restore`, `prune`, `bundle` and `unbundle` on the command line, and reading what only the vault has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.asking import Ask
from tests.running import run, tree_state
from tests.vault.scene import CWD, OTHER, SESSION, Scene

from recollect.cli.lean_keep import try_keep
from recollect.testing import uuid_from
from recollect.vault import vault
from recollect.vault.vault import format_mark


@pytest.fixture
def scene(tmp_path: Path, own_home: Path) -> Scene:
    scene = Scene(tmp_path)
    scene.data = own_home / "recollect" / "data"
    scene.cache = own_home / "recollect" / "cache" / "vault"
    return scene


@pytest.fixture
def ask(scene: Scene, capsys: pytest.CaptureFixture[str]) -> Ask:
    return Ask(scene, capsys)


# --- keep -------------------------------------------------------------------------------------------------------------


def test_keep_tells_what_it_kept(scene: Scene, ask: Ask) -> None:
    before = tree_state(scene.home.root)
    told = ask("keep", "--json").data
    assert told["homes"][0]["new"] == len(scene.files())
    assert SESSION in told["homes"][0]["sessions"]
    assert "nothing new" in ask("keep").out
    assert ask("keep", "--quiet").out == ""
    assert tree_state(scene.home.root) == before


def test_status_is_the_retention_guard(scene: Scene, ask: Ask) -> None:
    for path in scene.home.projects.glob("*/*.jsonl"):
        os.utime(path, (time.time() - 28 * 86_400,) * 2)
    assert "3 sessions will be deleted within 7 days; 3 not kept" in ask("keep", "--status").out
    ask("keep")
    assert "3 sessions will be deleted within 7 days; 0 not kept" in ask("keep", "--status").out
    told = ask("keep", "--status", "--json").data
    assert told["homes"][0]["kept"] == 3
    assert told["ratio"] > 1
    assert told["installed"] == []


def test_compacting(scene: Scene, ask: Ask) -> None:
    assert "no-vault" in ask("keep", "--compact", code=3).err
    ask("keep")
    for number in range(20):
        with open(scene.path(), "ab") as stream:
            stream.write(b'{"type":"tag","tag":"%d"}\n' % number * 1000)
        ask("keep")
    before, files = tree_state(scene.data / "vault"), scene.all_kept()
    would = ask("keep", "--compact", "--dry-run", "--json").data
    assert (would["dry_run"], would["stored_after"]) == (True, None)
    assert would["unused"] == ask("keep", "--status", "--json").data["reclaimable"] > 0
    assert "at least" in ask("keep", "--compact", "--dry-run").out
    assert tree_state(scene.data / "vault") == before
    assert "became" in ask("keep", "--compact").out
    assert ask("keep", "--status", "--json").data["reclaimable"] == 0
    told = ask("keep", "--compact", "--json").data
    assert told["stored"] < would["stored"] - would["unused"]
    assert scene.all_kept() == files
    assert "nothing to gain" in ask("keep", "--compact").out
    assert ask("verify", "--deep", "--json").data["rows"] == []


def test_watching_keeps_what_comes(scene: Scene, own_home: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "recollect", "--home", str(scene.home.root), "keep", "--watch", "--jsonl"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
    try:
        assert child.stdout is not None
        assert json.loads(child.stdout.readline())["new"] == len(scene.files())
        time.sleep(0.5)
        with open(scene.path(), "ab") as stream:
            stream.write(b'{"type":"tag","tag":"more"}\n')
        second = json.loads(child.stdout.readline())
        assert (second["grown"], second["sessions"]) == (1, [SESSION])
    finally:
        child.terminate()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


# --- reading ----------------------------------------------------------------------------------------------------------


def test_reading_commands_see_what_the_home_has_lost(scene: Scene, ask: Ask) -> None:
    shown = {name: ask(name, SESSION).out for name in ("cat", "thread", "tools", "subagents", "tree")}
    data = scene.path().read_bytes()
    ask("keep")
    ask("delete", SESSION, "--yes")
    assert {name: ask(name, SESSION).out for name in shown} == shown
    assert ask("cat", SESSION[:8]).out.encode() == data
    rows = {row["session_id"]: row for row in ask("list", "--json").data["rows"]}
    assert rows[SESSION]["kept"] is True
    assert rows[OTHER]["kept"] is False
    assert rows[SESSION]["title"] == "What is in the notes?"
    assert [row["session_id"] for row in ask("list", "--kept", "--json").data["rows"]] == [SESSION]
    assert SESSION not in ask("list", "--no-kept", "--json").out
    assert "(kept) What is in the notes?" in ask("list").out
    assert "Milk and bread." in ask("show", "What is in the notes?").out


def test_what_is_only_kept_cannot_be_changed(scene: Scene, ask: Ask) -> None:
    ask("keep")
    ask("delete", SESSION, "--yes")
    append = ("append", SESSION, "hello", "--role", "user")
    for command in (("rename", SESSION, "new"), append, ("fork", SESSION), ("delete", SESSION, "--yes")):
        ran = ask(*command, code=6)
        assert "[only-kept]" in ran.err


def test_nothing_is_left_of_what_was_laid_out(scene: Scene, ask: Ask, own_home: Path) -> None:
    ask("keep")
    scene.path().unlink()
    command = [sys.executable, "-m", "recollect", "--home", str(scene.home.root), "cat", SESSION]
    assert subprocess.run(command, capture_output=True, check=True).stdout
    assert list((own_home / "recollect" / "cache" / "kept").iterdir()) == []


def test_an_unknown_session_is_still_unknown(scene: Scene, ask: Ask) -> None:
    ask("keep")
    assert "[no-such-session]" in ask("cat", uuid_from("nobody"), code=3).err


# --- verify and restore -----------------------------------------------------------------------------------------------


def test_verify(scene: Scene, ask: Ask) -> None:
    assert "[no-vault]" in ask("verify", code=3).err
    ask("keep")
    assert ask("verify").out.startswith("sound: ")
    assert "files compared" in ask("verify", "--deep").out
    pack = scene.vault.pack_path(1)
    data = bytearray(pack.read_bytes())
    data[len(data) // 3] ^= 4
    pack.write_bytes(data)
    told = ask("verify", "--json", code=1).data
    assert told["sound"] is False
    assert f"projects/-work-notes/{SESSION}.jsonl" in told["rows"][0]["files"]
    assert "DAMAGED" in ask("verify", code=1).out


def test_verify_and_bundle_change_nothing_in_the_home(scene: Scene, ask: Ask, tmp_path: Path) -> None:
    ask("keep")
    before = tree_state(scene.home.root)
    ask("verify", "--deep")
    ask("bundle", SESSION, "-o", str(tmp_path / "talk.recollect"))
    ask("restore", SESSION, "--dry-run")
    ask("unbundle", str(tmp_path / "talk.recollect"), "--dry-run")
    assert tree_state(scene.home.root) == before


def test_restore(scene: Scene, ask: Ask, tmp_path: Path) -> None:
    data, moment = scene.path().read_bytes(), scene.path().stat().st_mtime_ns
    ask("keep")
    ask("delete", SESSION, "--yes")
    plan = ask("restore", SESSION, "--dry-run", "--json").data
    assert plan["dry_run"] is True
    assert plan["sessions"] == [SESSION]
    ask("restore", SESSION)
    assert (scene.path().read_bytes(), scene.path().stat().st_mtime_ns) == (data, moment)
    assert "nothing to restore" in ask("restore", SESSION).out
    assert ask("list", "--kept", code=1).out == ""
    ask("restore", "--all", "--to", str(tmp_path / "there"))
    assert (tmp_path / "there" / "history.jsonl").exists()
    assert ask("restore", code=2).err
    assert ask("restore", SESSION, "--all", code=2).err


def test_restore_names_what_is_damaged_and_ends_with_4(scene: Scene, ask: Ask, tmp_path: Path) -> None:
    ask("keep")
    pack = scene.vault.pack_path(1)
    data = bytearray(pack.read_bytes())
    data[60] ^= 1
    pack.write_bytes(data)
    ran = ask("restore", "--all", "--to", str(tmp_path / "there"), code=4)
    assert "block 0" in ran.err


# --- prune ------------------------------------------------------------------------------------------------------------


def test_prune_takes_only_what_is_kept(scene: Scene, ask: Ask, own_home: Path) -> None:
    assert ask("prune", code=2).err
    assert "[no-vault]" in ask("prune", "--older", "1d", code=3).err
    ask("keep")
    with open(scene.path(OTHER), "ab") as stream:
        stream.write(b'{"type":"tag","tag":"not kept"}\n')
    os.utime(scene.path(OTHER), (1_700_000_000, 1_700_000_000))
    before = tree_state(scene.home.root)
    told = ask("prune", "--project", "notes", "--older", "1d", "--json").data
    assert [item["session_id"] for item in told["sessions"]] == [SESSION]
    assert [item["session_id"] for item in told["left"]] == [OTHER]
    assert tree_state(scene.home.root) == before, "a dry run is the default"
    data = scene.path().read_bytes()
    ask("prune", "--project", "notes", "--older", "1d", "--apply", "--yes")
    assert not [name for name in tree_state(scene.home.root) if SESSION in name]
    assert scene.path(OTHER).exists()
    removed = [path for path in (scene.data / "changes").rglob("removed-*/**/*") if path.is_file()]
    assert removed == [], "the room is free"
    assert ask("cat", SESSION).out.encode() == data
    ask("restore", SESSION)
    assert scene.path().read_bytes() == data


def test_prune_by_size(scene: Scene, ask: Ask) -> None:
    scene.path(OTHER).write_bytes(b'{"type":"tag","tag":"x"}\n' * 10_000)
    os.utime(scene.path(OTHER), (1_700_000_000, 1_700_000_000))
    ask("keep")
    assert [item["session_id"] for item in ask("prune", "--larger", "100k", "--json").data["sessions"]] == [OTHER]
    assert ask("prune", "--larger", "1.5G", code=1)
    assert "is not a size" in ask("prune", "--larger", "huge", code=2).err


def test_prune_does_not_touch_what_the_vault_cannot_give_back(scene: Scene, ask: Ask) -> None:
    ask("keep")
    pack = scene.vault.pack_path(1)
    data = bytearray(pack.read_bytes())
    data[60] ^= 1
    pack.write_bytes(data)
    told = ask("prune", "--older", "1d", "--json", code=1).data
    assert told["sessions"] == []
    assert len(told["left"]) == 3


# --- bundles ----------------------------------------------------------------------------------------------------------


def test_bundle_and_unbundle(scene: Scene, ask: Ask, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "talk.recollect"
    told = ask("bundle", SESSION, "-o", str(target), "--json").data
    assert (told["sessions"], told["bytes"]) == ([SESSION], target.stat().st_size)
    assert "[exists]" in ask("bundle", SESSION, "-o", str(target), code=6).err
    other = tmp_path / "there"
    (other / "projects").mkdir(parents=True)
    ran = run(capsys, other, "unbundle", str(target), "--map", f"{CWD}=/home/ann/notes")
    assert ran.code == 0, ran
    rows = json.loads(run(capsys, other, "list", "--json").out)["rows"]
    assert [(row["session_id"], row["project"]) for row in rows] == [(SESSION, "/home/ann/notes")]
    assert run(capsys, other, "unbundle", str(tmp_path / "nothing")).code == 3
    target.write_bytes(b"something else")
    assert "[no-bundle]" in run(capsys, other, "unbundle", str(target)).err


def test_a_kept_session_can_be_bundled(scene: Scene, ask: Ask, tmp_path: Path) -> None:
    ask("keep")
    ask("delete", SESSION, "--yes")
    ask("bundle", SESSION, "-o", str(tmp_path / "talk.recollect"))
    ask("unbundle", str(tmp_path / "talk.recollect"))
    assert scene.path().exists()


@pytest.fixture
def bundle(scene: Scene, ask: Ask, tmp_path: Path) -> Path:
    target = tmp_path / "talk.recollect"
    ask("bundle", SESSION, "-o", str(target))
    return target


@pytest.mark.parametrize("home", ["missing", "deep/down/missing", "empty", "with settings"])
def test_unbundling_on_a_new_machine(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], home: str, scene: Scene
) -> None:
    root = tmp_path / "new machine" / home
    if "missing" not in home:
        root.mkdir(parents=True)
    if home == "with settings":
        (root / "settings.json").write_text("{}")
    before = tree_state(tmp_path / "new machine") if root.exists() else {}
    told = run(capsys, root, "unbundle", str(bundle), "--dry-run")
    assert (told.code, root.exists()) == (0, bool(before)), told
    assert run(capsys, root, "unbundle", str(bundle)).code == 0
    assert run(capsys, root, "cat", SESSION).out.encode() == scene.path().read_bytes()
    assert (root / "projects").stat().st_mode & 0o77 == 0
    assert run(capsys, root, "undo").code == 0
    assert not list(root.rglob("*.jsonl"))


def test_unbundling_into_the_usual_home_of_a_new_machine(
    bundle: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, None, "unbundle", str(bundle)).code == 0
    assert list((own_home / ".claude" / "projects").glob(f"*/{SESSION}.jsonl"))


@pytest.mark.parametrize("kind", ["other things", "file", "dangling link"])
def test_unbundling_into_something_else_is_refused(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    root = tmp_path / "place"
    if kind == "other things":
        root.mkdir()
        (root / "holiday.jpg").write_bytes(b"x")
    elif kind == "file":
        root.write_bytes(b"x")
    else:
        root.symlink_to(tmp_path / "nowhere")
    before = tree_state(tmp_path)
    told = run(capsys, root, "unbundle", str(bundle))
    assert (told.code, "[not-a-home]" in told.err) == (3, True), told
    assert tree_state(tmp_path) == before


# --- a vault that lost something --------------------------------------------------------------------------------------


def lose_a_pack(scene: Scene) -> None:
    scene.vault.pack_path(1).unlink()


def test_a_lost_pack_is_told_everywhere(scene: Scene, ask: Ask) -> None:
    for path in scene.home.projects.glob("*/*.jsonl"):
        os.utime(path, (time.time() - 28 * 86_400,) * 2)
    ask("keep")
    assert ask("--json").data["vault_problem"] is None
    lose_a_pack(scene)
    told = ask("keep", "--status", "--json", code=1).data["homes"][0]
    assert (told["kept"], len(told["expiring_not_kept"]), len(told["damaged"])) == (0, 3, len(scene.files()))
    assert "DAMAGED: the vault has lost part of" in ask("keep", "--status", code=1).out
    told = ask("--json").data
    assert (told["expiring_not_kept"], told["vault_problem"]) == (
        3,
        f"the vault has lost part of {len(scene.files())} kept files",
    )
    assert "the vault has lost part of" in ask().out
    assert [row["kind"] for row in ask("doctor", "--json", code=1).data["rows"]] == ["vault-damaged"]
    assert "the vault has lost part of" in ask("doctor", code=1).out
    healing = ask("keep", "--quiet")
    assert (healing.out, "DAMAGE: the vault had lost part of" in healing.err) == ("", True)
    assert "3 of 3 sessions kept" in ask("keep", "--status").out
    assert ask("--json").data["vault_problem"] is None
    ask("doctor")
    ask("keep", "--full")
    assert ask("verify", "--deep").out.startswith("sound")


def test_what_is_lost_for_good_ends_every_keep_with_four(scene: Scene, ask: Ask) -> None:
    ask("keep")
    scene.path().unlink()
    ask("keep")
    lose_a_pack(scene)
    for words in (["keep"], ["keep", "--quiet"], ["keep", "--full"], ["keep", "--json"]):
        told = ask(*words, code=4).err
        assert "vault-damaged" in told and SESSION in told
    (lost,) = ask("keep", "--json", code=4).data["homes"][0]["lost"]
    assert lost.endswith(f"/{SESSION}.jsonl")
    before = tree_state(scene.data / "vault")
    assert SESSION in ask("keep", "--forget-lost", "--dry-run").out
    assert "[not-confirmed]" in ask("keep", "--forget-lost", code=6).err
    assert tree_state(scene.data / "vault") == before
    assert SESSION in ask("keep", "--forget-lost", "--yes").out
    assert ask("keep", "--forget-lost", "--yes", "--json").data["files"] == []
    ask("keep")
    assert ask("verify", "--deep").out.startswith("sound")
    assert scene.all_kept() == scene.files()


# --- vaults that are not ours to write --------------------------------------------------------------------------------


@pytest.mark.parametrize("settled", [False, True], ids=["something new", "nothing new"])
def test_a_vault_from_the_future_is_refused_by_every_keep(scene: Scene, ask: Ask, settled: bool) -> None:
    ask("keep")
    if settled:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("recollect.vault.capture._SETTLED_SECONDS", -1000.0)
            scene.keep()
        assert try_keep(["--home", str(scene.home.root), "keep"]) == 0
    (scene.data / "vault" / "format").write_bytes(format_mark(2))
    before = tree_state(scene.data)
    assert try_keep(["--home", str(scene.home.root), "keep"]) is None
    for words in (["keep"], ["keep", "--quiet"], ["keep", "--full"], ["keep", "--status"], ["verify"]):
        assert "[vault-from-the-future]" in ask(*words, code=6).err
    assert "format 2" in ask("--json").data["vault_problem"]
    assert tree_state(scene.data) == before


def test_a_mark_that_proves_nothing_is_asked_of_the_packs(scene: Scene, ask: Ask) -> None:
    ask("keep")
    pack = scene.vault.pack_path(1)
    (scene.data / "vault" / "format").write_bytes(b"recollect vault 2 (experimental)\n")
    ask("keep")
    assert (scene.data / "vault" / "format").read_bytes() == format_mark()
    (scene.data / "vault" / "format").unlink()
    pack.write_bytes(pack.read_bytes().replace(b"recollect pack 1", b"recollect pack 2", 1))
    assert "[vault-from-the-future]" in ask("keep", code=6).err


def test_another_machine_does_not_write_into_the_same_folder(
    scene: Scene, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault, "machine_id", lambda: "a" * 32)
    monkeypatch.setattr(vault, "machine_name", lambda: "the laptop")
    ask("keep")
    monkeypatch.setattr(vault, "machine_id", lambda: "b" * 32)
    monkeypatch.setattr(vault, "machine_name", lambda: "the desk")
    with open(scene.path(), "ab") as stream:
        stream.write(b"something new\n")
    before = tree_state(scene.data / "vault")
    for words in (["keep"], ["keep", "--compact"], ["keep", "--full"]):
        told = ask(*words, code=6).err
        assert "[vault-of-another-machine]" in told and "the laptop" in told and "--take-over" in told
    assert tree_state(scene.data / "vault") == before
    ask("verify")
    told = ask("keep", "--status").out
    assert "kept by another machine, the laptop" in told and "keep --take-over" in told
    assert ask("keep", "--status", "--json").data["other_machine"] == "the laptop"
    assert "the vault is kept by another machine, the laptop" in ask("overview").out
    assert ask("overview", "--json").data["other_machine"] == "the laptop"
    (finding,) = ask("doctor", "--json", code=1).data["rows"][-1:]
    assert finding["kind"] == "vault-of-another-machine" and "the laptop" in finding["detail"]
    ask("keep", "--take-over")
    ask("keep")
    assert "another machine" not in ask("keep", "--status").out + ask("overview").out
    assert "kept by" not in ask("doctor", code=1).out
    monkeypatch.setattr(vault, "machine_id", lambda: "a" * 32)
    assert "the desk" in ask("keep", code=6).err
    monkeypatch.setattr(vault, "machine_id", lambda: None)
    ask("keep")
    monkeypatch.setattr(vault, "machine_id", lambda: "c" * 32)
    (scene.data / "vault" / "machine").write_bytes(b"damaged")
    ask("keep")
