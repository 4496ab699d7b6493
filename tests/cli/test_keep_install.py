"""`keep --install`: shown before it is done, removable, and only ours is touched."""

from __future__ import annotations

import json
import os
import plistlib
import stat
import sys
from pathlib import Path

import pytest
from tests.running import Ran, run
from tests.vault.scene import Scene

from recollect.library.installing import _quoted

OTHERS = {"model": "opus", "hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}]}}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    root = Scene(tmp_path).home.root
    (root / "settings.json").write_text(json.dumps(OTHERS))
    return root


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs that write down how they were called, in place of the system's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    _program(folder / "launchctl", f'test -f "$3" && echo "launchctl $@" >> "{tmp_path}/calls"')
    timer = '"$XDG_CONFIG_HOME/systemd/user/recollect-keep.timer"'
    _program(
        folder / "systemctl",
        f'found=; if [ "$2" = disable ]; then test -f {timer} || exit 1; found=", found"; fi\n'
        f'echo "systemctl $@$found" >> "{tmp_path}/calls"',
    )
    _program(
        folder / "crontab", f'if [ "$1" = -l ]; then cat "{tmp_path}/tab" 2>/dev/null; else cat > "{tmp_path}/tab"; fi'
    )
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def _program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def ask(capsys: pytest.CaptureFixture[str], home: Path, *arguments: str) -> Ran:
    return run(capsys, home, "keep", *arguments)


def test_the_hook(home: Path, tools: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (home / "settings.json").read_bytes()
    assert ask(capsys, home, "--install", "hook", "--dry-run").code == 0
    refused = ask(capsys, home, "--install", "hook")
    assert refused.code == 6
    assert "keep --quiet" in refused.err, "it is shown before it is refused"
    assert (home / "settings.json").read_bytes() == before
    for _ in range(2):  # a second time replaces the first
        assert ask(capsys, home, "--install", "hook", "--yes").code == 0
        settings = json.loads((home / "settings.json").read_text())
        assert settings["model"] == "opus"
        assert settings["hooks"]["Stop"][0] == OTHERS["hooks"]["Stop"][0]  # type: ignore[index]
        command = f"{sys.executable} -I -m recollect --home {home} keep --quiet"
        for event, count in (("Stop", 2), ("SessionEnd", 1)):
            assert len(settings["hooks"][event]) == count
            assert settings["hooks"][event][-1]["hooks"][0]["command"] == command
    assert ask(capsys, home, "--status", "--json").data["installed"] == ["hook"]
    assert ask(capsys, home, "--remove", "hook", "--yes").code == 0
    assert json.loads((home / "settings.json").read_text()) == OTHERS
    assert ask(capsys, home, "--remove", "hook", "--yes").code == 6
    assert run(capsys, home, "undo").code == 0


def test_settings_that_cannot_be_read_are_not_replaced(
    home: Path, tools: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "settings.json").write_text('{"model": ')
    ran = ask(capsys, home, "--install", "hook", "--yes")
    assert ran.code == 4
    assert (home / "settings.json").read_text() == '{"model": '


def test_systemd(home: Path, tools: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "systemd" / "user"
    shown = ask(capsys, home, "--install", "systemd", "--dry-run")
    assert "OnUnitActiveSec=15min" in shown.err
    assert not folder.exists()
    assert ask(capsys, home, "--install", "systemd", "--every", "5", "--yes").code == 0
    place = f'Environment="RECOLLECT_DATA_DIR={os.environ["RECOLLECT_DATA_DIR"]}"'
    assert place in (folder / "recollect-keep.service").read_text(), "a timer keeps in the same vault"
    assert (
        f"ExecStart={sys.executable} -I -m recollect --home {home} keep --quiet"
        in (folder / "recollect-keep.service").read_text()
    )
    assert "OnUnitActiveSec=5min" in (folder / "recollect-keep.timer").read_text()
    assert (tools / "calls").read_text().splitlines()[-1] == "systemctl --user enable --now recollect-keep.timer"
    assert ask(capsys, home, "--status", "--json").data["installed"] == ["systemd"]
    assert ask(capsys, home, "--remove", "systemd", "--yes").code == 0
    assert list(folder.iterdir()) == []
    assert (tools / "calls").read_text().splitlines()[-2:] == [
        "systemctl --user disable --now recollect-keep.timer, found", "systemctl --user daemon-reload",
    ]  # fmt: skip


def test_launchd(home: Path, tools: Path, own_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, home, "--install", "launchd", "--yes").code == 0
    path = own_home / "Library" / "LaunchAgents" / "recollect.keep.plist"
    told = plistlib.loads(path.read_bytes())
    assert told["ProgramArguments"][-2:] == ["keep", "--quiet"]
    assert told["StartInterval"] == 900
    assert told["EnvironmentVariables"]["RECOLLECT_DATA_DIR"] == os.environ["RECOLLECT_DATA_DIR"]
    assert ask(capsys, home, "--remove", "launchd", "--yes").code == 0, "it is unloaded while the file is there"
    assert not path.exists()


def test_cron(home: Path, tools: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tools / "tab").write_text("0 5 * * * backup\n")
    assert ask(capsys, home, "--install", "cron", "--yes", "--json").data["done"] is True
    assert ask(capsys, home, "--install", "cron", "--every", "30", "--yes").code == 0
    first, second = (tools / "tab").read_text().splitlines()
    assert first == "0 5 * * * backup"
    words = second.split(" ")
    assert words[:5] == ["*/30", "*", "*", "*", "*"]
    assert f"RECOLLECT_DATA_DIR={os.environ['RECOLLECT_DATA_DIR']}" in words
    assert f" {sys.executable} -I -m recollect --home " in second
    assert ask(capsys, home, "--status", "--json").data["installed"] == ["cron"]
    assert ask(capsys, home, "--remove", "cron", "--yes").code == 0
    assert (tools / "tab").read_text() == "0 5 * * * backup\n"


def test_a_tool_that_is_not_there_is_told(home: Path, tools: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tools / "bin" / "systemctl").write_text("#!/bin/sh\necho no bus >&2\nexit 1\n")
    ran = ask(capsys, home, "--install", "systemd", "--yes", "--json")
    assert (ran.code, ran.data["done"], ran.data["dry_run"]) == (8, False, False)
    assert "no bus" in ran.err


def test_a_table_that_cannot_be_read_is_not_replaced(
    home: Path, tools: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tools / "tab").write_text("0 5 * * * backup\n")
    tool = (tools / "bin" / "crontab").read_text()
    (tools / "bin" / "crontab").write_text(tool.replace("then cat", "then echo broken >&2; exit 1; cat"))
    ran = ask(capsys, home, "--install", "cron", "--yes")
    assert (ran.code, "no-crontab" in ran.err) == (8, True)
    assert (tools / "tab").read_text() == "0 5 * * * backup\n"


@pytest.mark.parametrize(("every", "words"), [("5", "*/5 *"), ("60", "0 *"), ("90", "0 *"), ("240", "0 */4")])
def test_how_often_in_words_of_cron(
    home: Path, tools: Path, capsys: pytest.CaptureFixture[str], every: str, words: str
) -> None:
    assert ask(capsys, home, "--install", "cron", "--every", every, "--yes").code == 0
    assert (tools / "tab").read_text().startswith(f"{words} * * * ")
    assert ask(capsys, home, "--install", "cron", "--every", "0", "--yes").code == 2


def test_the_status_line(home: Path, tools: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = run(capsys, home, "statusline", "--install", "--dry-run")
    assert (shown.code, "statusLine: " in shown.err) == (0, True)
    assert run(capsys, home, "statusline", "--install").code == 6
    assert json.loads((home / "settings.json").read_text()) == OTHERS
    assert run(capsys, home, "statusline", "--install", "--yes").code == 0
    command = json.loads((home / "settings.json").read_text())["statusLine"]["command"]
    assert command.endswith(f"-I -m recollect --home {home} statusline")
    told = run(capsys, home, "statusline", "--remove", "--yes", "--json").data
    assert (told["kind"], told["present"], told["done"]) == ("statusline", True, True)
    assert json.loads((home / "settings.json").read_text()) == OTHERS


def test_completion(home: Path, tools: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = run(capsys, home, "completion", "fish").out
    place = Path(os.environ["XDG_CONFIG_HOME"]) / "fish" / "completions" / "recollect.fish"
    assert run(capsys, home, "completion", "fish", "--install", "--yes").code == 0
    assert place.read_text().strip() == script.strip()
    assert "installed already" in run(capsys, home, "completion", "fish", "--install", "--dry-run").err
    assert run(capsys, home, "completion", "fish", "--remove", "--yes").code == 0
    assert not place.exists()
    assert run(capsys, home, "completion", "fish", "--remove", "--yes").code == 6


def test_words_for_systemd_are_quoted() -> None:
    assert _quoted(["/a b/c", "50%", "$x", 'say "hi"']) == '"/a b/c" 50%% $$x "say \\"hi\\""'
