"""`statusline`, as the client calls it: it never fails, and no sum in it is wrong without a mark."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.scene import Scene, tokens
from tests.cli.usage_scene import FULL, SESSION, ask, now, scene
from tests.running import run

from recollect.cli import lean_statusline
from recollect.errors import StoreBusy
from recollect.index.catalogue import Catalogue

__all__ = ["ask", "scene"]


def status(ask: Any, monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    ran = ask("statusline", "--timezone", "UTC")
    assert ran.code == 0 and ran.err == "" and ran.out.count("\n") == 1
    return str(ran.out).strip()


def test_status_line(ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.append(
        SESSION, scene.answer("msg_9", tokens(0, 0, read=100_000), request="req_9", time=now(), session=SESSION)
    )
    told = {"session_id": SESSION, "model": {"display_name": "Sonnet\x1b[31m"}, "cost": {"total_cost_usd": 9.0}}
    line = status(ask, monkeypatch, json.dumps(told))
    assert line.startswith("Sonnet | session $0.0") and "today $0.03" in line and "block $0.03 (" in line
    assert line.endswith("context 50%")


def test_status_line_looks_at_its_own_session_every_time(
    ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(number: int, session: str) -> dict[str, Any]:
        return scene.answer(
            f"msg_{number}", tokens(0, 0, read=100_000), request=f"r{number}", time=now(), session=session
        )

    told = json.dumps({"session_id": SESSION})
    scene.append(SESSION, answer(20, SESSION))
    before = status(ask, monkeypatch, told)
    scene.append(SESSION, answer(21, SESSION))
    other = "22222222-2222-4222-8222-222222222222"
    scene.write(other, answer(22, other))
    after = status(ask, monkeypatch, told)
    assert ("today $0.03" in before, "today $0.06" in after) == (True, True), (before, after)
    assert "today $0.09" in status(ask, monkeypatch, "{}")  # without a session everything is looked at


def test_status_line_waits_for_nobody(ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    ask("usage", "--timezone", "UTC")
    scene.append(SESSION, scene.answer("msg_30", FULL, request="r30", time=now(), session=SESSION))
    locks: list[float] = []

    def busy(self: Catalogue, seconds: float = 60.0) -> Any:
        locks.append(seconds)
        raise StoreBusy("another process is indexing")

    monkeypatch.setattr(Catalogue, "locked", busy)
    line = status(ask, monkeypatch, json.dumps({"session_id": SESSION}))
    assert "session ~$" in line and "today ~$0.00" in line and "context" not in line
    told = {"session_id": SESSION, "cost": {"total_cost_usd": 9.0}}
    assert "session $9.00" in status(ask, monkeypatch, json.dumps(told)), "the client knows better than an old count"
    assert locks and max(locks) < 1


def test_status_line_of_a_store_that_was_never_counted(ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call comes further; until all of today is there, no sum stands there unmarked."""
    for name in "abcdef":
        used = tokens(0, 0, read=100_000)
        scene.write(name, scene.answer(f"msg_{name}", used, request=f"r{name}", time=now(), session=name))
    monkeypatch.setattr(lean_statusline, "LEAST_BYTES", 1)
    lines = [status(ask, monkeypatch, "{}") for _ in range(9)]
    today = [line.split(" | ")[0] for line in lines]
    assert today[0] == "today ≥$0.03" and "block ≥$0.03" in lines[0] and "≥$" in lines[0].split(",")[-1]
    assert today[-1] == "today $0.18" and "≥" not in lines[-1] and "block $0.18" in lines[-1]
    assert {line for line in today if "≥" not in line} == {"today $0.18"}
    assert len(set(today)) == 7, "each call takes in something of what is left"


def test_status_line_begins_with_the_newest_files(ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """What only has old files left has all of today: then nothing is marked."""
    for path in scene.root.rglob("*.jsonl"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    used = tokens(0, 0, read=100_000)
    scene.write("zz", scene.answer("msg_z", used, request="rz", time=now(), session="zz"))
    monkeypatch.setattr(lean_statusline, "LEAST_BYTES", 1)
    assert status(ask, monkeypatch, "{}").startswith("today $0.03 | block $0.03 (")


def test_status_line_begins_with_its_own_session(ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in scene.root.rglob("*.jsonl"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    scene.write("zz", scene.answer("msg_z", FULL, request="rz", time=now(), session="zz"))
    monkeypatch.setattr(lean_statusline, "LEAST_BYTES", 1)
    told = json.dumps({"session_id": SESSION})
    assert status(ask, monkeypatch, told).startswith("session ≥$")  # its sub-agent's file is left
    assert status(ask, monkeypatch, told).startswith("session $")


@pytest.mark.parametrize(
    "text",
    [
        "", "no json", "[]", "{}", '{"session_id": 5, "model": [], "cost": {"total_cost_usd": "x"}}', "[" * 100_000,
        '{"context_window": {"used_percentage": NaN}}', '{"context_window": {"used_percentage": Infinity}}',
        '{"context_window": {"used_percentage": -1}}', '{"context_window": {"used_percentage": true}}',
        '{"cost": {"total_cost_usd": NaN}}', '{"cost": {"total_cost_usd": 1%s}}' % ("0" * 400), "x" * (2 << 20),
    ],
)  # fmt: skip
def test_status_line_never_fails(ask: Any, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Whatever comes in, the figures that need nothing of it are there."""
    assert status(ask, monkeypatch, text) == "today $0.00"


def test_status_line_reads_no_more_than_a_client_would_send(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = io.StringIO("x" * (3 << 20))
    monkeypatch.setattr(sys, "stdin", endless)
    assert lean_statusline.read_input() == ""
    assert endless.tell() < 2 << 20


@pytest.mark.parametrize("arguments", [["statusline"], ["statusline", "--timezone", "UTC"]])
@pytest.mark.parametrize("closed", [0, 1, 2])
def test_status_line_with_a_closed_stream(tmp_path: Path, arguments: list[str], closed: int) -> None:
    """As a shell does it with `<&-`: once the lean way, once through the command."""
    (tmp_path / "projects").mkdir()
    environment = {**os.environ, "CLAUDE_CONFIG_DIR": str(tmp_path)}
    code = f"import os, sys\nos.close({closed})\nos.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    start = "from recollect.cli.entry import run; run()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "-c", start, *arguments], env=environment, capture_output=True, check=False,
        stdin=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == ("" if closed == 1 else "today $0.00\n")


def test_status_line_on_a_terminal_with_few_letters(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    monkeypatch.setattr(lean_statusline, "statusline", lambda *_: "é | today ≥$1.00")
    lean_statusline.print_statusline("{}", [])
    assert written.getvalue() == b"? | today >=$1.00\n"


def test_status_line_with_a_home_that_is_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"cost": {"total_cost_usd": 0.5}}'))
    ran = run(capsys, tmp_path / "nowhere", "statusline")
    assert (ran.code, ran.out.strip()) == (0, "session $0.50")
