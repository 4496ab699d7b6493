"""`recollect flags`"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recollect.cli.main import main
from recollect.testing import HomeBuilder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude")
    builder.statsig({"gate_a": True, "gate_b": False}, {"limits": {"max": 3}})
    builder.global_config(cachedStatsigGates={"tengu_c": True})
    builder.file("statsig/statsig.cached.evaluations.broken", b"{oops")
    return builder.write()


def test_all(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "--json", "flags"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {(row["kind"], row["name"], json.dumps(row["value"])) for row in found["rows"]} == {
        ("gate", "gate_a", "true"),
        ("gate", "gate_b", "false"),
        ("config", "limits", '{"max": 3}'),
        ("gate", "tengu_c", "true"),
    }
    assert (found["total"], found["gates_on"], found["gates_off"]) == (4, 2, 1)
    assert [Path(problem["path"]).name for problem in found["problems"]] == ["statsig.cached.evaluations.broken"]


def test_filters(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "--json", "flags", "gate", "--kind", "gate"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["gate_a", "gate_b"]


def test_no_match(home: Path) -> None:
    assert main(["--home", str(home), "flags", "nothing-like-this"]) == 1


def test_text_names_what_is_broken(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "--no-color", "flags"]) == 0
    captured = capsys.readouterr()
    assert "gate_a" in captured.out
    assert "statsig.cached.evaluations.broken: not JSON at character 1" in captured.err
