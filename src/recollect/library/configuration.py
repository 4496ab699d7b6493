"""Read the configuration of Claude Code: settings, plugins, definitions, what it stores about projects, flags.

Everything is plain data with secrets masked; fields that Recollect has no name for are under `extra`, named as on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import NotFound
from ..format.times import to_iso
from ..store.config_files import (
    CachedFlags,
    cached_flags,
    cleanup_days,
    client_config,
    config_backups,
    definitions,
    plugins,
    settings_files,
)
from ..store.home import Home
from ..store.side_files import StoredDocument, memories
from .project_paths import ProjectFilter

if TYPE_CHECKING:
    from .library import Library


def config(library: Library, project: str | None = None) -> list[dict[str, Any]]:
    """Return the configuration of each home; or with `project`, what Claude Code stores about the projects of that name."""
    return [_home_row(home) for home in library.homes] if project is None else _project_rows(library.homes, project)


def _home_row(home: Home) -> dict[str, Any]:
    client = client_config(home)
    found = plugins(home)
    shown = _plain(client) if client is not None else None
    projects = shown.pop("projects") if shown is not None else {}
    return {
        "home": str(home.root),
        "config_file": str(home.config_file) if client is not None else None,
        "cleanup_days": cleanup_days(home),
        "settings": _plain(settings_files(home)),
        "client": shown,
        "projects": [
            {"path": path, "last_session_id": project["last_session_id"], "last_cost": project["last_cost"]}
            for path, project in projects.items()
        ],
        "plugins": {"installed": _plain(found.installed), "marketplaces": _plain(found.marketplaces)},
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
            f"no project {asked!r} in the configuration of Claude Code",
            slug="no-such-project",
            nearest=tuple(names[:5]),
            hint="recollect config lists the projects",
        )
    return [{"home": str(home.root), "path": path, **_plain(project)} for home, path, project in found]


@dataclass
class Flags:
    """Feature gates and dynamic configs that Claude Code has cached."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    """{kind, name, value, rule_id, source, renewed, home}; `kind` is gate, config or layer, `source` the file."""
    problems: list[dict[str, str]] = field(default_factory=list)
    """{path, problem} of files that could not be read."""


def flags(library: Library, name: str | None = None, *, kind: str | None = None) -> Flags:
    """List the flags of the homes; with `name`, those whose name contains it; with `kind`, those of that kind."""
    found = Flags()
    for home in library.homes:
        for cached in cached_flags(home):
            found.rows += _cached_rows(home, cached)
            if cached.evaluations.problem is not None:
                found.problems.append({"path": str(cached.file.path), "problem": cached.evaluations.problem})
        found.rows += _config_rows(home)
    found.rows = [
        row for row in found.rows if (kind is None or row["kind"] == kind) and (name is None or name in row["name"])
    ]
    return found


def _cached_rows(home: Home, cached: CachedFlags) -> Iterator[dict[str, Any]]:
    evaluations = cached.evaluations
    shared = {
        "source": f"statsig/{cached.file.path.name}",
        "renewed": _iso(cached.renewed or evaluations.received_at),
        "home": str(home.root),
    }
    for gate in evaluations.gates:
        yield {"kind": "gate", "name": gate.name or gate.key, "value": gate.value, "rule_id": gate.rule_id, **shared}
    for kind, configs in (("config", evaluations.dynamic_configs), ("layer", evaluations.layer_configs)):
        for config in configs:
            yield {
                "kind": kind,
                "name": config.name or config.key,
                "value": config.value,
                "rule_id": config.rule_id,
                **shared,
            }


def _config_rows(home: Home) -> Iterator[dict[str, Any]]:
    config = client_config(home)
    if config is None:
        return
    shared = {"rule_id": None, "source": home.config_file.name, "renewed": None, "home": str(home.root)}
    for kind, values in (("gate", config.cached_gates), ("config", config.cached_configs)):
        for name, value in values.items():
            yield {"kind": kind, "name": name, "value": value, **shared}


def _plain(value: Any) -> Any:
    """Convert typed values to plain data: attributes by name, times as ISO 8601. Values nested too deeply become a note."""
    try:
        return _as_data(value)
    except RecursionError:
        return "(nested too deeply)"


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else to_iso(moment.timestamp())


def _as_data(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return {name: _as_data(getattr(value, name)) for name in value.__struct_fields__}
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: _as_data(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, dict):
        return {str(key): _as_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_data(item) for item in value]
    if isinstance(value, datetime):
        return _iso(value)
    if isinstance(value, Path):
        return str(value)
    return value
