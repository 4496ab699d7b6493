"""Build settings, global configuration, feature flags, extensions and the secrets of a home."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from recollect.testing.identifiers import hex_id, milliseconds, timestamp, uuid_from
from recollect.testing.staging import Staging

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
