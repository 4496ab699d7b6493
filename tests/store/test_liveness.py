"""A session is open while the process that says so lives; another process with its number has nothing open."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.faults.scene import SESSION

from recollect.store.home import Home
from recollect.store.liveness import open_sessions
from recollect.watch.watch import RunningClients

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody can tell")

LONG_AGO = 1000


def own_ticks() -> int:
    return int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])


def own_domain() -> str:
    return f"linux:{Path('/etc/machine-id').read_text().strip()}:{os.readlink('/proc/self/ns/pid')}"


def is_open(root: Path, **fields: Any) -> bool:
    """As a client left it that had the number of this very process."""
    (root / "sessions").mkdir(parents=True, exist_ok=True)
    entry = {"pid": os.getpid(), "sessionId": SESSION, **fields}
    (root / "sessions" / f"{os.getpid()}.json").write_text(json.dumps(entry))
    found = SESSION in open_sessions(Home(root))
    assert bool(RunningClients(Home(root))._open) is found
    return found


def test_who_wrote_it_has_it_open(tmp_path: Path) -> None:
    assert is_open(tmp_path, procStart=str(own_ticks()), startedAt=LONG_AGO)


@pytest.mark.parametrize("difference", [1, -1, 999_999_999])
def test_who_got_its_number_later_has_not(tmp_path: Path, difference: int) -> None:
    ticks = own_ticks() + difference
    assert not is_open(tmp_path, procStart=str(ticks), startedAt=LONG_AGO)
    assert not is_open(tmp_path, procStart=str(ticks), startedAt=LONG_AGO, updatedAt=LONG_AGO + 1)


@pytest.mark.skipif(not Path("/etc/machine-id").exists(), reason="a machine without an id")
def test_nor_where_the_number_is_said_to_hold_here(tmp_path: Path) -> None:
    assert not is_open(tmp_path, procStart="999999999", startedAt=LONG_AGO, pidDomain=own_domain())


@pytest.mark.parametrize(
    "fields",
    [
        {"startedAt": LONG_AGO},
        {"procStart": "999999999"},
        {"procStart": "999999999", "startedAt": "yesterday"},
        {"procStart": "Thu Sep 10 08:31:58 2026", "startedAt": LONG_AGO},
        {"procStart": "9" * 5000, "startedAt": LONG_AGO},
        {"procStart": "999999999", "startedAt": LONG_AGO, "pidDomain": "linux:of-another-machine:pid:[4026531836]"},
        {"procStart": "999999999", "startedAt": LONG_AGO, "pidDomain": "darwin"},
    ],
    ids=["no start", "no moment", "no moment known", "words", "too long", "another machine", "another system"],
)
def test_what_cannot_be_told_counts_as_open(tmp_path: Path, fields: dict[str, Any]) -> None:
    assert is_open(tmp_path, **fields)


@pytest.mark.parametrize("name", ["startedAt", "updatedAt", "statusUpdatedAt"])
def test_so_does_what_was_noted_when_the_number_was_taken_here(tmp_path: Path, name: str) -> None:
    """Then its writer lives in another container, with numbers of its own."""
    moments = {"startedAt": LONG_AGO, name: int(time.time() * 1000)}
    assert is_open(tmp_path, procStart="999999999", **moments)
