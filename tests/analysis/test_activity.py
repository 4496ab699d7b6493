"""Hours of work belong to the days on which they were worked, whatever the clocks of the zone do."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.analysis.scene import Scene, tokens

from recollect.analysis.timing import active_seconds, hours_of_week


def work(scene: Scene, zone: str, begin: str, hours: float) -> dict[str, float]:
    """Calls every four minutes for so long, and what was worked by day."""
    first = datetime.fromisoformat(begin).replace(tzinfo=ZoneInfo(zone)).astimezone(ZoneInfo("UTC"))
    for number in range(round(hours * 15) + 1):
        when = (first + timedelta(minutes=4 * number)).isoformat()
        scene.append("s", scene.answer(f"m{number}", tokens(1, 1), request=f"r{number}", time=when))
    with scene.open(zone=zone) as ledger:
        return active_seconds(ledger.calls(), ledger.zone)


@pytest.mark.parametrize(
    ("zone", "begin", "hours", "wanted"),
    [
        ("UTC", "2026-03-01T22:00:00", 30, {"2026-03-01": 2, "2026-03-02": 24, "2026-03-03": 4}),
        ("Europe/Berlin", "2026-03-28T22:00:00", 26, {"2026-03-28": 2, "2026-03-29": 23, "2026-03-30": 1}),
        ("Europe/Berlin", "2026-10-24T22:00:00", 28, {"2026-10-24": 2, "2026-10-25": 25, "2026-10-26": 1}),
        ("Africa/Cairo", "2026-04-23T22:00:00", 4, {"2026-04-23": 2, "2026-04-24": 2}),
        ("America/Santiago", "2026-04-04T22:00:00", 4, {"2026-04-04": 3, "2026-04-05": 1}),
        ("Pacific/Apia", "2011-12-29T22:00:00", 4, {"2011-12-29": 2, "2011-12-31": 2}),
        ("UTC", "2026-03-01T10:00:00", 2, {"2026-03-01": 2}),
    ],
)  # fmt: skip
def test_a_stretch_over_midnight(scene: Scene, zone: str, begin: str, hours: int, wanted: dict[str, float]) -> None:
    last = max(wanted)
    assert work(scene, zone, begin, hours) == {
        day: length * 3600 + (60 if day == last else 0) for day, length in wanted.items()
    }


def test_the_last_minute_may_be_of_the_next_day(scene: Scene) -> None:
    scene.write("s", scene.answer("m1", tokens(1, 1), time="2026-03-01T23:59:45.000Z"))
    with scene.open() as ledger:
        found = active_seconds(ledger.calls(), ledger.zone)
    assert found == {"2026-03-01": 15.0, "2026-03-02": 45.0}


def test_the_end_of_the_calendar(scene: Scene) -> None:
    scene.write("s", scene.answer("m1", tokens(1, 1), time="9999-12-31T23:59:45.000Z"))
    with scene.open() as ledger:
        assert active_seconds(ledger.calls(), ledger.zone) == {"9999-12-31": 60.0}


@pytest.mark.parametrize(
    ("zone", "day"), [("UTC", "2026-03-01"), ("America/New_York", "2026-03-01"), ("Pacific/Kiritimati", "2026-03-02")]
)
def test_times_that_no_calendar_holds(scene: Scene, zone: str, day: str) -> None:
    """They are calls without a time, whatever it is grouped by, and in no hour of the week."""
    times = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", None, "2026-03-01T12:00:00Z")
    for number, time in enumerate(times):
        scene.append("s", scene.answer(f"m{number}", tokens(1, 1), request=f"r{number}", time=time))
    with scene.open(zone=zone) as ledger:
        found = {by: ledger.usage(by).timeless for by in ("day", "week", "session", "model", "hour", "day,subagent")}
        assert found == dict.fromkeys(found, 3)
        assert sum(map(sum, hours_of_week(ledger.calls(), ledger.zone))) == 1
        assert list(active_seconds(ledger.calls(), ledger.zone)) == [day]
