"""No secret survives, and what is no secret is still there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.masking import MASK, is_secret_name, mask_secrets, mask_text

HIDE_ME = "hide-me-please"


@pytest.mark.parametrize(
    "value",
    [
        {"oauthAccount": {"emailAddress": HIDE_ME, "accountUuid": HIDE_ME}},
        {"customApiKeyResponses": {"approved": [HIDE_ME]}},
        {"primaryApiKey": HIDE_ME},
        {"claudeAiOauth": {"scopes": [HIDE_ME]}},
        {"userID": HIDE_ME},
        {"env": {"GITHUB_TOKEN": HIDE_ME, "STRIPE_KEY": HIDE_ME, "DB_PASSWORD": HIDE_ME}},
        {"env": {"ANTHROPIC_AUTH_TOKEN": HIDE_ME, "ANTHROPIC_CUSTOM_HEADERS": f"X-Auth: {HIDE_ME}"}},
        {"mcpServers": {"a": {"headers": {"Authorization": HIDE_ME, "X-Whatever": HIDE_ME}}}},
        {"mcpServers": {"a": {"env": {"API_KEY": HIDE_ME}}}},
        {"mcpServers": {"a": {"args": ["--api-key", HIDE_ME, "--port", "80"]}}},
        {"mcpServers": {"a": {"args": [f"--token={HIDE_ME}"]}}},
        {"mcpServers": {"a": {"args": ["--header", f"Authorization: {HIDE_ME}"]}}},
        {"mcpServers": {"a": {"url": f"https://mcp.example/sse?api_key={HIDE_ME}&region=eu"}}},
        {"mcpServers": {"a": {"url": f"https://user:{HIDE_ME}@mcp.example/sse"}}},
        {"projects": {"/w/app": {"mcpServers": {"x": {"env": {"MY_SECRET": HIDE_ME}}}}}},
        {"password": [HIDE_ME, {"deep": HIDE_ME}]},
        {"hooks": {"Stop": [{"command": f"curl -H 'Authorization: Bearer {HIDE_ME}' https://x.example"}]}},
        {"hooks": {"Stop": [{"command": f"export SLACK_TOKEN={HIDE_ME}; notify"}]}},
    ],
)
def test_secrets_by_name(value: Any) -> None:
    assert HIDE_ME not in repr(mask_secrets(value))
    assert MASK in repr(mask_secrets(value))


@pytest.mark.parametrize(
    "secret",
    [
        "sk-" + "ant-api03-" + "a1B2" * 8,
        "gh" + "p_" + "a1B2" * 9,
        "github" + "_pat_" + "a1B2" * 9,
        "xo" + "xb-123456789012-abcdefghijkl",
        "AK" + "IA" + "ABCDEFGH12345678",
        "AI" + "za" + "a1B2c" * 7,
        "ey" + "JhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
        "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----",
        "aB3" * 12,
    ],
)
def test_secrets_by_shape(secret: str) -> None:
    masked = mask_secrets({"note": f"see {secret}", "list": [secret]})
    assert masked == {"note": f"see {MASK}", "list": [MASK]}


def test_secrets_as_keys() -> None:
    key = "sk-" + "ant-api03-" + "a1B2" * 8
    assert mask_secrets({"seen": {key: 1}}) == {"seen": {MASK: 1}}


def test_what_is_no_secret_stays() -> None:
    value = {
        "numStartups": 5,
        "theme": "dark",
        "editorMode": "vim",
        "hasTrustDialogAccepted": True,
        "bypassPermissionsModeAccepted": True,
        "keybindings": {"toggleKey": "ctrl+o"},
        "lastTotalInputTokens": 42501,
        "tokenThreshold": 9000,
        "lastSessionId": "6f2d0c1e-1111-4222-8333-444455556666",
        "gitCommitSha": "0123456789abcdef0123456789abcdef01234567",
        "permissions": {"allow": ["Bash(npm run test:*)", "WebFetch(domain:docs.python.org)", "Read(~/.zshrc)"]},
        "projects": {"/home/me/secret-project": {"lastCost": 0.5, "allowedTools": []}},
        "mcpServers": {"auth-server": {"command": "npx", "args": ["-y", "@scope/server", "--port", "80"]}},
        "env": {"PATH": "/usr/bin", "DEBUG": "1"},
        "enabledPlugins": {"token-counter@market": True},
        "model": "claude-opus-4-5-20251101",
        "nothing": None,
    }
    assert mask_secrets(value) == value


def test_the_shape_of_a_secret_stays_visible() -> None:
    assert mask_secrets({"env": {"API_KEY": "x", "EMPTY_TOKEN": ""}}) == {"env": {"API_KEY": MASK, "EMPTY_TOKEN": ""}}
    assert mask_secrets({"oauthAccount": {}, "pin": 1234}) == {"oauthAccount": {}, "pin": MASK}


def test_the_value_is_not_changed() -> None:
    value = {"env": {"API_KEY": "x"}}
    mask_secrets(value)
    assert value == {"env": {"API_KEY": "x"}}


def test_url_keeps_what_is_no_secret() -> None:
    assert mask_text("https://a.example/x?token=abc&page=2") == f"https://a.example/x?token={MASK}&page=2"


@pytest.mark.parametrize(
    "filling", ["a", "A1b-", " ", "token=", "a ", 'token="', "://", "sk-", "eyJ.", "eyJ-", "bearer "]
)
def test_long_texts_are_no_trap(filling: str) -> None:
    """With time that grows by the square of the length this would take hours."""
    text = filling * (200_000 // len(filling))
    assert mask_text(f"{text} plain") is not None


def test_endless_nesting_is_masked_as_a_whole() -> None:
    value: Any = "x"
    for _ in range(100_000):
        value = [value]
    assert mask_secrets(value) == MASK


@pytest.mark.parametrize(
    "name", ["apiKey", "API_KEY", "x-api-key", "accessToken", "clientSecret", "authtoken", "dbPassword"]
)
def test_secret_names(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["key", "keyboard", "tokens", "maxTokens", "author", "path", "passive", "compass", ""])
def test_other_names(name: str) -> None:
    assert not is_secret_name(name)


@given(st.text(max_size=80))
def test_masking_twice_changes_nothing(text: str) -> None:
    once = mask_text(text)
    assert mask_text(once) == once
