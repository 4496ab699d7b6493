"""Settings and the global configuration: typed, masked, nothing lost."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.masking import MASK
from recollect.format.settings import (
    McpServer,
    ModelUsage,
    Permissions,
    config_backup_time,
    parse_client_config,
    parse_settings,
)

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_settings() -> None:
    settings = parse_settings(
        b"""{"model": "opus", "cleanupPeriodDays": 90, "hooks": {"Stop": []},
        "env": {"DEBUG": "1", "GH_TOKEN": "t0ps3cret"},
        "permissions": {"allow": ["Read"], "deny": ["Bash(rm:*)"], "defaultMode": "plan",
                        "additionalDirectories": ["/x"], "new": 1},
        "statusLine": {"type": "command"}, "apiKeyHelper": "/bin/get-key"}"""
    )
    assert (settings.model, settings.cleanup_period_days) == ("opus", 90)
    assert settings.env == {"DEBUG": "1", "GH_TOKEN": MASK}
    assert settings.permissions == Permissions(
        allow=("Read",),
        deny=("Bash(rm:*)",),
        default_mode="plan",
        additional_directories=("/x",),
        extra={"new": 1},
    )
    assert settings.extra == {"statusLine": {"type": "command"}, "apiKeyHelper": MASK}


def test_broken_settings() -> None:
    assert parse_settings(b"{").problem == "not JSON at character 1"
    assert parse_settings(b"[]").problem == "expected an object, found a list"
    assert parse_settings(b'{"permissions": "all", "cleanupPeriodDays": "never"}').extra == {
        "permissions": "all",
        "cleanupPeriodDays": "never",
    }


CONFIG = {
    "numStartups": 3,
    "firstStartTime": "2026-03-02T09:00:00.000Z",
    "oauthAccount": {"emailAddress": "me@example.invalid"},
    "primaryApiKey": "t0ps3cret",
    "userID": "0" * 64,
    "mcpServers": {
        "files": {"type": "stdio", "command": "npx", "args": ["-y", "server"], "env": {"API_KEY": "t0ps3cret"}},
        "odd": "text",
    },
    "cachedStatsigGates": {"tengu_x": True},
    "projects": {
        "/w/app": {
            "allowedTools": ["Read"],
            "lastCost": 0.72,
            "lastSessionId": "s-1",
            "lastStartTime": 1772442000000,
            "lastTotalInputTokens": 42501,
            "lastModelUsage": {"claude-opus": {"inputTokens": 10, "costUSD": 0.7, "contextWindow": 200000}},
            "history": [{"display": "hello"}],
        },
        "/w/broken": None,
    },
}


def test_client_config() -> None:
    config = parse_client_config(json.dumps(CONFIG).encode())
    assert config.problem is None
    assert config.signed_in
    assert config.first_start_time == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert config.mcp_servers == {
        "files": McpServer(type="stdio", command="npx", args=("-y", "server"), env={"API_KEY": MASK})
    }
    assert config.cached_gates == {"tengu_x": True}
    project = config.projects["/w/app"]
    assert (project.last_cost, project.last_session_id, project.last_input_tokens) == (0.72, "s-1", 42501)
    assert project.last_start_time == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert project.last_model_usage == {
        "claude-opus": ModelUsage(input_tokens=10, cost_usd=0.7, extra={"contextWindow": 200000})
    }
    assert project.extra == {"history": [{"display": "hello"}]}
    assert config.extra["projects"] == {"/w/broken": None}
    assert config.extra["mcpServers"] == {"odd": "text"}


def test_no_secret_is_kept() -> None:
    shown = repr(parse_client_config(json.dumps(CONFIG).encode()))
    assert "t0ps3cret" not in shown
    assert "me@example.invalid" not in shown
    assert "0" * 64 not in shown


def test_nobody_signed_in() -> None:
    assert not parse_client_config(b'{"oauthAccount": null}').signed_in


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (".claude.json.backup", (True, None)),
        (".claude.json.backup.1772442000000", (True, NINE)),
        (".claude.json", (False, None)),
        (".claude.json.backup.x", (False, None)),
    ],
)
def test_config_backups(name: str, expected: tuple[bool, datetime | None]) -> None:
    assert config_backup_time(name) == expected


@given(st.binary(max_size=80))
def test_no_bytes_raise(data: bytes) -> None:
    is_object = data.strip().startswith(b"{")
    assert parse_settings(data).problem is not None or is_object
    assert parse_client_config(data).problem is not None or is_object
