"""Build settings, global configuration, feature flags, extensions and the secrets of a home."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from .encoding import encode_file
from .identifiers import DEFAULT_START, hex_id, milliseconds, parse_time, timestamp, uuid_from

# Hold the files of a home in memory until they are written with fixed modification times.


@dataclass(frozen=True)
class StagedFile:
    content: bytes
    modified: datetime | None = None
    mode: int = 0o600


class Staging:
    """Relative paths with content. Nothing touches the disk before `write`."""

    def __init__(self, root: str | Path, start: str | datetime = DEFAULT_START) -> None:
        self.root = Path(root)
        self.start = parse_time(start)
        self.files: dict[str, StagedFile] = {}
        self.links: dict[str, str] = {}
        self.folders: set[str] = set()

    def file(
        self,
        path: str,
        content: bytes | str,
        *,
        modified: str | datetime | None = None,
        mode: int = 0o600,
    ) -> str:
        """Stage any file; returns its absolute path. Without `modified` it gets the home's latest moment."""
        data = content.encode() if isinstance(content, str) else content
        when = None if modified is None else parse_time(modified)
        self.files[str(PurePosixPath(path))] = StagedFile(data, when, mode)
        return str(self.root / path)

    def json(self, path: str, value: Any, *, modified: str | datetime | None = None) -> str:
        return self.file(path, encode_file(value), modified=modified)

    def folder(self, path: str) -> str:
        """Stage an empty folder."""
        self.folders.add(path)
        return str(self.root / path)

    def link(self, path: str, target: str) -> str:
        """Stage a symbolic link; `target` is written as it is."""
        self.links[path] = target
        return str(self.root / path)

    def latest(self) -> datetime:
        return max([self.start, *(file.modified for file in self.files.values() if file.modified is not None)])

    def write(self) -> Path:
        """Write everything, set the times, and return the root."""
        self.root.mkdir(parents=True, exist_ok=True)
        for name in sorted(self.folders):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        latest = self.latest()
        for name, staged in sorted(self.files.items()):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(staged.content)
            path.chmod(staged.mode)
            seconds = (staged.modified or latest).timestamp()
            os.utime(path, (seconds, seconds))
        for name, target in sorted(self.links.items()):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            try:
                path.symlink_to(target)
            except OSError:  # no right to create links, as on most Windows machines
                path.write_bytes(self.files[str(PurePosixPath(name).parent / target)].content)
        return self.root


SECRET = "SECRET-MUST-NEVER-SHOW-7f3a91"
"""Part of every secret of a built home: no output may ever contain it."""


class ConfigFiles(Staging):
    """The configuration files of a home."""

    def settings(self, values: Mapping[str, Any] | None = None, *, local: bool = False) -> str:
        name = "settings.local.json" if local else "settings.json"
        return self.json(name, dict(values) if values is not None else {"cleanupPeriodDays": 30, "model": "opus"})

    def project_config(
        self,
        session_id: str | None = None,
        *,
        cost: float = 0.42,
        mcp_servers: Mapping[str, Any] | None = None,
        models: Mapping[str, Mapping[str, Any]] | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """Return one project's part of the global configuration, with the figures of its last session."""
        config: dict[str, Any] = {
            "allowedTools": [],
            "mcpContextUris": [],
            "mcpServers": dict(mcp_servers or {}),
            "enabledMcpjsonServers": [],
            "disabledMcpjsonServers": [],
            "hasTrustDialogAccepted": True,
        }
        if session_id is not None:
            config |= {
                "lastCost": cost,
                "lastAPIDuration": 61_000,
                "lastToolDuration": 9_000,
                "lastDuration": 240_000,
                "lastLinesAdded": 12,
                "lastLinesRemoved": 3,
                "lastTotalInputTokens": 900,
                "lastTotalOutputTokens": 2_400,
                "lastTotalCacheCreationInputTokens": 30_000,
                "lastTotalCacheReadInputTokens": 410_000,
                "lastTotalWebSearchRequests": 0,
                "lastModelUsage": {name: dict(usage) for name, usage in (models or {}).items()},
                "lastSessionId": session_id,
            }
        return config | fields

    def global_config(
        self,
        projects: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        mcp_servers: Mapping[str, Any] | None = None,
        name: str = ".claude.json",
        **fields: Any,
    ) -> str:
        """Stage the global configuration, with an account whose tokens are secrets. `name` may be `../.claude.json`."""
        config: dict[str, Any] = {
            "numStartups": 17,
            "firstStartTime": timestamp(self.start),
            "userID": hex_id(64, "user"),
            "projects": {path: dict(project) for path, project in (projects or {}).items()},
            "mcpServers": dict(mcp_servers or {}),
            "oauthAccount": {
                "accountUuid": uuid_from("account"),
                "emailAddress": "dev@example.invalid",
                "organizationUuid": uuid_from("organization"),
                "accessToken": SECRET,
            },
            "primaryApiKey": SECRET,
            "customApiKeyResponses": {"approved": [SECRET], "rejected": []},
            "hasCompletedOnboarding": True,
        }
        return self.json(name, config | fields)

    def config_backup(self, name: str | None = None) -> str:
        """Stage a backup: `backups/.claude.json.backup.<ms>` since 2.1.50, `.claude.json.backup` before."""
        content = json.dumps({"firstStartTime": timestamp(self.start), "oauthAccount": {"accessToken": SECRET}})
        return self.file(name or f"backups/.claude.json.backup.{milliseconds(self.start)}", content)

    def credentials(self) -> str:
        token = {"accessToken": SECRET, "refreshToken": SECRET, "expiresAt": milliseconds(self.start) + 3_600_000}
        return self.json(".credentials.json", {"claudeAiOauth": token | {"scopes": ["user:inference"]}})

    def session_key(self, pid: int) -> str:
        """Stage the token with which running sessions talk to each other."""
        return self.file(f"sessions/{pid}.{hex_id(64, 'key', pid)}.key", SECRET)

    def ide_lock(self, port: int, workspace: str, ide: str = "Visual Studio Code") -> str:
        value = {"pid": 4242, "workspaceFolders": [workspace], "ideName": ide, "transport": "ws", "authToken": SECRET}
        return self.file(f"ide/{port}.lock", json.dumps(value, separators=(",", ":")))

    def statsig(
        self,
        gates: Mapping[str, bool] | None = None,
        configs: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        data_as_text: bool = True,
    ) -> str:
        """Stage cached feature flags: JSON text inside JSON as in Claude Code, or nested with `data_as_text=False`."""
        gates = {"example_gate": True, "other_gate": False} if gates is None else gates
        configs = {"example_config": {"limit": 3, "label": "on"}} if configs is None else configs
        received = milliseconds(self.start)
        rule = {"rule_id": "default", "secondary_exposures": []}
        data = {
            "feature_gates": {key: {"name": key, "value": value, **rule} for key, value in gates.items()},
            "dynamic_configs": {key: {"name": key, "value": dict(value), **rule} for key, value in configs.items()},
            "layer_configs": {},
            "has_updates": True,
            "time": received,
        }
        user = hex_id(10, "statsig")
        cached = f"statsig.cached.evaluations.{user}"
        value = {
            "source": "Network",
            "data": json.dumps(data, separators=(",", ":")) if data_as_text else data,
            "receivedAt": received,
            "stableID": uuid_from("stable"),
            "fullUserHash": hex_id(10, "full"),
        }
        self.json("statsig/statsig.last_modified_time.evaluations", {cached: received})
        self.file(f"statsig/statsig.stable_id.{user}", json.dumps(uuid_from("stable")))
        return self.file(f"statsig/{cached}", json.dumps(value, separators=(",", ":")))

    def command(self, name: str, text: str) -> str:
        return self.file(f"commands/{name}.md", text)

    def subagent_definition(self, name: str, description: str, text: str, tools: Sequence[str] = ()) -> str:
        listed = f"tools: {', '.join(tools)}\n" if tools else ""
        return self.file(f"agents/{name}.md", f"---\nname: {name}\ndescription: {description}\n{listed}---\n\n{text}\n")

    def skill(self, name: str, description: str, text: str) -> str:
        return self.file(f"skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: {description}\n---\n\n{text}\n")

    def plugin(self, name: str, marketplace: str = "example-market", version: str = "1.0.0") -> str:
        folder = f"plugins/cache/{marketplace}/{name}/{version}"
        self.json(f"{folder}/.claude-plugin/plugin.json", {"name": name, "version": version, "description": "A plugin"})
        installed = {
            "version": version,
            "installedAt": timestamp(self.start),
            "lastUpdated": timestamp(self.start),
            "installPath": str(self.root / folder),
            "isLocal": False,
        }
        known = {marketplace: {"source": {"source": "github", "repo": "example/market"}, "installLocation": "-"}}
        self.json("plugins/known_marketplaces.json", known)
        return self.json(
            "plugins/installed_plugins.json", {"version": 1, "plugins": {f"{name}@{marketplace}": installed}}
        )

    def claude_md(self, text: str = "# How I like to work\n\nSmall steps, tests first.\n") -> str:
        return self.file("CLAUDE.md", text)
