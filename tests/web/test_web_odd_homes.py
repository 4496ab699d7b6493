"""Pages of homes with links, file names that are not UTF-8, and subagents whose main transcript is gone."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.web.scene import Scene, scene, until

from recollect.index.api_calls import collect
from recollect.index.catalogue import transcript_rows
from recollect.testing import HomeBuilder

GONE = "aaaa0000-0000-4000-8000-000000000001"
WHOLE = "aaaa0000-0000-4000-8000-000000000002"
STRANGE = os.fsdecode(b"caf\xe9\xff") if sys.platform == "linux" else "cafe"


@pytest.fixture
def odd(tmp_path: Path) -> Scene:
    builder = HomeBuilder(tmp_path / "claude", version="2.1.325")
    for name in (GONE, WHOLE):
        t = builder.session("/w/app", session_id=name, modified="2026-03-02T10:00Z")
        t.user("find the walrus")
        t.subagent("look for it").finish("no walrus here")
    root = builder.write()
    folder = root / "projects" / "-w-app"
    shutil.copy(folder / f"{WHOLE}.jsonl", folder / f"{STRANGE}.jsonl")
    shutil.copytree(folder, root / "projects" / f"-w-{STRANGE}")
    (folder / f"{GONE}.jsonl").unlink()
    (root / "projects" / f"-w-{STRANGE}" / f"{GONE}.jsonl").unlink()
    folder.rename(tmp_path / "disk")
    folder.symlink_to(tmp_path / "disk")
    (root / "projects" / "-nowhere").symlink_to(tmp_path / "nowhere")
    return scene(root, tmp_path / "own")


def test_every_page_of_every_session_is_shown(odd: Scene) -> None:
    listed = odd.script.get("/api/v1/sessions").json()
    names = {row["session_id"] for row in listed["rows"]}
    assert {GONE, WHOLE} < names and len(names) == 3
    until(lambda: odd.script.get("/search", params={"q": "walrus"}).text, "walrus</mark>")
    for page in ("/", "/sessions", "/health", "/usage", "/search?q=walrus"):
        assert odd.script.get(page).status_code == 200, page
    for name in names:
        for part in ("", "/files", "/markdown", "/tokens", "/findings", "?all=1"):
            answer = odd.script.get(f"/sessions/{quote(name)}{part}")
            assert answer.status_code in (200, 404, 422), (name, part, answer.status_code)
        shown = odd.script.get(f"/sessions/{quote(name)}")
        assert shown.status_code == 200 and "walrus" in shown.text


def test_a_session_without_its_main_transcript_says_so_and_is_not_changed(odd: Scene) -> None:
    assert "main transcript is gone" in odd.script.get("/sessions").text
    answer = odd.script.post(f"/api/v1/sessions/{GONE}/rename", json={"title": "x"})
    assert 400 <= answer.status_code < 500


def test_a_row_that_recollect_fails_on_is_told_by_the_server(odd: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row stops no page, and whoever runs the server reads which one is left out."""
    told: list[str] = []
    odd.library.tell = told.append
    words_of, decode = vars(transcript_rows)["words_of"], vars(collect)["decode_call_line"]

    def failing_words(entry: Any) -> Any:
        return 1 / 0 if "no walrus" in str(entry) else words_of(entry)

    def failing_call(data: Any) -> Any:
        return 1 / 0 if b"no walrus" in bytes(data) else decode(data)

    monkeypatch.setattr(transcript_rows, "words_of", failing_words)
    monkeypatch.setattr(collect, "decode_call_line", failing_call)
    until(lambda: odd.script.get("/search", params={"q": "walrus"}).text, "walrus</mark>")
    assert len(told) == 1
    until(lambda: odd.script.get("/usage").text, "Nothing was used in this time")  # the sessions are older
    assert len(told) == 2
    assert all(words.startswith("left out of the index, since Recollect fails on ") for words in told)
