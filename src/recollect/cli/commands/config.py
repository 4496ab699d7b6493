"""`recollect config`: settings and configuration of the homes, or of one project; secrets masked.

JSON without PROJECT: rows, one per home, of {home, config_file, cleanup_days, settings, client, projects, plugins,
definitions, memory, config_backups}. `settings` maps a file's name to its content; `client` is the global config without
its projects; `projects` lists {path, last_session_id, last_cost}. With PROJECT: rows of {home, path, ...} with everything
that the client remembers about it. Fields that Recollect has no name for stand under `extra`, named as on disk; what is
secret reads "(masked)".
"""

from __future__ import annotations

from typing import Any

import click

from recollect.cli.command_run import CommandRun, command
from recollect.cli.plain import plain
from recollect.errors import NotFound
from recollect.export.terminal_text import safe_line
from recollect.library.project_paths import ProjectFilter
from recollect.store.config_files import (
    cleanup_days,
    client_config,
    config_backups,
    definitions,
    plugins,
    settings_files,
)
from recollect.store.home import Home
from recollect.store.side_files import StoredDocument, memories

LONGEST_TEXT = 160


@command("config", epilog="recollect config\nrecollect config .\nrecollect config /w/app --json")
@click.argument("project", required=False)
def config(run: CommandRun, project: str | None) -> None:
    """Settings, MCP servers, plugins and definitions of every home, secrets masked.

    With PROJECT (its path, the last parts of it, or a folder like `.`) what the client remembers about that project.
    """
    homes = run.library.homes
    rows = [_home_row(home) for home in homes] if project is None else _project_rows(homes, project)
    if not run.is_text:
        run.rows(rows, total=len(rows))
        return
    for row in rows:
        run.print_styled(run.style(str(row["home"] if project is None else row["path"]), bold=True))
        for line in _tree({key: value for key, value in row.items() if key != "home"}, "  "):
            run.print(line)


def _home_row(home: Home) -> dict[str, Any]:
    client = client_config(home)
    found = plugins(home)
    shown = plain(client) if client is not None else None
    projects = shown.pop("projects") if shown is not None else {}
    return {
        "home": str(home.root),
        "config_file": str(home.config_file) if client is not None else None,
        "cleanup_days": cleanup_days(home),
        "settings": plain(settings_files(home)),
        "client": shown,
        "projects": [
            {"path": path, "last_session_id": project["last_session_id"], "last_cost": project["last_cost"]}
            for path, project in projects.items()
        ],
        "plugins": {"installed": plain(found.installed), "marketplaces": plain(found.marketplaces)},
        "definitions": {
            folder: [_document_row(document) for document in documents]
            for folder, documents in definitions(home).items()
        },
        "memory": {folder: [document.name for document in documents] for folder, documents in memories(home).items()},
        "config_backups": len(config_backups(home)),
    }


def _document_row(found: StoredDocument) -> dict[str, Any]:
    return {
        "name": found.name,
        "description": found.document.description,
        "path": str(found.file.path),
        "problem": found.document.problem,
    }


def _project_rows(homes: list[Home], asked: str) -> list[dict[str, Any]]:
    known = [
        (home, path, project)
        for home in homes
        if (client := client_config(home)) is not None
        for path, project in client.projects.items()
    ]
    wanted = ProjectFilter(asked)
    itself = [row for row in known if wanted.fits(row[1], below=False)]
    found = itself or [row for row in known if wanted.fits(row[1])]
    if not found:
        names = sorted({path for _, path, _ in known}, key=lambda path: asked not in path)
        raise NotFound(
            f"no project {asked!r} in the client's configuration",
            slug="no-such-project",
            nearest=tuple(names[:5]),
            hint="recollect config lists the projects",
        )
    return [{"home": str(home.root), "path": path, **plain(project)} for home, path, project in found]


def _tree(value: Any, indent: str) -> list[str]:
    """Indented `name: value` lines; what is empty is left out, long texts are cut."""
    lines: list[str] = []
    pairs = value.items() if isinstance(value, dict) else (("-", item) for item in value)
    for name, item in pairs:
        label = safe_line(str(name)) if name == "-" else f"{safe_line(str(name))}:"
        if item is None or item in ("", [], {}):
            continue
        if isinstance(item, dict | list):
            below = _tree(item, indent + "  ")
            if below and name == "-":  # the first line of a list's item stands beside its dash
                below = [f"{indent}- {below[0].lstrip()}", *below[1:]]
            elif below:
                below = [f"{indent}{label}", *below]
            lines += below
        else:
            text = str(item).lower() if isinstance(item, bool) else safe_line(str(item), LONGEST_TEXT)
            lines.append(f"{indent}{label} {text}")
    return lines
