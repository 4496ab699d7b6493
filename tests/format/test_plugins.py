from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from recollect.format.plugins import parse_installed_plugins, parse_marketplaces


def test_both_versions_of_the_list() -> None:
    second = parse_installed_plugins(
        b"""{"version": 2, "plugins": {"a@m": [
        {"scope": "user", "version": "1.0", "installedAt": "2026-03-02T09:00:00Z"},
        {"scope": "project", "projectPath": "/w/app", "odd": 1}], "b@m": "?"}}"""
    )
    assert [(plugin.name, plugin.marketplace, plugin.scope) for plugin in second.plugins] == [
        ("a", "m", "user"),
        ("a", "m", "project"),
    ]
    assert second.plugins[0].installed_at == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert second.plugins[1].extra == {"odd": 1}
    assert second.extra == {"plugins": {"b@m": "?"}}
    first = parse_installed_plugins(b'{"version": 1, "plugins": {"a": {"version": "1.0", "installPath": "/p"}}}')
    assert [(plugin.id, plugin.marketplace, plugin.install_path) for plugin in first.plugins] == [("a", None, "/p")]


def test_marketplaces() -> None:
    known = parse_marketplaces(
        b"""{"m": {"source": {"source": "git", "url": "https://me:t0ps3cret@git.example/m"}, "installLocation": "/x",
        "lastUpdated": "2026-03-02T09:00:00Z", "autoUpdate": true}, "odd": 5}"""
    )
    (market,) = known.marketplaces
    assert (market.name, market.install_location, market.extra) == ("m", "/x", {"autoUpdate": True})
    assert "t0ps3cret" not in repr(known)
    assert known.extra == {"odd": 5}


@given(st.binary(max_size=80))
def test_no_bytes_raise(data: bytes) -> None:
    is_object = data.strip().startswith(b"{")
    assert parse_installed_plugins(data).problem is not None or is_object
    assert parse_marketplaces(data).problem is not None or is_object
