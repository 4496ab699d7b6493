"""Labelled homes: nothing that was planted is left in a redacted copy, and harmless texts stay."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from recollect.library.library import Library
from recollect.library.redaction import leaks, redacted_sessions
from recollect.store.home import Home
from recollect.testing.secret_home import Planted, build_secret_home


def written(value: str) -> tuple[str, ...]:
    """Write a value as it may stand in a string of JSON."""
    return value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]


def forms(value: str) -> Iterator[str]:
    """Write a value as a reader could still decode it."""
    yield from written(value)
    yield from (json.dumps(json.dumps(value)[1:-1])[1:-1], quote(value), quote(value, safe=""))
    for before in range(3):
        whole = base64.b64encode(bytes(before) + value.encode()).decode()
        yield whole[(0, 2, 3)[before] : 8 * (before + len(value.encode())) // 6]


@pytest.fixture(scope="module")
def redacted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[Planted], dict[str, str], list[object]]]:
    root = tmp_path_factory.mktemp("labelled") / "claude"
    planted = build_secret_home(root, 11, per_kind=1, per_harmless=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECOLLECT_CACHE_DIR", str(root.parent / "cache"))
        library = Library([Home(root)])
        sessions = [library.session(item.session_id) for item in library.sessions()]
        with redacted_sessions(sessions, "all") as (copies, redaction):
            place = copies[0].home.root
            files = {
                path.name: path.read_text("utf-8", "surrogateescape") for path in place.rglob("*") if path.is_file()
            }
            left = leaks([path for path in place.rglob("*") if path.is_file()], redaction)
            yield planted, files, list(left)


Labelled = tuple[list[Planted], dict[str, str], list[object]]


def test_nothing_that_was_planted_is_left(redacted: Labelled) -> None:
    planted, files, left = redacted
    values = {(item.kind, item.value) for item in planted if item.family != "harmless"}
    assert len(values) > 90
    everything = "\n".join(files.values())
    assert {kind for kind, value in values if any(form in everything for form in forms(value))} == set()
    assert left == []


def test_harmless_texts_stay(redacted: Labelled) -> None:
    planted, files, _ = redacted
    harmless = [item for item in planted if item.family == "harmless" and Path(item.file).name in files]
    kept = [item for item in harmless if any(form in files[Path(item.file).name] for form in written(item.value))]
    assert len(harmless) > 40
    assert len(kept) >= 0.98 * len(harmless), sorted({item.kind for item in harmless if item not in kept})
