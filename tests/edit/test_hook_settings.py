"""Our commands in `settings.json`: added, replaced and removed, while everything else there stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.edit.hook_settings import EVENTS, has_hook, is_own_status_line, plan_hook, plan_status_line, status_line
from recollect.errors import DamagedData, Refused
from recollect.journal.changes import Change, Journal
from recollect.store.home import Home

KEEP = "/opt/recollect keep --quiet"
OTHER = {"type": "command", "command": "notify-send done"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "claude" / "projects").mkdir(parents=True)
    return Home(tmp_path / "claude")


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "data")


def write(home: Home, value: Any) -> bytes:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    (home.root / "settings.json").write_bytes(data)
    return data


def settings(home: Home) -> Any:
    return json.loads((home.root / "settings.json").read_bytes())


def commit(change: Change) -> None:
    with change:
        change.commit()


def commands(home: Home, event: str) -> list[str]:
    return [entry["command"] for group in settings(home)["hooks"][event] for entry in group["hooks"]]


def test_a_hook_where_there_were_no_settings(home: Home, journal: Journal) -> None:
    assert not has_hook(home)
    commit(plan_hook(journal, home, KEEP))
    assert has_hook(home) and all(commands(home, event) == [KEEP] for event in EVENTS)
    commit(plan_hook(journal, home, None))
    assert not has_hook(home) and settings(home) == {}


def test_hooks_of_others_stay(home: Home, journal: Journal) -> None:
    before = {
        "model": "Ömür",
        "hooks": {
            "Stop": [{"matcher": "x", "hooks": [OTHER, {"type": "command", "command": "recollect keep"}]}, "odd", {"hooks": 7}],
            "PreToolUse": [{"hooks": [OTHER]}],
            "Notification": "odd",
        },
    }  # fmt: skip
    write(home, before)
    commit(plan_hook(journal, home, KEEP))
    found = settings(home)
    assert found["model"] == "Ömür" and found["hooks"]["PreToolUse"] == [{"hooks": [OTHER]}]
    assert found["hooks"]["Stop"][:3] == [{"matcher": "x", "hooks": [OTHER]}, "odd", {"hooks": 7}]
    assert found["hooks"]["Stop"][3]["hooks"][0]["command"] == KEEP and found["hooks"]["Notification"] == "odd"
    commit(plan_hook(journal, home, None))
    assert "SessionEnd" not in settings(home)["hooks"] and not has_hook(home)


def test_nothing_of_ours_is_there_to_remove(home: Home, journal: Journal) -> None:
    before = write(
        home, {"hooks": {"Stop": [{"hooks": [OTHER]}]}, "statusLine": {"type": "command", "command": "date"}}
    )
    for plan in (plan_hook, plan_status_line):
        with pytest.raises(Refused) as refused:
            plan(journal, home, None)
        assert refused.value.slug == "nothing-to-do"
    assert (home.root / "settings.json").read_bytes() == before


def test_a_status_line_takes_the_place_of_another(home: Home, journal: Journal) -> None:
    write(home, {"statusLine": {"type": "command", "command": "date"}, "model": "opus"})
    assert status_line(home) == "date" and not is_own_status_line("date")
    commit(plan_status_line(journal, home, "/opt/recollect statusline"))
    assert is_own_status_line(status_line(home)) and settings(home)["model"] == "opus"
    commit(plan_status_line(journal, home, None))
    assert status_line(home) is None and settings(home) == {"model": "opus"}
    assert not is_own_status_line(None)
    write(home, {"statusLine": "odd", "hooks": "odd"})
    assert status_line(home) is None and not has_hook(home)


@pytest.mark.parametrize("data", [b'{"hooks": ', b"[1]", b"\xff"])
def test_damaged_settings_are_left_alone(home: Home, journal: Journal, data: bytes) -> None:
    write(home, data)
    for plan in (plan_hook, plan_status_line):
        with pytest.raises(DamagedData) as damaged:
            plan(journal, home, KEEP)
        assert damaged.value.slug == "damaged-settings"
    assert (home.root / "settings.json").read_bytes() == data
