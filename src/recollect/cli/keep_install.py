"""Keeping by itself: a hook of the client, a timer of systemd, launchd or cron. Everything is shown before it is done.

JSON of --install and --remove: {kind, files: {path: text, null where it is removed}, commands, done, change, dry_run}.
"""

from __future__ import annotations

import os
import plistlib
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click

from ..edit.hook_settings import EVENTS, has_hook, plan_hook
from ..errors import Unavailable
from ..journal.changes import Change, Record
from ..library.plan import undo_command
from ..own_program import own_command
from ..store.home import Home
from .changing import confirm
from .command_run import CommandRun

_NAME: Final = "recollect-keep"
_LABEL: Final = "recollect.keep"
_CRON_MARK: Final = "# recollect keep"


@dataclass
class Installation:
    """Files to write or remove (None), and commands to run before and behind that."""

    files: dict[Path, bytes | None] = field(default_factory=dict)
    commands: list[list[str]] = field(default_factory=list)
    before: list[list[str]] = field(default_factory=list)
    """While the files are still there: who stops something must find it."""
    input: bytes | None = None
    """What the last command reads."""


@dataclass(frozen=True)
class Keeping:
    """What a timer runs. Unlike a hook, it does not have the environment of the shell in which it was installed."""

    command: list[str]
    environment: dict[str, str]


def _own_places() -> dict[str, str]:
    """Where the vault is, if that was said by the environment: a timer must not begin another one."""
    names = ("RECOLLECT_DATA_DIR", "RECOLLECT_CACHE_DIR", "RECOLLECT_CONFIG_DIR", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    return {name: os.path.abspath(os.path.expanduser(os.environ[name])) for name in names if os.environ.get(name)}


def keep_command(homes: list[Home]) -> list[str]:
    """Give the command by which this very Recollect keeps these homes, whatever folder it is run in."""
    named = [part for home in homes for part in ("--home", str(home.root))]
    return [*own_command(), *named, "keep", "--quiet"]


def install(run: CommandRun, kind: str, *, remove: bool, every: int, yes: bool, dry_run: bool) -> None:
    homes = run.library.homes
    if kind == "hook":
        for home in homes:
            _install_hook(run, home, remove=remove, yes=yes, dry_run=dry_run)
        return
    plan = _PLANS[kind](Keeping(keep_command(homes), _own_places()), every, remove)
    _show(run, kind, plan)
    if dry_run:
        _answer(run, kind, plan, None, done=False, dry_run=True)
        return
    confirm(f"Keeping by {kind} would be {'stopped' if remove else 'begun'}", yes=yes)
    outcomes = [_run(run, command, plan) for command in plan.before]
    record = _write(run, kind, plan, remove) if plan.files else None
    outcomes += [_run(run, command, plan) for command in plan.commands]
    done = all(outcomes)
    _answer(run, kind, plan, record, done=done)
    if not done:
        raise click.exceptions.Exit(Unavailable.exit_code)


def installed(run: CommandRun) -> list[str]:
    """What keeps by itself now, as far as files tell."""
    found = ["hook"] if any(_has_hook(home) for home in run.library.homes) else []
    found += ["systemd"] if (_systemd_folder() / f"{_NAME}.timer").exists() else []
    found += ["launchd"] if _launchd_file().exists() else []
    return found + (["cron"] if _CRON_MARK in _crontab() else [])


def _has_hook(home: Home) -> bool:
    try:
        return has_hook(home)
    except Exception:  # settings that cannot be read have no hook that works
        return False


# --- the client's hook ------------------------------------------------------------------------------------------------


def _install_hook(run: CommandRun, home: Home, *, remove: bool, yes: bool, dry_run: bool) -> None:
    command = None if remove else shlex.join(keep_command([home]))
    with plan_hook(run.changes.journal, home, command) as change:
        path = home.root / "settings.json"
        if run.is_text:
            run.say(f"{change.title}: {path}")
            if command is not None:
                run.say(f"  {' and '.join(EVENTS)}: {command}")
        record = None
        if not dry_run:
            confirm(change.title, yes=yes)
            record = change.commit()
        if run.is_text:
            verb = "taken out of" if remove else "put into"
            run.print(
                f"would be {verb} {path}"
                if record is None
                else f"{verb} {path}; `{undo_command(record)}` takes it back"
            )
        else:
            run.value(
                {"kind": "hook", "home": str(home.root), "command": command, "events": list(EVENTS),
                 "done": not dry_run, "change": record and record.number, "dry_run": dry_run}
            )  # fmt: skip


# --- timers -----------------------------------------------------------------------------------------------------------


def _systemd(keeping: Keeping, every: int, remove: bool) -> Installation:
    folder = _systemd_folder()
    places = "".join(f'Environment="{_escaped(f"{name}={value}")}"\n' for name, value in keeping.environment.items())
    service = (
        "[Unit]\nDescription=Keep new conversations in the vault of Recollect\n\n"
        f"[Service]\nType=oneshot\n{places}ExecStart={_quoted(keeping.command)}\n"
    )
    timer = (
        f"[Unit]\nDescription=Keep new conversations every {every} minutes\n\n[Timer]\nOnBootSec=2min\n"
        f"OnUnitActiveSec={every}min\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n"
    )
    files = {folder / f"{_NAME}.service": service.encode(), folder / f"{_NAME}.timer": timer.encode()}
    control = ["systemctl", "--user"]
    if remove:
        stop = [*control, "disable", "--now", f"{_NAME}.timer"]
        return Installation(dict.fromkeys(files), [[*control, "daemon-reload"]], [stop])
    return Installation(dict(files), [[*control, "daemon-reload"], [*control, "enable", "--now", f"{_NAME}.timer"]])


def _quoted(command: list[str]) -> str:
    """As systemd reads it: % and $ are special, quotes hold spaces."""
    parts = [_escaped(part).replace("$", "$$") for part in command]
    return " ".join(f'"{part}"' if not part or set(part) & set(" \t'\"\\") else part for part in parts)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def _systemd_folder() -> Path:
    named = os.environ.get("XDG_CONFIG_HOME")
    return (Path(named) if named else Path.home() / ".config") / "systemd" / "user"


def _launchd(keeping: Keeping, every: int, remove: bool) -> Installation:
    path = _launchd_file()
    if remove:
        return Installation({path: None}, before=[["launchctl", "unload", "-w", str(path)]])
    told: dict[str, object] = {
        "Label": _LABEL, "ProgramArguments": keeping.command, "StartInterval": every * 60, "RunAtLoad": True,
    }  # fmt: skip
    if keeping.environment:
        told["EnvironmentVariables"] = keeping.environment
    return Installation({path: plistlib.dumps(told)}, [["launchctl", "load", "-w", str(path)]])


def _launchd_file() -> Path:
    return Path.home() / "Library" / "LaunchAgents" / f"{_LABEL}.plist"


def _cron(keeping: Keeping, every: int, remove: bool) -> Installation:
    lines = [line for line in _crontab(strict=True).splitlines() if _CRON_MARK not in line]
    if not remove:
        minutes = f"*/{every} *" if every < 60 else f"0 */{every // 60}" if every >= 120 else "0 *"
        places = [f"{name}={shlex.quote(value)}" for name, value in keeping.environment.items()]
        words = " ".join([*places, shlex.join(keeping.command)]).replace("%", "\\%")
        lines.append(f"{minutes} * * * {words} {_CRON_MARK}")
    table = "".join(f"{line}\n" for line in lines)
    return Installation({}, [["crontab", "-"]], input=table.encode("utf-8", "surrogateescape"))


def _crontab(*, strict: bool = False) -> str:
    """The user's table. With `strict`, one that cannot be read is not taken for an empty one."""
    if shutil.which("crontab") is None:
        return ""
    done = subprocess.run(
        ["crontab", "-l"], capture_output=True, check=False, timeout=20, env={**os.environ, "LC_ALL": "C"}
    )
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "surrogateescape")
    said = done.stderr.decode("utf-8", "replace").strip()
    if strict and said and "no crontab" not in said.lower() and "no such file" not in said.lower():
        raise Unavailable(f"crontab -l: {said}", hint="nothing was changed", slug="no-crontab")
    return ""


_PLANS: Final = {"systemd": _systemd, "launchd": _launchd, "cron": _cron}


# --- doing it ---------------------------------------------------------------------------------------------------------


def _show(run: CommandRun, kind: str, plan: Installation) -> None:
    if not run.is_text:
        return
    for command in plan.before:
        run.say(f"run {shlex.join(command)}")
    for path, data in plan.files.items():
        run.say(f"{'remove' if data is None else 'write'} {path}")
        for line in (data or b"").decode("utf-8", "replace").splitlines():
            run.say(f"  | {line}")
    for command in plan.commands:
        run.say(f"run {shlex.join(command)}")
        if kind == "cron" and plan.input is not None:
            for line in plan.input.decode("utf-8", "replace").splitlines():
                run.say(f"  | {line}")


def _write(run: CommandRun, kind: str, plan: Installation, remove: bool) -> Record | None:
    verb = "Stop" if remove else "Begin"
    with run.changes.journal.change(run.library.homes[0], "install", f"{verb} keeping by {kind}") as change:
        for path, data in plan.files.items():
            _step(change, path, data)
        return change.commit() if change.steps else None


def _step(change: Change, path: Path, data: bytes | None) -> None:
    if data is not None:
        change.write(path, [data], replace=True, elsewhere=True)
    elif path.exists():
        change.remove(path, elsewhere=True)


def _run(run: CommandRun, command: list[str], plan: Installation) -> bool:
    """Whether it worked. Where it did not, the files stand and the user is told what to run."""
    given = plan.input if plan.commands and command is plan.commands[-1] else None
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as problem:
        run.say(f"could not run {shlex.join(command)}: {problem}")
        return False
    if done.returncode != 0:
        run.say(f"{shlex.join(command)}: {done.stderr.decode('utf-8', 'replace').strip() or 'failed'}")
    return done.returncode == 0


def _answer(
    run: CommandRun, kind: str, plan: Installation, record: Record | None, *, done: bool, dry_run: bool = False
) -> None:
    if run.is_text:
        if done:
            run.print(f"done: {kind}")
        if record is not None:
            run.say(f"change {record.number}; `{undo_command(record)}` takes the files back")
        return
    files = {str(path): None if data is None else data.decode("utf-8", "replace") for path, data in plan.files.items()}
    run.value(
        {"kind": kind, "files": files, "commands": [shlex.join(item) for item in [*plan.before, *plan.commands]], "done": done,
         "change": record and record.number, "dry_run": dry_run}
    )  # fmt: skip
