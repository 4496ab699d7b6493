"""Installing through the library: a plan shows the change, tells what is there, is committed, and is taken back."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from tests.vault.scene import Scene

from recollect.errors import DamagedData, Refused
from recollect.library.installing import InstallPlan
from recollect.library.library import Library


@pytest.fixture
def library(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in (
        ("systemctl", "exit 0"),
        ("crontab", f'if [ "$1" = -l ]; then cat "{tmp_path}/tab"; else cat > "{tmp_path}/tab"; fi'),
    ):
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    return Library([Scene(tmp_path).home], own_folder=lambda kind: tmp_path / kind)


def settings(library: Library) -> Path:
    return library.homes[0].root / "settings.json"


@pytest.mark.parametrize("what", ["hook", "statusline"])
def test_settings_get_a_command_and_lose_it_again(library: Library, what: str) -> None:
    before = settings(library).read_bytes()
    plan = library.install(what)
    assert not plan.present
    assert str(settings(library)) in plan.shown[0]
    assert settings(library).read_bytes() == before
    done = plan.commit()
    assert done.result["done"] is True
    assert library.install(what).present
    library.undo(done.number).commit()
    assert settings(library).read_bytes() == before
    library.install(what).commit()
    library.uninstall(what).commit()
    assert json.loads(settings(library).read_bytes()) == json.loads(before)
    with pytest.raises(Refused):
        library.uninstall(what)


def test_the_status_line_names_a_home_that_is_not_a_usual_one(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f"--home {library.homes[0].root} statusline" in library.install("statusline").result["command"]
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(library.homes[0].root))
    assert "--home" not in library.install("statusline").result["command"]


def test_another_status_line_is_told_before_it_is_replaced_and_never_taken_out(library: Library) -> None:
    other = {"statusLine": {"type": "command", "command": "somebody-else"}}
    settings(library).write_text(json.dumps(other))
    with pytest.raises(Refused):
        library.uninstall("statusline")
    plan = library.install("statusline")
    assert (plan.present, "somebody-else" in plan.notes[0]) == (False, True)
    done = plan.commit()
    assert "statusline" in json.loads(settings(library).read_text())["statusLine"]["command"]
    library.undo(done.number).commit()
    assert json.loads(settings(library).read_text()) == other


def test_damaged_settings_are_left_alone(library: Library) -> None:
    settings(library).write_text('{"model": ')
    for what in ("hook", "statusline"):
        with pytest.raises(DamagedData):
            library.install(what)


def test_a_timer_is_files_and_commands(library: Library) -> None:
    plan = library.install("systemd", every=5)
    files = [Path(name) for name in plan.result["files"]]
    assert any("OnUnitActiveSec=5min" in line for line in plan.shown)
    assert plan.result["commands"][-1] == "systemctl --user enable --now recollect-keep.timer"
    assert not any(path.exists() for path in files)
    done = plan.commit()
    assert library.installed() == ["systemd"]
    assert library.install("systemd").present
    library.undo(done.number).commit()
    assert not any(path.exists() for path in files)


def test_a_tool_that_fails_raises_nothing_and_is_told(library: Library, tmp_path: Path) -> None:
    (tmp_path / "bin" / "systemctl").write_text("#!/bin/sh\necho no bus >&2\nexit 1\n")
    plan = library.install("systemd")
    assert plan.commit().result["done"] is False
    assert all("no bus" in problem for problem in plan.problems)


def test_a_line_of_cron_is_ours_alone(library: Library, tmp_path: Path) -> None:
    (tmp_path / "tab").write_text("0 5 * * * backup\n")
    library.install("cron").commit()
    assert library.installed() == ["cron"]
    assert library.install("cron").present
    library.uninstall("cron").commit()
    assert (tmp_path / "tab").read_text() == "0 5 * * * backup\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_learns_our_commands(library: Library, shell: str) -> None:
    plan = library.install("completion", shell=shell, script="# words\n")
    (path,) = (Path(name) for name in plan.result["files"])
    assert bool(plan.notes) == (shell == "zsh")
    done = plan.commit()
    assert path.read_text() == "# words\n"
    assert library.install("completion", shell=shell, script="# others\n").present
    library.undo(done.number).commit()
    assert not path.exists()
    with pytest.raises(Refused):
        library.uninstall("completion", shell=shell)


@pytest.mark.parametrize(("what", "shell"), [("window", None), ("completion", None), ("completion", "csh")])
def test_what_there_is_not(library: Library, what: str, shell: str | None) -> None:
    with pytest.raises(Refused) as caught:
        library.install(what, shell=shell)
    assert caught.value.slug == "no-such-kind"


def test_a_plan_that_is_left_leaves_nothing(library: Library, tmp_path: Path) -> None:
    with library.install("hook") as plan:
        assert isinstance(plan, InstallPlan)
        assert list((tmp_path / "data").rglob("new-*"))
    assert not list((tmp_path / "data").rglob("new-*"))
