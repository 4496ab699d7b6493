"""File versions of real sessions: nothing raises, and edits lead to the very bytes that the client backed up."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect.format.entries import decode_loosely
from recollect.store.file_contents import first_state, last_state, state_at
from recollect.store.file_versions import collect_file_versions

CORPUS = Path(os.environ.get("RECOLLECT_CORPUS") or Path(__file__).parents[3] / "shared" / "corpus")

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of real transcripts is not here"),
]


def entries_of(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().split(b"\n"):
        value = decode_loosely(line)
        if isinstance(value, dict):
            yield value


def test_no_transcript_raises() -> None:
    versions = 0
    for path in CORPUS.rglob("*.jsonl"):
        found = collect_file_versions(entries_of(path))
        for file in found.files.values():
            versions += len(file.versions)
            assert first_state(file, lambda _name: None) is not None
            assert last_state(file, lambda _name: None) is not None
    assert versions > 100


def alike(one: bytes, other: bytes) -> bool:
    """Equal but for names of people, which the corpus replaces by others of the same length in some places only."""
    lines = list(zip(one.split(b"\n"), other.split(b"\n"), strict=False))
    return len(one) == len(other) and sum(left != right for left, right in lines) <= len(lines) // 50


def test_edits_lead_to_what_the_client_backed_up() -> None:
    compared = 0
    for folder in CORPUS.rglob("file-history"):
        backups = {path.name: path.read_bytes() for path in folder.iterdir()}
        transcript = folder.parent / "main.jsonl"
        found = collect_file_versions(entries_of(transcript), backups_on_disk=backups)
        for file in found.files.values():
            for before, after in zip(file.versions, file.versions[1:], strict=False):
                if before.kind == "edit" and after.kind == "checkpoint" and after.on_disk:
                    state = state_at(file, before.place, "after", backups.get)
                    assert state.content is not None
                    assert alike(state.content, backups[after.backup or ""]), f"{file.path} at {before.message_uuid}"
                    compared += 1
    assert compared >= 10
