"""Parse the files of `plugins/`: the installed plugins and the marketplaces they come from.

installed_plugins.json   {version: 2, plugins: {"name@market": [{scope, installPath, version, ...}]}};
                         version 1 held one object per name instead of a list
known_marketplaces.json  {market: {source: {source, repo|url|path}, installLocation, lastUpdated}}
config.json              {repositories: {...}}: the older form, before these two files
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from recollect.format.json_file import Fields, decode_json_file
from recollect.format.masking import mask_secrets


class InstalledPlugin(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    scope: str | None = None
    version: str | None = None
    install_path: str | None = None
    project_path: str | None = None
    installed_at: datetime | None = None
    last_updated: datetime | None = None
    git_commit_sha: str | None = None
    extra: dict[str, Any] = {}

    @property
    def name(self) -> str:
        return self.id.partition("@")[0]

    @property
    def marketplace(self) -> str | None:
        return self.id.partition("@")[2] or None


class InstalledPlugins(msgspec.Struct, frozen=True, kw_only=True):
    version: int | None = None
    plugins: tuple[InstalledPlugin, ...] = ()
    extra: dict[str, Any] = {}
    problem: str | None = None


class Marketplace(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    source: dict[str, Any] = {}
    install_location: str | None = None
    last_updated: datetime | None = None
    extra: dict[str, Any] = {}


class Marketplaces(msgspec.Struct, frozen=True, kw_only=True):
    marketplaces: tuple[Marketplace, ...] = ()
    extra: dict[str, Any] = {}
    problem: str | None = None


def parse_installed_plugins(data: bytes) -> InstalledPlugins:
    file = decode_json_file(data, expect=dict)
    fields = Fields(mask_secrets(file.value))
    found: list[InstalledPlugin] = []
    strange: dict[str, Any] = {}
    for plugin_id, value in fields.mapping("plugins").items():
        installs = value if isinstance(value, list) else [value]
        if all(isinstance(install, dict) for install in installs):
            found += [Fields(install).build(InstalledPlugin, id=plugin_id) for install in installs]
        else:
            strange[plugin_id] = value
    if strange:
        fields.rest["plugins"] = strange
    return fields.build(InstalledPlugins, plugins=tuple(found), problem=file.problem)


def parse_marketplaces(data: bytes) -> Marketplaces:
    file = decode_json_file(data, expect=dict)
    fields = Fields(mask_secrets(file.value))
    found = []
    for name, value in list(fields.rest.items()):
        if isinstance(value, dict):
            found.append(Fields(fields.mapping(name)).build(Marketplace, name=name))
    return Marketplaces(marketplaces=tuple(found), extra=fields.rest, problem=file.problem)
