"""`recollect plans`"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect.cli.main import main
from recollect.testing import HomeBuilder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude")
    builder.file("plans/brave-otter.md", "# Move the house\n\nStep \x1b[31mone\n", modified="2026-03-01T00:00Z")
    builder.file("plans/brave-owl.md", "no heading", modified="2026-03-02T00:00Z")
    return builder.write()


def test_list(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "--json", "plans"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(row["slug"], row["title"], row["modified"]) for row in found["rows"]] == [
        ("brave-owl", None, "2026-03-02T00:00:00.000Z"),
        ("brave-otter", "Move the house", "2026-03-01T00:00:00.000Z"),
    ]
    assert found["total"] == 2


def test_one_plan_as_safe_text(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "plans", "brave-ot"]) == 0
    assert capsys.readouterr().out == "# Move the house\n\nStep one\n"


def test_one_plan_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "--json", "plans", "brave-owl"]) == 0
    assert json.loads(capsys.readouterr().out)["text"] == "no heading"


@pytest.mark.parametrize("slug", ["brave", "nothing"])
def test_not_one_plan(home: Path, capsys: pytest.CaptureFixture[str], slug: str) -> None:
    assert main(["--home", str(home), "plans", slug]) == 3
    assert "brave-otter" in capsys.readouterr().err


def test_none(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    builder.settings()
    assert main(["--home", str(builder.write()), "plans"]) == 1
