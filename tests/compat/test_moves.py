"""Moved, split and deleted projects, in the eyes of the real client."""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.compat import clients
from tests.compat.ask import Question, ask_many
from tests.compat.projects import make_project
from tests.compat.runs import CommandLine, Job, Outcome, probe, run_all, run_one
from tests.compat.scenes import ALLOW, session_id
from tests.compat.wire import Block, is_added_by_client

from recollect.edit.delete import plan_delete, plan_delete_project
from recollect.edit.move import plan_move
from recollect.edit.split import plan_split
from recollect.format.path_text import project_key
from recollect.journal.changes import Journal
from recollect.store.home import Home
from recollect.store.project_folders import connector_folder
from recollect.store.scan import scan_home

pytestmark = [pytest.mark.compat, pytest.mark.timeout(300)]

CHECKPOINTS = {"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"}
HELLO = [
    Block("user", "text", "Say hello [fake:hello]"),
    Block("assistant", "text", "Hello from the fake API."),
]
NOTHING_TO_PURGE = "No Claude Code project data found"
"""Up to 2.1.325: project state."""
TALK, FILES, BIG, SUBAGENT = (session_id(f"moved-{name}") for name in ("talk", "files", "big", "subagent"))


def say(cwd: Path, text: str, *arguments: str, extra: dict[str, str] | None = None) -> CommandLine:
    return CommandLine(cwd, ("-p", text, *arguments), extra or {})


def purge(path: Path, cwd: Path) -> CommandLine:
    return CommandLine(cwd, ("purge", "--dry-run", str(path)))


def purged(outcome: Outcome) -> set[str]:
    """The files and folders that the client would delete."""
    return set(re.findall(r"^  (?:dir|file): +(.+)$", outcome.out, re.MULTILINE))


def let_time_pass(config: Path, *newest: str) -> None:
    """The sessions were written long ago; the newest last."""
    for path in (config / "projects").rglob("*.jsonl"):
        hours = 2 - newest.index(path.stem) if path.stem in newest else 5
        os.utime(path, (time.time() - hours * 3600,) * 2)


def conversations(config: Path, where: dict[str, Path], version: str = clients.NEWEST) -> dict[str, list[Block]]:
    answers = ask_many([Question(config, session, cwd) for session, cwd in where.items()], version)
    return {
        session: [block for block in answer.blocks() if not is_added_by_client(block)]
        for session, answer in zip(where, answers, strict=True)
    }


@dataclass
class Moved:
    root: Path
    old: Path
    new: Path
    journal: Journal
    home: Home
    before: dict[str, list[Block]]
    after: dict[str, list[Block]]
    outcomes: dict[str, Outcome]
    restored: str


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Moved:
    """A project that the newest client filled, renamed, and moved by us; then the client is asked about it."""
    root = tmp_path_factory.mktemp("moved").resolve()
    old, new = make_project(root / "work" / "old"), root / "work" / "new päth"
    (old / "sub").mkdir()
    config = root / "config"
    fill = [
        Job(root, old, [
            say(old, "Write [fake:files]", "--session-id", FILES, *ALLOW, extra=CHECKPOINTS),
            say(old, "Again [fake:files]", "--resume", FILES, *ALLOW, extra=CHECKPOINTS),
        ]),
        Job(root, old, [
            say(old, "Count [fake:bigoutput]", "--session-id", BIG, *ALLOW),
            say(old / "sub", "Delegate [fake:subagent]", "--session-id", SUBAGENT, *ALLOW),
            say(old, HELLO[0].text, "--session-id", TALK),
        ]),
    ]  # fmt: skip
    assert [run.code for job in run_all(fill) for run in job] == [0] * 5
    side_files(config, old)
    let_time_pass(config, FILES, TALK)
    home, journal = Home(config), Journal(root / "data")
    before = conversations(config, {BIG: old, SUBAGENT: old / "sub"})

    os.rename(old, new)
    change, _ = plan_move(journal, home, str(old), str(new))
    with change:
        change.commit()

    after = conversations(config, {BIG: new, SUBAGENT: new / "sub"})
    (new / "new.txt").write_text("spoiled\n")
    asked = {
        "continue": probe(new, "--continue"),
        "restore": CommandLine(new, ("-p", "--resume", FILES, "--rewind-files", second_prompt(config)), CHECKPOINTS),
        "purge old": purge(old, new),
        "purge new": purge(new, new),
    }
    outcomes = dict(zip(asked, run_one(root, new, list(asked.values())), strict=True))
    restored = (new / "new.txt").read_text()
    return Moved(root, old, new, journal, home, before, after, outcomes, restored)


def side_files(config: Path, project: Path) -> None:
    """What the client keeps of a session beside its transcript, where print mode writes none."""
    names = [f"tasks/{TALK}/1.json", f"debug/{TALK}.txt", f"session-env/{TALK}/x.sh", f"image-cache/{TALK}/1"]
    for name in [*names, f"projects/{connector_folder(str(project))}/connector-downloads/a"]:
        (config / name).parent.mkdir(parents=True, exist_ok=True)
        (config / name).write_text("{}")
    entry = {"display": "hello", "pastedContents": {}, "timestamp": 1, "project": str(project), "sessionId": TALK}
    (config / "history.jsonl").write_text(json.dumps(entry) + "\n")
    path = config / ".claude.json"
    data = json.loads(path.read_text())
    data.setdefault("projects", {}).setdefault(str(project), {})["hasTrustDialogAccepted"] = True
    path.write_text(json.dumps(data, indent=2))


def second_prompt(config: Path) -> str:
    path = next((config / "projects").glob(f"*/{FILES}.jsonl"))
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    return next(str(row["uuid"]) for row in rows if row["type"] == "user" and "Again" in str(row["message"]["content"]))


def test_the_client_sends_the_same_messages_in_the_new_folder(moved: Moved) -> None:
    assert moved.before[SUBAGENT] == moved.after[SUBAGENT] != []


def test_the_model_is_told_where_a_long_output_is_now(moved: Moved) -> None:
    """Else the same: the path of the output is the only difference."""
    was, now = (str(moved.home.projects / project_key(str(path))) for path in (moved.old, moved.new))
    expected = [replace(block, text=block.text.replace(was, now)) for block in moved.before[BIG]]
    assert moved.after[BIG] == expected != moved.before[BIG]
    named = re.search(r"saved to: (.+)", "".join(block.text for block in moved.after[BIG]))
    assert named is not None and Path(named[1]).read_text().startswith("1\n2\n3\n")


def test_continue_picks_what_it_picked(moved: Moved) -> None:
    assert moved.outcomes["continue"].conversation() == HELLO


def test_the_client_restores_files_in_the_new_folder(moved: Moved) -> None:
    assert moved.outcomes["restore"].code == 0, moved.outcomes["restore"].err
    assert moved.restored == "one\nTWO\n"


def test_the_client_knows_nothing_of_the_old_path(moved: Moved) -> None:
    assert moved.outcomes["purge old"].code == 1
    assert NOTHING_TO_PURGE in moved.outcomes["purge old"].err


def test_deleting_takes_all_that_the_client_would_and_leaves_nothing(moved: Moved) -> None:
    let_time_pass(moved.home.root, FILES, TALK)
    listed = moved.outcomes["purge new"]
    assert {Path(path).name for path in purged(listed)} >= {TALK, FILES, f"{TALK}.txt", "connector-downloads"}, (
        listed.out
    )
    change, result = plan_delete_project(moved.journal, moved.home, str(moved.new))
    missed = [path for path in purged(listed) if not any(Path(path).is_relative_to(own) for own in result.paths)]
    assert missed == []
    assert ("history.jsonl" in listed.out) == (result.history_lines > 0) == True  # noqa: E712
    assert f'projects["{moved.new}"]' in listed.out and str(moved.new) in result.config_projects
    with change:
        change.commit()
    gone, resumed = run_one(moved.root, moved.new, [purge(moved.new, moved.new), probe(moved.new, "--resume", FILES)])
    assert gone.code == 1 and NOTHING_TO_PURGE in gone.err
    assert resumed.code == 1 and "No conversation found" in resumed.err + resumed.out


@pytest.mark.parametrize("version", ["2.1.197", "2.0.77"])
def test_an_older_client_resumes_a_moved_session(tmp_path: Path, version: str) -> None:
    root = tmp_path.resolve()
    old, new = make_project(root / "work" / "old"), root / "work" / "new"
    later = session_id("moved-later")
    runs = [
        say(old, "Earlier [fake:second]", "--session-id", later),
        say(old, HELLO[0].text, "--session-id", TALK),
    ]
    assert [run.code for run in run_one(root, old, runs, version)] == [0, 0]
    let_time_pass(root / "config", later, TALK)
    os.rename(old, new)
    change, _ = plan_move(Journal(root / "data"), Home(root / "config"), str(old), str(new))
    with change:
        change.commit()
    continued, resumed = run_one(root, new, [probe(new, "--continue"), probe(new, "--resume", later)], version)
    assert (continued.conversation() or [])[:2] == HELLO, continued.err
    assert (resumed.conversation() or [])[0] == Block("user", "text", "Earlier [fake:second]"), resumed.err


@pytest.mark.parametrize("version", [clients.NEWEST, "2.1.197", "2.0.77"])
def test_a_deleted_session_that_was_restored_resumes(tmp_path: Path, version: str) -> None:
    root = tmp_path.resolve()
    project = make_project(root / "work" / "here")
    first = run_one(root, project, [say(project, HELLO[0].text, "--session-id", TALK)], version)
    assert [run.code for run in first] == [0]
    let_time_pass(root / "config", TALK)
    home, journal = Home(root / "config"), Journal(root / "data")
    file = next(file for file in scan_home(home).sessions if file.session_id == TALK)
    change, _ = plan_delete(journal, home, [file])
    with change:
        change.commit()
    assert not file.path.exists()
    (gone,) = run_one(root, project, [probe(project, "--resume", TALK)], version)
    # Client 2.0.77 reads the session and sends the prompt at the same time: the prompt may be out, alone, before it gives up.
    assert (gone.code, gone.conversation() or []) == (1, []), gone.err
    journal.undo(journal.record(), home)
    (resumed,) = run_one(root, project, [probe(project, "--resume", TALK)], version)
    assert (resumed.conversation() or [])[:2] == HELLO, resumed.err


def test_split_sessions_are_found_again(tmp_path: Path) -> None:
    """Two projects share a folder: one gets a folder by name, or another path."""
    root, copy = (tmp_path / "one").resolve(), (tmp_path / "other").resolve()
    a, b, b2 = make_project(root / "w" / "a-b"), make_project(root / "w-a" / "b"), root / "w-a" / "b2"
    key = project_key(str(a))
    assert key == project_key(str(b))
    of_a, of_b = session_id("split-a"), session_id("split-b")
    runs = [say(b, HELLO[0].text, "--session-id", of_b), say(a, "In A [fake:second]", "--session-id", of_a)]
    assert [run.code for run in run_one(root, a, runs)] == [0, 0]
    let_time_pass(root / "config", of_b, of_a)
    shutil.copytree(root / "config", copy / "config")

    journal = Journal(tmp_path / "data")
    by_name, _ = plan_split(journal, Home(root / "config"), key, project=str(b), name="just-b")
    by_path, _ = plan_split(journal, Home(copy / "config"), key, project=str(b), to=str(b2))
    for change in (by_name, by_path):
        with change:
            change.commit()
    shutil.copytree(b, b2)
    named = {"CLAUDE_CODE_PROJECT_DIR_NAME": "just-b"}
    first, second = run_all(
        [
            Job(root, a, [probe(a, "--resume", of_b), probe(b, "--continue", extra=named)]),
            Job(copy, a, [probe(b2, "--continue")]),
        ]
    )
    assert first[0].conversation() == HELLO, "by its id, from the other project"
    assert (first[1].conversation() or [])[:2] == HELLO, "continued, with the folder's name in the environment"
    assert second[0].conversation() == HELLO, "continued at the new path"


@pytest.mark.parametrize("version", ["2.1.197", "2.0.77"])
def test_an_older_client_resumes_a_split_session(tmp_path: Path, version: str) -> None:
    root = tmp_path.resolve()
    a, b, b2 = make_project(root / "w" / "a-b"), make_project(root / "w-a" / "b"), root / "w-a" / "b2"
    of_a, of_b = session_id("split-a"), session_id("split-b")
    runs = [say(b, HELLO[0].text, "--session-id", of_b), say(a, "In A [fake:second]", "--session-id", of_a)]
    assert [run.code for run in run_one(root, a, runs, version)] == [0, 0]
    let_time_pass(root / "config", of_b, of_a)
    journal = Journal(root / "data")
    change, _ = plan_split(journal, Home(root / "config"), project_key(str(a)), project=str(b), to=str(b2))
    with change:
        change.commit()
    shutil.copytree(b, b2)
    continued, other = run_one(root, b2, [probe(b2, "--continue"), probe(a, "--resume", of_a)], version)
    assert (continued.conversation() or [])[:2] == HELLO, continued.err
    assert (other.conversation() or [])[0] == Block("user", "text", "In A [fake:second]"), other.err
