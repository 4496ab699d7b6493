"""Parse `settings.json`, `settings.local.json` and `.claude.json` (in 0.2.126 - 1.0.0 `config.json`).

These files may hold keys and account data. The parsed values never do: all of them went through `mask_secrets`.

A broken global config is rebuilt from its newest intact backup and the members that are still readable in the broken file.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any, Final

import msgspec

from recollect.format.json_file import Fields, decode_json_file, moment_of_ms
from recollect.format.masking import mask_secrets
from recollect.format.salvage import skim_object

DEFAULT_CLEANUP_DAYS = 30
_CONFIG_BACKUP = re.compile(r"\.claude\.json\.(?:backup|corrupted)(?:\.(?P<ms>[0-9]{1,16}))?", re.ASCII)
_USAGE_NAMES: Final = {"cost_usd": "costUSD"}
_PROJECT_NAMES: Final = {
    "last_version": "lastVersionBase",
    "last_duration_ms": "lastDuration",
    "last_api_duration_ms": "lastAPIDuration",
    "last_tool_duration_ms": "lastToolDuration",
    "last_input_tokens": "lastTotalInputTokens",
    "last_output_tokens": "lastTotalOutputTokens",
    "last_cache_creation_input_tokens": "lastTotalCacheCreationInputTokens",
    "last_cache_read_input_tokens": "lastTotalCacheReadInputTokens",
}


class Permissions(msgspec.Struct, frozen=True, kw_only=True):
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    default_mode: str | None = None
    additional_directories: tuple[str, ...] = ()
    extra: dict[str, Any] = {}


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """A settings file. `cleanup_period_days` is how long Claude Code keeps transcripts (30 days where it is not set)."""

    model: str | None = None
    cleanup_period_days: int | None = None
    permissions: Permissions = Permissions()
    env: dict[str, Any] = {}
    hooks: dict[str, Any] = {}
    enabled_plugins: dict[str, Any] = {}
    output_style: str | None = None
    extra: dict[str, Any] = {}
    problem: str | None = None


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """An MCP server: a command with arguments, or a URL. Variables and headers are masked."""

    type: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    url: str | None = None
    env: dict[str, Any] = {}
    headers: dict[str, Any] = {}
    extra: dict[str, Any] = {}


class ModelUsage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens and cost of one model, as summed up by Claude Code."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    thinking_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    web_search_requests: int | None = None
    cost_usd: float | None = None
    extra: dict[str, Any] = {}


class ProjectConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What Claude Code stores about one project; the `last_...` values are those of its last session."""

    allowed_tools: tuple[str, ...] = ()
    mcp_servers: dict[str, McpServer] = {}
    enabled_mcpjson_servers: tuple[str, ...] = ()
    disabled_mcpjson_servers: tuple[str, ...] = ()
    has_trust_dialog_accepted: bool | None = None
    last_session_id: str | None = None
    last_version: str | None = None
    last_start_time: datetime | None = None
    last_cost: float | None = None
    last_duration_ms: float | None = None
    last_api_duration_ms: float | None = None
    last_tool_duration_ms: float | None = None
    last_lines_added: int | None = None
    last_lines_removed: int | None = None
    last_input_tokens: int | None = None
    last_output_tokens: int | None = None
    last_cache_creation_input_tokens: int | None = None
    last_cache_read_input_tokens: int | None = None
    last_model_usage: dict[str, ModelUsage] = {}
    extra: dict[str, Any] = {}


class ClientConfig(msgspec.Struct, frozen=True, kw_only=True):
    """The global config of Claude Code. `signed_in` is True where an account is stored; the account itself is dropped."""

    num_startups: int | None = None
    first_start_time: datetime | None = None
    first_start_version: str | None = None
    install_method: str | None = None
    auto_updates: bool | None = None
    theme: str | None = None
    editor_mode: str | None = None
    signed_in: bool = False
    mcp_servers: dict[str, McpServer] = {}
    projects: dict[str, ProjectConfig] = {}
    cached_gates: dict[str, Any] = {}
    cached_configs: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    problem: str | None = None


def parse_settings(data: bytes) -> Settings:
    file = decode_json_file(data, expect=dict)
    fields = Fields(mask_secrets(file.value))
    return fields.build(
        Settings, permissions=Fields(fields.mapping("permissions")).build(Permissions), problem=file.problem
    )


def parse_client_config(data: bytes) -> ClientConfig:
    file = decode_json_file(data, expect=dict)
    account = file.mapping.get("oauthAccount")
    fields = Fields(mask_secrets(file.value))
    return fields.build(
        ClientConfig,
        {"cached_gates": "cachedStatsigGates"},
        signed_in=isinstance(account, dict) and bool(account),
        mcp_servers=_mcp_servers(fields),
        projects={path: _project(value) for path, value in fields.objects("projects").items()},
        cached_configs=fields.mapping("cachedDynamicConfigs") or fields.mapping("cachedGrowthBookFeatures"),
        problem=file.problem,
    )


def _project(value: dict[str, Any]) -> ProjectConfig:
    fields = Fields(value)
    usage = {
        model: Fields(item).build(ModelUsage, _USAGE_NAMES) for model, item in fields.objects("lastModelUsage").items()
    }
    return fields.build(ProjectConfig, _PROJECT_NAMES, mcp_servers=_mcp_servers(fields), last_model_usage=usage)


def _mcp_servers(fields: Fields) -> dict[str, McpServer]:
    return {name: Fields(value).build(McpServer) for name, value in fields.objects("mcpServers").items()}


def config_backup_time(name: str) -> tuple[bool, datetime | None]:
    """Return whether a file name is that of a backup of `.claude.json`, and its time (part of the name since 2.1.50)."""
    match = _CONFIG_BACKUP.fullmatch(name)
    if match is None:
        return False, None
    return True, moment_of_ms(int(match["ms"])) if match["ms"] else None


def whole_object(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a file; None where the file is damaged, or the object is empty."""
    file = decode_json_file(data, expect=dict)
    return file.value if file.problem is None and isinstance(file.value, dict) and file.value else None


def still_said(data: bytes) -> dict[str, Any]:
    """Return the members of a broken object whose values are intact."""
    start = data.find(b"{")
    if start < 0:
        return {}
    found: dict[str, Any] = {}
    for name, raw in skim_object(data, start).fields.items():
        member = decode_json_file(raw)
        if member.problem is None:
            found[name] = member.value
    return found


def merged(backup: dict[str, Any], broken: bytes) -> dict[str, Any]:
    """Return the backup updated with the readable members of the broken file.

    Projects are merged one by one, so that no project is lost.
    """
    newer = still_said(broken)
    result = {**backup, **newer}
    old, new = backup.get("projects"), newer.get("projects")
    if isinstance(old, dict) and isinstance(new, dict):
        result["projects"] = {**old, **new}
    return result


def config_bytes(value: dict[str, Any]) -> bytes:
    """Encode a config as Claude Code writes it: indented by two spaces, with plain characters."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
