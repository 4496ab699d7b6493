"""One walk through the folders of transcripts: which are listed, in what order, and what is left out and told."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.store.home import Home
from recollect.store.scan import Folder, transcript_folders

SESSION = "6f2d0c1e-1111-4222-8333-444455556666"
OTHER = "7f2d0c1e-1111-4222-8333-444455556666"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    root = tmp_path / "claude"
    for place in (
        f"-b/{OTHER}.jsonl", f"-a/{SESSION}.jsonl", "-a/agent-a1.jsonl", f"-a/{SESSION}/subagents/agent-a2.jsonl",
        f"-a/{SESSION}/subagents/workflows/run/agent-a3.jsonl", f"-a/{SESSION}/subagents/workflows/run/deeper/agent-a4.jsonl",
        f"-a/{SESSION}/tool-results/agent-a5.jsonl", f"-a/{OTHER}/custom-title.json", "-a/memory/subagents/agent-a6.jsonl",
    ):  # fmt: skip
        path = root / "projects" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}\n")
    return Home(root)


def parts(folders: list[Folder]) -> list[str]:
    return ["/".join(folder.parts) for folder in folders]


def test_folders_that_may_hold_transcripts_each_before_what_is_in_it(home: Home) -> None:
    assert parts(list(transcript_folders(home))) == [
        "", "-a", f"-a/{SESSION}", f"-a/{SESSION}/subagents", f"-a/{SESSION}/subagents/workflows",
        f"-a/{SESSION}/subagents/workflows/run", f"-a/{OTHER}", "-b",
    ]  # fmt: skip


def test_without_session_folders_only_subagents_are_looked_for(home: Home) -> None:
    assert parts(list(transcript_folders(home, session_folders=False))) == [
        "", "-a", f"-a/{SESSION}/subagents", f"-a/{SESSION}/subagents/workflows",
        f"-a/{SESSION}/subagents/workflows/run", "-b",
    ]  # fmt: skip


def test_files_and_folders_are_told_apart_and_sorted(home: Home) -> None:
    project = next(folder for folder in transcript_folders(home) if folder.parts == ("-a",))
    assert [entry.name for entry in project.files] == [f"{SESSION}.jsonl", "agent-a1.jsonl"]
    assert [entry.name for entry in project.folders] == [SESSION, OTHER, "memory"]
    assert project.mtime_ns == (home.projects / "-a").stat().st_mtime_ns
    assert not project.has_links


def test_a_walk_may_begin_anywhere_and_leaves_known_folders_alone(home: Home) -> None:
    first = str(home.projects / "-a")
    known = {str(home.projects / "-a" / SESSION / "subagents")}
    assert parts(list(transcript_folders(home, first, known=known))) == ["-a", f"-a/{SESSION}", f"-a/{OTHER}"]
    assert parts(list(transcript_folders(home, str(home.projects / "-a" / "memory")))) == []
    assert parts(list(transcript_folders(home, str(home.root)))) == []


def test_a_link_inside_the_home_is_followed_and_one_that_leads_out_is_told(home: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    session = home.projects / "-a" / OTHER
    (session / "subagents").symlink_to(outside)
    (home.projects / "-b" / SESSION).symlink_to(home.projects / "-a" / SESSION)
    told: list[tuple[str, str]] = []
    found = list(transcript_folders(home, note=lambda path, why: told.append((path, why))))
    assert f"-b/{SESSION}/subagents" in parts(found)
    assert f"-a/{OTHER}/subagents" not in parts(found)
    assert told == [(str(session / "subagents"), "leads out of the home")]
    assert {folder.parts for folder in found if folder.has_links} == {("-a", OTHER), ("-b",)}


def test_a_home_without_projects_has_none(tmp_path: Path) -> None:
    assert list(transcript_folders(Home(tmp_path))) == []
