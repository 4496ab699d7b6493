"""`recollect config`: settings and configuration of the homes, or of one project; secrets masked.

JSON without PROJECT: rows, one per home, of {home, config_file, cleanup_days, settings, client, projects, plugins,
definitions, memory, config_backups}. `settings` maps a file's name to its content; `client` is the global config without
its projects; `projects` lists {path, last_session_id, last_cost}. With PROJECT: rows of {home, path, ...} with everything
that Claude Code remembers about it. Fields that Recollect has no name for stand under `extra`, named as on disk; what is
secret reads "(masked)".
"""

from __future__ import annotations

from typing import Any

import click

from ...export.terminal_text import safe_line
from ..command_run import CommandRun, command

LONGEST_TEXT = 160


@command("config", epilog="recollect config\nrecollect config .\nrecollect config /w/app --json")
@click.argument("project", required=False)
def config(run: CommandRun, project: str | None) -> None:
    """Settings, MCP servers, plugins and definitions of every home, secrets masked.

    With PROJECT (its path, the last parts of it, or a folder like `.`) what Claude Code remembers about that project.
    """
    rows = run.library.config(project)
    if not run.is_text:
        run.rows(rows, total=len(rows))
        return
    for row in rows:
        run.print_styled(run.style(str(row["home"] if project is None else row["path"]), bold=True))
        for line in _tree({key: value for key, value in row.items() if key != "home"}, "  "):
            run.print(line)


def _tree(value: Any, indent: str) -> list[str]:
    """Return indented `name: value` lines; empty values are left out, long texts are cut."""
    lines: list[str] = []
    pairs = value.items() if isinstance(value, dict) else (("-", item) for item in value)
    for name, item in pairs:
        label = safe_line(str(name)) if name == "-" else f"{safe_line(str(name))}:"
        if item is None or item in ("", [], {}):
            continue
        if isinstance(item, dict | list):
            below = _tree(item, indent + "  ")
            if below and name == "-":  # the first line of a list item is on the line of its dash
                below = [f"{indent}- {below[0].lstrip()}", *below[1:]]
            elif below:
                below = [f"{indent}{label}", *below]
            lines += below
        else:
            text = str(item).lower() if isinstance(item, bool) else safe_line(str(item), LONGEST_TEXT)
            lines.append(f"{indent}{label} {text}")
    return lines
