"""`recollect history`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.cli.main import main
from recollect.testing import HomeBuilder, uuid_from

ONE = uuid_from("one")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    builder = HomeBuilder(tmp_path / "claude")
    builder.history("oldest", "/w/app", ONE, when="2026-03-01T08:00:00Z")
    builder.history("Deploy it\x1b]0;evil\x07", "/w/other", when="2026-03-03T08:00:00Z")
    builder.history("see [Pasted text #1]", "/w/app/sub", when="2026-03-02T08:00:00Z", pasted={1: "a DEPLOY key"})
    builder.file("paste-cache/ab12.txt", "kept elsewhere")
    before = builder.files["history.jsonl"].content
    hashed = b'{"display":"big paste","pastedContents":{"1":{"id":1,"type":"text","contentHash":"ab12"}},"project":"/w/app"}\n'
    builder.file("history.jsonl", before + b"{torn\n" + hashed)
    return builder.write()


def answer(home: Path, capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    assert main(["--home", str(home), "--json", "history", *arguments]) == code
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def prompts(found: dict[str, Any]) -> list[str | None]:
    return [row["display"] for row in found["rows"]]


def test_newest_first_and_damage_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(home, capsys)
    assert prompts(found) == [
        "Deploy it\x1b]0;evil\x07",
        "see [Pasted text #1]",
        "oldest",
        "big paste",
        None,
    ]
    assert found["rows"][4]["problem"] is not None
    assert found["rows"][2]["timestamp"] == "2026-03-01T08:00:00.000Z"
    assert found["rows"][3]["pasted"] == [{"id": "1", "type": "text", "text": "kept elsewhere"}]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--grep", "deploy"], ["Deploy it\x1b]0;evil\x07", "see [Pasted text #1]"]),
        (["--grep", "ELSEWHERE"], ["big paste"]),
        (["--project", "/w/app"], ["see [Pasted text #1]", "oldest", "big paste"]),
        (["--project", "other"], ["Deploy it\x1b]0;evil\x07"]),
        (["--since", "2026-03-02T00:00:00Z", "--until", "2026-03-02T23:00:00Z"], ["see [Pasted text #1]"]),
        (["--session", ONE[:8]], ["oldest"]),
        (["--limit", "1"], ["Deploy it\x1b]0;evil\x07"]),
    ],
)
def test_filters(home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: list[str]) -> None:
    assert prompts(answer(home, capsys, *arguments)) == expected


def test_totals(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(home, capsys, "--limit", "2")
    assert (found["total"], found["shown"]) == (5, 2)


def test_no_match(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(home, capsys, "--grep", "nowhere", code=1) == {"rows": [], "total": 0, "shown": 0}


def test_text_is_safe(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "--no-color", "history"]) == 0
    out = capsys.readouterr().out
    assert "Deploy it" in out
    assert "\x1b" not in out
    assert "evil" not in out


def test_a_moment_that_is_none(home: Path) -> None:
    assert main(["--home", str(home), "history", "--since", "whenever"]) == 2


def test_json_lines(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(home), "--jsonl", "history", "--limit", "2"]) == 0
    assert len([json.loads(line) for line in capsys.readouterr().out.splitlines()]) == 2
