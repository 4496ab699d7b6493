"""Read the configuration of Claude Code: settings, the global config, feature flags, plugins, definitions.

The parsers of the format room mask all secret values; see `recollect.format.masking`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from recollect.format.plugins import (
    InstalledPlugins,
    Marketplaces,
    parse_installed_plugins,
    parse_marketplaces,
)
from recollect.format.settings import (
    DEFAULT_CLEANUP_DAYS,
    ClientConfig,
    Settings,
    config_backup_time,
    parse_client_config,
    parse_settings,
)
from recollect.format.statsig import (
    EVALUATIONS_PREFIX,
    LAST_MODIFIED_NAME,
    Evaluations,
    LastModified,
    parse_evaluations,
    parse_last_modified,
)
from recollect.store.home import Home, list_inside
from recollect.store.side_files import FileInfo, StoredDocument, documents_in, info_of, read_if_there, read_parsed

DEFINITION_FOLDERS = ("commands", "agents", "skills", "output-styles")


@dataclass(frozen=True, slots=True)
class CachedFlags:
    """One evaluation file of `statsig/`; `renewed` is its time in the file of last modifications beside it."""

    file: FileInfo
    renewed: datetime | None
    evaluations: Evaluations


@dataclass(frozen=True, slots=True)
class Plugins:
    installed: InstalledPlugins | None = None
    marketplaces: Marketplaces | None = None
    folders: tuple[str, ...] = field(default=())


def settings_files(home: Home) -> dict[str, Settings]:
    """Return the settings of `settings.json` and `settings.local.json` by file name; missing files are left out."""
    found = {
        name: read_if_there(home, home.root / name, parse_settings) for name in ("settings.json", "settings.local.json")
    }
    return {name: settings for name, settings in found.items() if settings is not None}


def cleanup_days(home: Home) -> int:
    """Return after how many days Claude Code deletes transcripts.

    `settings.local.json` wins over `settings.json`; the default is 30.
    """
    files = settings_files(home)
    for name in ("settings.local.json", "settings.json"):
        days = files[name].cleanup_period_days if name in files else None
        if days is not None:
            return days
    return DEFAULT_CLEANUP_DAYS


def client_config(home: Home) -> ClientConfig | None:
    """Return the global config that belongs to the home; None if there is none."""
    return read_if_there(home, home.config_file, parse_client_config)


def config_backups(home: Home) -> list[tuple[FileInfo, datetime | None]]:
    """List the earlier copies of the global config, with the time in their names.

    Their content is not read: it may hold tokens.
    """
    found = []
    for path in [*list_inside(home, home.root), *list_inside(home, home.root / "backups")]:
        is_backup, time = config_backup_time(path.name)
        if is_backup:
            found.append((info_of(path), time))
    return found


def cached_flags(home: Home) -> list[CachedFlags]:
    """Return the feature flags that Claude Code caches in `statsig/`."""
    folder = home.root / "statsig"
    modified = read_if_there(home, folder / LAST_MODIFIED_NAME, parse_last_modified) or LastModified()
    return [
        CachedFlags(info_of(path), modified.times.get(path.name), read_parsed(home, path, parse_evaluations))
        for path in list_inside(home, folder)
        if path.name.startswith(EVALUATIONS_PREFIX)
    ]


def plugins(home: Home) -> Plugins:
    folder = home.root / "plugins"
    return Plugins(
        installed=read_if_there(home, folder / "installed_plugins.json", parse_installed_plugins),
        marketplaces=read_if_there(home, folder / "known_marketplaces.json", parse_marketplaces),
        folders=tuple(path.name for path in list_inside(home, folder) if path.is_dir()),
    )


def definitions(home: Home) -> dict[str, list[StoredDocument]]:
    """Return the user's commands, subagents, skills and output styles, by folder."""
    found = {name: documents_in(home, home.root / name) for name in DEFINITION_FOLDERS}
    found["skills"] = [skill for skill in found["skills"] if _is_definition(skill.file.path)]
    return {name: documents for name, documents in found.items() if documents}


def _is_definition(path: Path) -> bool:
    """Return whether a file in a skill's folder defines the skill: `SKILL.md`, or a link to a skill kept elsewhere."""
    return path.name == "SKILL.md" or path.is_symlink()
