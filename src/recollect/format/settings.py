"""Parse `settings.json`, `settings.local.json` and `.claude.json` (in 0.2.126 - 1.0.0 `config.json`).

These files may hold keys and account data. The parsed values never do: all of them went through `mask_secrets`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from recollect.format.json_file import Fields, decode_json_file
from recollect.format.masking import mask_secrets

DEFAULT_CLEANUP_DAYS = 30


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
    return Settings(
        model=fields.text("model"),
        cleanup_period_days=fields.whole("cleanupPeriodDays"),
        permissions=_permissions(fields.mapping("permissions")),
        env=fields.mapping("env"),
        hooks=fields.mapping("hooks"),
        enabled_plugins=fields.mapping("enabledPlugins"),
        output_style=fields.text("outputStyle"),
        extra=fields.rest,
        problem=file.problem,
    )


def _permissions(value: dict[str, Any]) -> Permissions:
    fields = Fields(value)
    return Permissions(
        allow=fields.texts("allow"),
        deny=fields.texts("deny"),
        ask=fields.texts("ask"),
        default_mode=fields.text("defaultMode"),
        additional_directories=fields.texts("additionalDirectories"),
        extra=fields.rest,
    )


def parse_client_config(data: bytes) -> ClientConfig:
    file = decode_json_file(data, expect=dict)
    account = file.mapping.get("oauthAccount")
    fields = Fields(mask_secrets(file.value))
    projects = _objects(fields, "projects")
    return ClientConfig(
        num_startups=fields.whole("numStartups"),
        first_start_time=fields.moment_iso("firstStartTime"),
        first_start_version=fields.text("firstStartVersion"),
        install_method=fields.text("installMethod"),
        auto_updates=fields.flag("autoUpdates"),
        theme=fields.text("theme"),
        editor_mode=fields.text("editorMode"),
        signed_in=isinstance(account, dict) and bool(account),
        mcp_servers=_mcp_servers(fields),
        projects={path: _project(value) for path, value in projects.items()},
        cached_gates=fields.mapping("cachedStatsigGates"),
        cached_configs=fields.mapping("cachedDynamicConfigs") or fields.mapping("cachedGrowthBookFeatures"),
        extra=fields.rest,
        problem=file.problem,
    )


def parse_mcp_servers(data: bytes) -> tuple[dict[str, McpServer], str | None]:
    """Return the servers of an `.mcp.json`, and what is wrong with the file (None for a sound one)."""
    file = decode_json_file(data, expect=dict)
    return _mcp_servers(Fields(mask_secrets(file.value))), file.problem


def _project(value: dict[str, Any]) -> ProjectConfig:
    fields = Fields(value)
    usage = _objects(fields, "lastModelUsage")
    return ProjectConfig(
        allowed_tools=fields.texts("allowedTools"),
        mcp_servers=_mcp_servers(fields),
        enabled_mcpjson_servers=fields.texts("enabledMcpjsonServers"),
        disabled_mcpjson_servers=fields.texts("disabledMcpjsonServers"),
        has_trust_dialog_accepted=fields.flag("hasTrustDialogAccepted"),
        last_session_id=fields.text("lastSessionId"),
        last_version=fields.text("lastVersionBase"),
        last_start_time=fields.moment("lastStartTime"),
        last_cost=fields.number("lastCost"),
        last_duration_ms=fields.number("lastDuration"),
        last_api_duration_ms=fields.number("lastAPIDuration"),
        last_tool_duration_ms=fields.number("lastToolDuration"),
        last_lines_added=fields.whole("lastLinesAdded"),
        last_lines_removed=fields.whole("lastLinesRemoved"),
        last_input_tokens=fields.whole("lastTotalInputTokens"),
        last_output_tokens=fields.whole("lastTotalOutputTokens"),
        last_cache_creation_input_tokens=fields.whole("lastTotalCacheCreationInputTokens"),
        last_cache_read_input_tokens=fields.whole("lastTotalCacheReadInputTokens"),
        last_model_usage={model: parse_model_usage(figures) for model, figures in usage.items()},
        extra=fields.rest,
    )


def parse_model_usage(value: dict[str, Any]) -> ModelUsage:
    """Parse the usage of one model in `.claude.json` or `stats-cache.json`."""
    fields = Fields(value)
    return ModelUsage(
        input_tokens=fields.whole("inputTokens"),
        output_tokens=fields.whole("outputTokens"),
        thinking_tokens=fields.whole("thinkingTokens"),
        cache_read_input_tokens=fields.whole("cacheReadInputTokens"),
        cache_creation_input_tokens=fields.whole("cacheCreationInputTokens"),
        web_search_requests=fields.whole("webSearchRequests"),
        cost_usd=fields.number("costUSD"),
        extra=fields.rest,
    )


def _mcp_servers(fields: Fields) -> dict[str, McpServer]:
    return {name: _mcp_server(value) for name, value in _objects(fields, "mcpServers").items()}


def _mcp_server(value: dict[str, Any]) -> McpServer:
    fields = Fields(value)
    return McpServer(
        type=fields.text("type"),
        command=fields.text("command"),
        args=fields.texts("args"),
        url=fields.text("url"),
        env=fields.mapping("env"),
        headers=fields.mapping("headers"),
        extra=fields.rest,
    )


def _objects(fields: Fields, key: str) -> dict[str, dict[str, Any]]:
    """Take the objects of a mapping; values that are not objects stay in the rest under the same key."""
    mapping = fields.mapping(key)
    strange = {name: value for name, value in mapping.items() if not isinstance(value, dict)}
    if strange:
        fields.rest[key] = strange
    return {name: value for name, value in mapping.items() if isinstance(value, dict)}
