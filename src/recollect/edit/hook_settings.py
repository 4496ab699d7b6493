"""Add or remove our commands in `settings.json`: a hook at the end of every turn and session, and the status line.

Claude Code reads `hooks` as {event: [{"hooks": [{"type": "command", "command": ...}]}]} (seen in 2.1.325), and `statusLine` as
{"type": "command", "command": ...}.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from ..errors import DamagedData, Refused
from ..format.json_file import decode_json_file
from ..journal.changes import Change, Journal
from ..store.home import Home, read_inside

EVENTS: Final = ("Stop", "SessionEnd")
_OURS: Final = re.compile(r"\brecollect\b.*\bkeep\b")
_OWN_STATUS_LINE: Final = re.compile(r"\brecollect\b.*\bstatusline\b")
_SECONDS: Final = 60


def has_hook(home: Home) -> bool:
    """Whether one of our hooks is in the settings."""
    return any(_is_ours(entry) for groups in _hooks(_settings(home)).values() for entry in _entries(groups))


def plan_hook(journal: Journal, home: Home, command: str | None) -> Change:
    """Plan to add our hooks, replacing older ones of ours; with None, to remove them."""
    settings = _settings(home)
    hooks = {event: _without_ours(groups) for event, groups in _hooks(settings).items()}
    if command is None and not has_hook(home):
        raise Refused(f"no hook of Recollect is in {home.root / 'settings.json'}", slug="nothing-to-do")
    if command is not None:
        for event in EVENTS:
            entry = {"type": "command", "command": command, "timeout": _SECONDS}
            hooks[event] = [*hooks.get(event, []), {"hooks": [entry]}]
    changed = {**settings, "hooks": {event: groups for event, groups in hooks.items() if groups}}
    if not changed["hooks"]:
        del changed["hooks"]
    title = "Keep at the end of every turn, by a hook" if command is not None else "Take out the hook that keeps"
    return _write(journal.change(home, "hook", title), home, changed)


def status_line(home: Home) -> str | None:
    """Return the command of the status line that is set; None where there is none."""
    entry = _settings(home).get("statusLine")
    command = entry.get("command") if isinstance(entry, dict) else None
    return command if isinstance(command, str) else None


def is_own_status_line(command: str | None) -> bool:
    """Tell whether a status line is Recollect's."""
    return command is not None and _OWN_STATUS_LINE.search(command) is not None


def plan_status_line(journal: Journal, home: Home, command: str | None) -> Change:
    """Plan the change that sets the status line (in place of the one that is set), or with None takes ours out."""
    settings = _settings(home)
    if command is None and not is_own_status_line(status_line(home)):
        raise Refused(f"no status line of Recollect is in {home.root / 'settings.json'}", slug="nothing-to-do")
    changed = {key: value for key, value in settings.items() if key != "statusLine"}
    if command is not None:
        changed = {**settings, "statusLine": {"type": "command", "command": command}}
    title = "Show Recollect's status line" if command is not None else "Take out Recollect's status line"
    return _write(journal.change(home, "status-line", title), home, changed)


def _write(change: Change, home: Home, settings: dict[str, Any]) -> Change:
    data = json.dumps(settings, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
    change.write(home.root / "settings.json", [data], replace=True)
    return change


def _settings(home: Home) -> dict[str, Any]:
    path = home.root / "settings.json"
    if not path.exists():
        return {}
    read = decode_json_file(read_inside(home, path), expect=dict)
    if read.problem is not None or not isinstance(read.value, dict):
        raise DamagedData(
            f"{path} cannot be read: {read.problem}", slug="damaged-settings",
            hint="repair the file first: nothing was changed",
        )  # fmt: skip
    return read.value


def _hooks(settings: dict[str, Any]) -> dict[str, Any]:
    hooks = settings.get("hooks")
    return hooks if isinstance(hooks, dict) else {}


def _entries(groups: Any) -> list[Any]:
    found = []
    for group in groups if isinstance(groups, list) else []:
        entries = group.get("hooks") if isinstance(group, dict) else None
        found += entries if isinstance(entries, list) else []
    return found


def _is_ours(entry: Any) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(command, str) and _OURS.search(command) is not None


def _without_ours(groups: Any) -> Any:
    if not isinstance(groups, list):
        return groups
    rest = []
    for group in groups:
        entries = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(entries, list) or not any(_is_ours(entry) for entry in entries):
            rest.append(group)
            continue
        others = [entry for entry in entries if not _is_ours(entry)]
        if others:
            rest.append({**group, "hooks": others})
    return rest
