"""A library that stays open while its home changes: each search sees everything that is there, and reads no more than it must."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from recollect.index.catalogue import change_check as freshness
from recollect.library.library import Library
from recollect.library.searching import OpenedSearch
from recollect.store.home import Home
from recollect.testing import HomeBuilder

SETTLED = 10**9


@pytest.fixture
def root(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude")
    for number in range(3):
        talk = builder.session("/w/app", start=f"2026-03-0{number + 1}T09:00:00Z")
        talk.user(f"the heron of session {number}")
        talk.assistant("a heron indeed")
    written = builder.write()
    _settle(written)
    return written


@pytest.fixture
def library(root: Path, tmp_path: Path) -> Library:
    return Library([Home(root)], own_folder=lambda kind: tmp_path / "own" / kind)


def _settle(root: Path) -> None:
    """Folders that were written to a moment ago are not relied on: make them older."""
    for folder in [root / "projects", *(root / "projects").rglob("*")]:
        if folder.is_dir():
            time = folder.stat().st_mtime_ns - SETTLED
            os.utime(folder, ns=(time, time))


def _line(word: str) -> str:
    entry = {
        "type": "user", "uuid": f"u-{word}", "parentUuid": None, "timestamp": "2026-06-01T00:00:00.000Z",
        "message": {"role": "user", "content": f"{word} was appended"},
    }  # fmt: skip
    return json.dumps(entry) + "\n"


def _transcripts(root: Path) -> list[Path]:
    return sorted((root / "projects").glob("*/*.jsonl"))


def _append(path: Path, word: str) -> None:
    with path.open("a") as stream:
        stream.write(_line(word))


def test_lines_appended_to_known_files_are_found_without_a_look_into_folders(
    library: Library, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert library.search("heron").total == 6
    looks = []

    def look_at(*_: object) -> dict[str, object]:
        looks.append(1)
        return {}

    monkeypatch.setattr("recollect.index.catalogue.sync.look_at", look_at)
    first, second, _ = _transcripts(root)
    for round_number in range(3):
        _append(first, f"osprey{round_number}")
        _append(second, f"osprey{round_number}")
        assert library.search(f"osprey{round_number}").total == 2
    assert library.search("heron").total == 6
    assert not looks


def test_new_renamed_rewritten_and_deleted_files_are_noticed_in_between(library: Library, root: Path) -> None:
    assert library.search("heron").total == 6
    first, second, third = _transcripts(root)
    _append(first, "osprey")
    assert library.search("osprey").total == 1
    _append(first.with_name(f"{'f' * 8}-0000-4000-8000-000000000000.jsonl"), "osprey")
    assert library.search("osprey").total == 2
    second.write_text(_line("kestrel"))
    assert library.search("kestrel").total == 1
    assert library.search("heron").total == 4
    third.unlink()
    assert library.search("heron").total == 2
    os.replace(first, first.with_name(f"{'e' * 8}-0000-4000-8000-000000000000.jsonl"))
    found = library.search("osprey")
    assert {item.session_id[0] for item in found.sessions} == {"e", "f"}


def test_what_another_process_took_in_is_seen(library: Library, root: Path, tmp_path: Path) -> None:
    assert library.search("heron").total == 6
    other = Library([Home(root)], own_folder=lambda kind: tmp_path / "own" / kind)
    _append(_transcripts(root)[0], "osprey")
    assert other.search("osprey").total == 1
    assert library.search("osprey").total == 1
    _append(_transcripts(root)[1], "kestrel")
    assert library.search("kestrel").total == 1
    assert other.search("kestrel").total == 1


def test_an_index_that_was_made_anew_is_followed(library: Library, root: Path, tmp_path: Path) -> None:
    assert library.search("heron").total == 6
    other = Library([Home(root)], own_folder=lambda kind: tmp_path / "own" / kind)
    other.index(rebuild=True)
    _append(_transcripts(root)[0], "osprey")
    assert library.search("osprey").total == 1
    assert library.search("heron").total == 6


def test_the_note_is_renewed_only_for_what_it_was_made_of(library: Library, root: Path) -> None:
    search = OpenedSearch(library)
    search.bring_up_to_date()
    db = library.catalogue.connection
    _append(_transcripts(root)[0], "osprey")
    (before,) = freshness.changed_homes(db, [Home(root).real_root]) or []
    assert before.paths == [str(_transcripts(root)[0].relative_to(root))]
    assert freshness.changed_homes(db, [Home(root).real_root], most=0) is None
    search.bring_up_to_date()
    (after,) = freshness.changed_homes(db, [Home(root).real_root], most=0) or []
    assert after.number == before.number


def test_further_filters_hold_as_a_whole(library: Library) -> None:
    assert library.search("indeed", where="role:user OR role:assistant").total == 3
    assert library.search("indeed OR session", where="role:user OR has:error").total == 3
