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
from tests.cli.usage_scene import FULL, OPUS, SESSION, ask, now, scene
from tests.running import run

from recollect.cli import lean_statusline
from recollect.errors import StoreBusy
from recollect.export import status_line
from recollect.index.catalogue.catalogue import Catalogue

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
    assert status(ask, monkeypatch, "\ufeff" + json.dumps(told)) == line


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
    assert status(ask, monkeypatch, told).startswith("session ≥$")  # its subagent's file is left
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
    monkeypatch.setattr(status_line, "status_line", lambda *_: "é | today ≥$1.00")
    lean_statusline.print_statusline("{}", [])
    assert written.getvalue() == b"? | today >=$1.00\n"


def test_status_line_with_a_home_that_is_none(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"cost": {"total_cost_usd": 0.5}}'))
    ran = run(capsys, tmp_path / "nowhere", "statusline")
    assert (ran.code, ran.out.strip()) == (0, "session $0.50")


# -- the same figures and marks as the reports --------------------------------------------------------------------------
READ = tokens(0, 0, read=100_000)


def of_homes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *homes: Path, session: str = SESSION
) -> str:
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({"session_id": session})))
    named = [word for home in homes for word in ("--home", str(home))]
    return run(capsys, None, *named, "statusline", "--timezone", "UTC").out.strip()


def test_status_line_counts_a_call_of_two_homes_once(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Scene(tmp_path / "other")
    row = scene.answer("msg_9", READ, request="r9", time=now(), session=SESSION)
    for one in (scene, other):
        one.append(SESSION, row)
    other.append(SESSION, scene.answer("msg_8", READ, request="r8", time=now(3000), session=SESSION))
    line = of_homes(capsys, monkeypatch, scene.root, other.root)
    assert "| today $0.03 | block $0.03 (" in line


def test_status_line_counts_no_call_to_a_session_that_only_has_a_copy_of_it_from_another_home(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other, when = Scene(tmp_path / "other"), "2026-03-05T10:00:00.000Z"
    dear = scene.answer("q1", tokens(0, 100_000), request="q1", time=when, session="s1")
    scene.write("s1", dear)
    other.write(
        "s2",
        dear | {"sessionId": "s2", "forkedFrom": {"sessionId": "s1", "messageUuid": dear["uuid"]}},
        scene.answer("q2", tokens(0, 2000), request="q2", time="2026-03-06T10:00:00.000Z", session="s2"),
    )
    lines = [of_homes(capsys, monkeypatch, scene.root, other.root, session=name) for name in ("s1", "s2")]
    assert [line.split(" | ")[0] for line in lines] == ["session $1.50", "session $0.03"]


def test_status_line_looks_at_a_home_that_was_not_looked_at(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though all of another home was looked at a moment ago."""
    other = Scene(tmp_path / "other")
    scene.append(SESSION, scene.answer("msg_9", READ, request="r9", time=now(), session=SESSION))
    other.write("zz", scene.answer("msg_8", READ, request="r8", time=now(), session="zz"))
    assert "today $0.03" in of_homes(capsys, monkeypatch, scene.root)
    assert "today $0.06" in of_homes(capsys, monkeypatch, scene.root, other.root)
    other.write("zy", scene.answer("msg_7", READ, request="r7", time=now(), session="zy"))
    assert "today $0.06" in of_homes(capsys, monkeypatch, scene.root, other.root), "both were looked at"


def test_status_line_has_the_block_of_the_blocks(ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where somebody works for two days without a pause."""
    for number in range(123, -1, -1):
        row = scene.answer(f"b{number}", READ, request=f"b{number}", time=now(20 * number), session=SESSION)
        scene.append(SESSION, row)
    line = status(ask, monkeypatch, "{}")
    (block,) = [row for row in ask("usage", "--more", "blocks", "--json").data["rows"] if row["active"]]
    assert f"block ${block['cost_micro_usd'] / 1e6:.2f} (" in line


def test_status_line_of_a_model_without_a_price(ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "22222222-2222-4222-8222-222222222222"
    scene.write(other, scene.answer("z1", READ, request="z1", time=now(), session=other, model="claude-zeta-9"))
    line = status(ask, monkeypatch, json.dumps({"session_id": other}))
    assert line.startswith("session ? | today ? | block ? (") and line.endswith("left, ?/h)")
    scene.append(other, scene.answer("z2", READ, request="z2", time=now(), session=other, model=OPUS))
    line = status(ask, monkeypatch, json.dumps({"session_id": other}))
    assert line.startswith("session $0.05+? | today $0.05+? | block $0.05+? (") and "+?/h)" in line


def test_status_line_of_a_lower_bound(ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "22222222-2222-4222-8222-222222222222"
    row = scene.answer("z1", READ, request="z1", time=now(), session=other, stop=None, version="2.0.50")
    scene.write(other, row)
    line = status(ask, monkeypatch, json.dumps({"session_id": other}))
    assert line.startswith("session ≥$0.03 | today ≥$0.03 | block ≥$0.03 (") and ", ≥$" in line


def test_status_line_after_an_answer_without_counts(ask: Any, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.append(
        SESSION,
        scene.answer("msg_9", READ, request="req_9", time=now(), session=SESSION),
        scene.answer("msg_10", {}, request="req_10", time=now(), session=SESSION),
    )
    assert status(ask, monkeypatch, json.dumps({"session_id": SESSION})).endswith("| context 50%")
    assert ask("usage", "--more", "context", "--json").data["rows"][0]["last_tokens"] == 100_000
