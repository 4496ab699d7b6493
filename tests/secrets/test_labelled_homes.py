"""Homes with planted secrets of every kind and harmless texts that resemble them: what is found, and what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.secrets.judging import score, search

from recollect.secrets.formats import formats
from recollect.testing.secret_home import build_secret_home
from recollect.testing.secret_home.values import SECRETS


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_recall_and_precision(tmp_path: Path, seed: int) -> None:
    planted = build_secret_home(tmp_path / "home", seed, per_kind=3, per_harmless=8)
    result = score(search(tmp_path / "home", tmp_path), planted)
    told = [f"{item.kind} {item.form} {item.file}:{item.line}" for item in result.missed[:20]]
    assert result.recall("definite") >= 0.99, told
    assert result.found["definite"] + result.found["likely"] >= 0.97 * result.planted["all"], told
    assert result.recall("form wrapped") >= 0.85, told
    assert result.recall("form base64") >= 0.9, told
    assert result.recall("form url-encoded") >= 0.9, told
    assert result.precision("definite") >= 0.99, result.false["definite"][:10]
    assert result.precision("definite", "likely") >= 0.97, result.false["likely"][:10]
    assert result.right_kind >= 0.95 * result.found["all"]


def test_every_kind(tmp_path: Path) -> None:
    planted = build_secret_home(tmp_path / "home", 11, per_kind=10, per_harmless=0)
    result = score(search(tmp_path / "home", tmp_path), planted)
    kinds = {group for group in result.planted if group.startswith("kind ")}
    worst = sorted((result.recall(kind), kind) for kind in kinds)
    assert worst[0][0] >= 0.8, worst[:5]
    own_names = {"sentry-organization-token"}  # of which no maker is there
    assert {kind.removeprefix("kind ") for kind in kinds} | own_names == set(formats())
    assert len(SECRETS) >= len(kinds)


def test_places_are_exact(tmp_path: Path) -> None:
    home = tmp_path / "home"
    planted = build_secret_home(home, 5, per_kind=1, per_harmless=0)
    values = {item.value for item in planted}
    exact = 0
    for find in search(home, tmp_path):
        text = _text_at(home / find.path, find.line, find.pointer)
        piece = text[find.start : find.end]
        assert piece == piece.strip() and piece
        exact += piece in values
        assert find.length > 0 and 0 <= find.start < find.end <= len(text)
        shown = find.masked.replace("…", "")
        assert len(shown) <= max(find.length // 4, 0) and (find.length >= 20 or not shown)
    assert exact > 60


def _text_at(path: Path, line: int, pointer: str | None) -> str:
    content = path.read_text("utf-8")
    if pointer is None:
        return "\n".join(content.split("\n")[line - 1 :])
    value: Any = json.loads(content if path.suffix == ".json" else content.split("\n")[line - 1])
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part.replace("~1", "/").replace("~0", "~")]
    assert isinstance(value, str)
    return value
