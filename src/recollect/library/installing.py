"""Install Recollect where other programs start it, and remove it again: `library.install(what)`, `library.uninstall(what)`.

plan = library.install("hook")      # nothing happens yet
print(plan.present, *plan.shown, sep="\\n")
done = plan.commit()                # `library.undo(done.number)` or `library.uninstall("hook")` undoes it

What can be installed: `hook` (Claude Code runs `keep` after every turn), a timer that runs `keep` (`systemd`, `launchd`, `cron`),
`statusline` (Claude Code shows what sessions cost), `completion` (a shell completes our commands).
"""

from __future__ import annotations

import plistlib
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..edit.hook_settings import EVENTS, has_hook, is_own_status_line, plan_hook, plan_status_line, status_line
from ..environment import environment_in_english, home_candidates, places_told, user_folder
from ..errors import RecollectError, Refused, Unavailable
from ..journal.changes import Change, Journal
from ..own_program import own_command
from ..store.home import Home
from .plan import Committed, Plan

if TYPE_CHECKING:
    from .library import Library

TIMERS: Final = ("systemd", "launchd", "cron")
KEEPERS: Final = ("hook", *TIMERS)
"""What can run `recollect keep` automatically."""
KINDS: Final = (*KEEPERS, "statusline", "completion")
SHELLS: Final = ("bash", "zsh", "fish")

_NAME: Final = "recollect-keep"
_LABEL: Final = "recollect.keep"
_CRON_MARK: Final = "# recollect keep"


@dataclass
class _Work:
    """What an installation has to do: files to write or remove (None), and commands to run before and after that."""

    files: dict[Path, bytes | None] = field(default_factory=dict)
    commands: list[list[str]] = field(default_factory=list)
    before: list[list[str]] = field(default_factory=list)
    """Commands that run before files are removed: stopping a timer needs its files."""
    input: bytes | None = None
    """Standard input of the last command."""


class InstallPlan(Plan):
    """Plans to install or remove something. Nothing happens before `commit`."""

    def __enter__(self) -> InstallPlan:
        return self

    def __init__(
        self,
        what: str,
        change: Change | None,
        work: _Work,
        *,
        title: str,
        present: bool,
        shown: Sequence[str] = (),
        home: Home | None = None,
        command: str | None = None,
        notes: Sequence[str] = (),
        remove: bool = False,
    ) -> None:
        self._title, self._work = title, work
        self.what = what
        self.removes = remove
        self.present = present
        """Whether it is installed already; then it is replaced."""
        self.shown = [*shown, *_shown(work)]
        """What will be written and run, in full, one line each."""
        self.problems: list[str] = []
        """After `commit`: system commands that failed. The files are written nevertheless."""
        result: dict[str, Any] = {
            "kind": what,
            "home": None if home is None else str(home.root),
            "command": command,
            "events": list(EVENTS) if what == "hook" else [],
            "present": present,
            "files": {
                str(path): None if data is None else data.decode("utf-8", "replace")
                for path, data in work.files.items()
            },
            "commands": [shlex.join(item) for item in (*work.before, *work.commands)],
            "done": False,
        }
        said = f"{what} is {'taken out' if remove else 'installed'}"
        super().__init__(change, result, said, list(notes), destructive=True)

    @property
    def title(self) -> str:
        return self._title

    @property
    def steps(self) -> list[str]:
        return [
            *(f"run {shlex.join(item)}" for item in self._work.before),
            *(self.change.describe() if self.change is not None else []),
            *(f"run {shlex.join(item)}" for item in self._work.commands),
        ]

    def commit(self) -> Committed:
        """Carry out the plan. If a system command fails, `problems` has its message and `result["done"]` is False."""
        steps = self.steps
        for command in self._work.before:
            self._run(command)
        made = super().commit()
        for command in self._work.commands:
            self._run(command)
        self.result["done"] = not self.problems
        return Committed(made.number, self.title, steps, self.result, made.undo_command)

    def _run(self, command: list[str]) -> None:
        given = self._work.input if self._work.commands and command is self._work.commands[-1] else None
        try:
            done = subprocess.run(command, input=given, capture_output=True, check=False, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as problem:
            self.problems.append(f"could not run {shlex.join(command)}: {problem}")
            return
        if done.returncode != 0:
            words = done.stderr.decode("utf-8", "replace").strip() or "failed"
            self.problems.append(f"{shlex.join(command)}: {words}")


def _shown(work: _Work) -> list[str]:
    lines = [f"run {shlex.join(command)}" for command in work.before]
    for path, data in work.files.items():
        lines.append(f"{'remove' if data is None else 'write'} {path}")
        lines += [f"  | {line}" for line in (data or b"").decode("utf-8", "replace").splitlines()]
    lines += [f"run {shlex.join(command)}" for command in work.commands]
    if work.input is not None:
        lines += [f"  | {line}" for line in work.input.decode("utf-8", "replace").splitlines()]
    return lines


def plan_install(
    library: Library,
    what: str,
    *,
    remove: bool = False,
    home: Home | None = None,
    every: int = 15,
    shell: str | None = None,
    script: str | None = None,
) -> InstallPlan:
    """Plan to install something, or with `remove` to uninstall it.

    `home` is the home whose settings get a hook or a status line; `every` is the number of minutes between two runs of a
    timer; `shell` is the shell that is to complete our commands, and `script` the completion code for it.
    """
    journal = library.changes.journal
    if what in ("hook", "statusline"):
        return _setting(journal, what, library.changes.only_home() if home is None else home, remove)
    if what in TIMERS:
        keeping = _Keeping(_recollect(library.homes, "keep", "--quiet"), places_told())
        work = _TIMERS[what](keeping, every, remove)
        title = f"{'Stop' if remove else 'Begin'} keeping by {what}"
    elif what == "completion":
        work, title = _completion(shell, script, remove)
    else:
        raise Refused(f"{what} cannot be installed", hint=f"there are: {', '.join(KINDS)}", slug="no-such-kind")
    change = _plan_files(journal, library.homes[0], title, work.files)
    present = any(path.exists() for path in work.files) if work.files else what in installed(library)
    notes = [_ZSH_NOTE] if shell == "zsh" and not remove else []
    return InstallPlan(what, change, work, title=title, present=present, notes=notes, remove=remove)


def _plan_files(journal: Journal, home: Home, title: str, files: dict[Path, bytes | None]) -> Change | None:
    """Plan to write or remove files outside of the home; None if there is nothing to do."""
    if not any(data is not None or path.exists() for path, data in files.items()):
        return None
    change = journal.change(home, "install", title)
    for path, data in files.items():
        if data is not None:
            change.write(path, [data], replace=True, elsewhere=True)
        elif path.exists():
            change.remove(path, elsewhere=True)
    return change


def installed(library: Library) -> list[str]:
    """List what runs `recollect keep` automatically now, as far as files show."""
    found = ["hook"] if any(_is_there(has_hook, home) for home in library.homes) else []
    found += ["systemd"] if (_systemd_folder() / f"{_NAME}.timer").exists() else []
    found += ["launchd"] if _launchd_file().exists() else []
    return found + (["cron"] if _CRON_MARK in _crontab() else [])


def _is_there(test: Callable[[Home], bool], home: Home) -> bool:
    try:
        return test(home)
    except (RecollectError, OSError):  # a hook in settings that cannot be read does not work
        return False


def _recollect(homes: Sequence[Home], *words: str) -> list[str]:
    """Return the command line that runs this installation of Recollect on these homes, from any folder."""
    named = [part for home in homes for part in ("--home", str(home.root))]
    return [*own_command(), *named, *words]


# --- the settings of Claude Code --------------------------------------------------------------------------------------


def _setting(journal: Journal, what: str, home: Home, remove: bool) -> InstallPlan:
    path = home.root / "settings.json"
    notes = []
    if what == "hook":
        command = None if remove else shlex.join(_recollect([home], "keep", "--quiet"))
        present = _is_there(has_hook, home)
        change = plan_hook(journal, home, command)
        where = " and ".join(EVENTS)
    else:
        is_usual = home.real_root in {Home(path).real_root for path in home_candidates()[0]}
        command = None if remove else shlex.join(_recollect([] if is_usual else [home], "statusline"))
        before = status_line(home)
        present = is_own_status_line(before)
        change = plan_status_line(journal, home, command)
        where = "statusLine"
        if before is not None and not present:
            notes.append(f"another status line is set and will be replaced: {before}")
    shown = [f"{change.title}: {path}", *([f"  {where}: {command}"] if command is not None else [])]
    return InstallPlan(
        what, change, _Work(), title=change.title, present=present, shown=shown, home=home, command=command, notes=notes,
        remove=remove,
    )  # fmt: skip


# --- timers -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Keeping:
    """What a timer runs. Unlike a hook, a timer does not have the environment of the shell in which it was installed."""

    command: list[str]
    environment: dict[str, str]


def _systemd(keeping: _Keeping, every: int, remove: bool) -> _Work:
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
        return _Work(dict.fromkeys(files), [[*control, "daemon-reload"]], [stop])
    return _Work(dict(files), [[*control, "daemon-reload"], [*control, "enable", "--now", f"{_NAME}.timer"]])


def _quoted(command: list[str]) -> str:
    """Quote a command for systemd: % and $ are special, quotes hold spaces."""
    parts = [_escaped(part).replace("$", "$$") for part in command]
    return " ".join(f'"{part}"' if not part or set(part) & set(" \t'\"\\") else part for part in parts)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def _systemd_folder() -> Path:
    return user_folder("config") / "systemd" / "user"


def _launchd(keeping: _Keeping, every: int, remove: bool) -> _Work:
    path = _launchd_file()
    if remove:
        return _Work({path: None}, before=[["launchctl", "unload", "-w", str(path)]])
    job: dict[str, object] = {
        "Label": _LABEL, "ProgramArguments": keeping.command, "StartInterval": every * 60, "RunAtLoad": True,
    }  # fmt: skip
    if keeping.environment:
        job["EnvironmentVariables"] = keeping.environment
    return _Work({path: plistlib.dumps(job)}, [["launchctl", "load", "-w", str(path)]])


def _launchd_file() -> Path:
    return user_folder() / "Library" / "LaunchAgents" / f"{_LABEL}.plist"


def _cron(keeping: _Keeping, every: int, remove: bool) -> _Work:
    lines = [line for line in _crontab(strict=True).splitlines() if _CRON_MARK not in line]
    if not remove:
        minutes = f"*/{every} *" if every < 60 else f"0 */{every // 60}" if every >= 120 else "0 *"
        places = [f"{name}={shlex.quote(value)}" for name, value in keeping.environment.items()]
        words = " ".join([*places, shlex.join(keeping.command)]).replace("%", "\\%")
        lines.append(f"{minutes} * * * {words} {_CRON_MARK}")
    table = "".join(f"{line}\n" for line in lines)
    return _Work({}, [["crontab", "-"]], input=table.encode("utf-8", "surrogateescape"))


def _crontab(*, strict: bool = False) -> str:
    """Read the user's crontab. With `strict`, a table that cannot be read does not count as empty."""
    if shutil.which("crontab") is None:
        return ""
    done = subprocess.run(["crontab", "-l"], capture_output=True, check=False, timeout=20, env=environment_in_english())
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "surrogateescape")
    words = done.stderr.decode("utf-8", "replace").strip()
    if strict and words and "no crontab" not in words.lower() and "no such file" not in words.lower():
        raise Unavailable(f"crontab -l: {words}", hint="nothing was changed", slug="no-crontab")
    return ""


_TIMERS: Final = {"systemd": _systemd, "launchd": _launchd, "cron": _cron}


# --- completion -------------------------------------------------------------------------------------------------------

_ZSH_NOTE: Final = "zsh looks into that folder once `fpath+=~/.zfunc` stands in ~/.zshrc before `compinit`"


def _completion(shell: str | None, script: str | None, remove: bool) -> tuple[_Work, str]:
    if shell not in SHELLS or (script is None and not remove):
        raise Refused(
            "name the shell, and the text that teaches it", hint=f"there are: {', '.join(SHELLS)}", slug="no-such-kind"
        )
    places = {
        "bash": user_folder("data") / "bash-completion" / "completions" / "recollect",
        "zsh": user_folder() / ".zfunc" / "_recollect",
        "fish": user_folder("config") / "fish" / "completions" / "recollect.fish",
    }
    data = None if remove or script is None else script.encode()
    if remove and not places[shell].exists():
        raise Refused(f"there is no {places[shell]}", slug="nothing-to-do")
    title = f"{'No longer complete' if remove else 'Complete'} the commands of Recollect in {shell}"
    return _Work({places[shell]: data}), title
