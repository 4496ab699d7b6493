"""Restored and unbundled sessions in the eyes of the real client, and its own hook that keeps them."""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.compat import clients
from tests.compat.projects import make_project
from tests.compat.runs import probe, run_one
from tests.compat.scenes import ALLOW, session_id
from tests.compat.test_moves import HELLO, let_time_pass, say
from tests.compat.wire import Block

from recollect.edit.hook_settings import plan_hook
from recollect.journal.changes import Journal
from recollect.library.bundling import Unbundling, write_bundle
from recollect.library.library import Library
from recollect.library.restoring import RestoreRequest, plan_restoring
from recollect.library.session import Session
from recollect.own_program import own_command
from recollect.store.home import Home
from recollect.store.scan import scan_home
from recollect.vault.capture import capture
from recollect.vault.vault import Vault

pytestmark = [pytest.mark.compat, pytest.mark.timeout(300)]

TALK, SUBAGENT, BIG = (session_id(f"restored-{name}") for name in ("talk", "subagent", "big"))


@pytest.mark.parametrize("version", [clients.NEWEST, "2.1.197", "2.0.77"])
def test_restored_sessions_are_listed_and_resumed(tmp_path: Path, version: str) -> None:
    root = tmp_path.resolve()
    project = make_project(root / "work" / "here")
    fill = [
        say(project, "Delegate [fake:subagent]", "--session-id", SUBAGENT, *ALLOW),
        say(project, HELLO[0].text, "--session-id", TALK),
    ]
    assert [run.code for run in run_one(root, project, fill, version)] == [0, 0]
    let_time_pass(root / "config", SUBAGENT, TALK)
    asked = [probe(project, "--continue"), probe(project, "--resume", SUBAGENT), probe(project, "--resume", TALK)]
    home, vault, journal = Home(root / "config"), Vault(root / "data" / "vault"), Journal(root / "data")
    library = Library([home], own_folder=lambda kind: root / kind)
    capture(vault, home)
    kept = root / "before"
    shutil.copytree(root / "config", kept)
    before = [outcome.conversation() for outcome in run_one(root, project, asked, version)]

    shutil.rmtree(home.projects)  # as if the client had cleaned up
    (gone,) = run_one(root, project, asked[2:], version)
    assert not gone.conversation()  # 2.0.77 may have begun a request of the new prompt alone before it gives up
    for path in home.projects.rglob("*.jsonl"):  # what that attempt left
        path.unlink()
    change, result = plan_restoring(library, journal, RestoreRequest(everything=True))
    with change:
        change.commit()
    assert set(result.sessions) >= {SUBAGENT, TALK}
    for path in (kept / "projects").rglob("*.jsonl"):
        again = home.root / path.relative_to(kept)
        assert again.read_bytes() == path.read_bytes()
        assert again.stat().st_mtime_ns == path.stat().st_mtime_ns
    after = [outcome.conversation() for outcome in run_one(root, project, asked, version)]
    assert after == before
    assert (after[0] or [])[:2] == (after[2] or [])[:2] == HELLO, "--continue picks what it picked"
    assert len(after[1] or []) >= 3


def test_an_unbundled_session_resumes_on_another_machine(tmp_path: Path) -> None:
    here, there = (tmp_path / "here").resolve(), (tmp_path / "there").resolve()
    old, new = make_project(here / "work" / "old"), make_project(there / "Users" / "ann" / "new päth")
    fill = [
        say(old, "Count [fake:bigoutput]", "--session-id", BIG, *ALLOW),
        say(old, "Delegate [fake:subagent]", "--session-id", SUBAGENT, *ALLOW),
    ]
    assert [run.code for run in run_one(here, old, fill)] == [0, 0]
    let_time_pass(here / "config", BIG, SUBAGENT)
    home = Home(here / "config")
    files = [Session(file) for file in scan_home(home).sessions if file.session_id in (BIG, SUBAGENT)]
    write_bundle(files, tmp_path / "talk.recollect")
    before = [
        outcome.conversation() or []
        for outcome in run_one(here, old, [probe(old, "--resume", name) for name in (BIG, SUBAGENT)])
    ]

    target = Home(there / "config")
    with Unbundling(Journal(there / "data"), tmp_path / "talk.recollect") as bundle:
        change, result = bundle.plan(target, [(str(old), str(new))])
        with change:
            change.commit()
    assert sorted(result.sessions) == sorted([BIG, SUBAGENT])
    asked = [probe(new, "--resume", BIG), probe(new, "--resume", SUBAGENT), probe(new, "--continue")]
    outcomes = run_one(there, new, asked)
    after = [outcome.conversation() or [] for outcome in outcomes]
    assert after[1] == before[1] != []
    named = re.search(r"saved to: (.+)", "".join(block.text for block in after[0]))
    assert named is not None and Path(named[1]).is_relative_to(target.root), "the model finds the long output here"
    assert Path(named[1]).read_text().startswith("1\n2\n3\n")
    assert [_without_path(block) for block in after[0]] == [_without_path(block) for block in before[0]] != []
    assert after[2][:1] == after[1][:1] or after[2][:1] == after[0][:1], "--continue finds one of them"


def _without_path(block: Block) -> Block:
    return replace(block, text=re.sub(r"saved to: .+", "saved to", block.text))


def test_the_clients_hook_keeps_every_turn(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    project = make_project(root / "work" / "here")
    home, data = Home(root / "config"), root / "own-data"
    home.root.mkdir()
    command = shlex.join([*own_command(), "--home", str(home.root), "keep", "--quiet"])
    with plan_hook(Journal(data), home, command) as change:
        change.commit()
    folders = {f"RECOLLECT_{kind}_DIR": str(root / f"own-{kind.lower()}") for kind in ("DATA", "CACHE", "CONFIG")}
    (done,) = run_one(root, project, [say(project, HELLO[0].text, "--session-id", TALK, extra=folders)])
    assert done.code == 0
    vault = Vault(data / "vault")
    kept = {Path(path).stem: b"".join(vault.chunks(file)) for (_, path), file in vault.contents.files.items()}
    assert b"Hello from the fake API." in kept[TALK]
