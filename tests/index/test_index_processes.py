"""Processes that die in the middle, and several of them at once: the index is whole whatever happens."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.index.syncing import Index, small_home

from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.sync import bring_up_to_date
from recollect.store.home import Home
from recollect.testing import HomeBuilder, write_huge_file

REPOSITORY = Path(__file__).resolve().parents[2]
#: Small steps, so that there is much to interrupt.
SYNC = """
import json, sys
from pathlib import Path
from recollect.index.catalogue import ingest
from recollect.index.words import sync as words_sync
from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.sync import bring_up_to_date
from recollect.store.home import Home
ingest.LINES_PER_COMMIT, ingest.WORDS_PER_COMMIT, ingest.WHOLE = 15, 20_000, 4_000
words_sync.BATCH = 20
print("begun", flush=True)
catalogue = Catalogue.open(Path(sys.argv[2]))
report = bring_up_to_date(catalogue, [Home(Path(sys.argv[1]))], ("entries", "words"), statuses=True)
count = catalogue.connection.execute("SELECT count(*) FROM entries").get
print(json.dumps([report.lines, count]), flush=True)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_killed_at_any_moment_it_goes_on(tmp_path: Path) -> None:
    small_home(tmp_path / "claude", sessions=25).write()
    index = Index(tmp_path / "claude", tmp_path)
    chance = random.Random(7)
    killed = 0
    for number in range(12):
        child = start(SYNC, tmp_path / "claude", tmp_path / "index")
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        time.sleep(chance.uniform(0.0, 0.05) * number)  # the first ones at once, however quick the machine is
        child.send_signal(signal.SIGKILL)
        child.communicate()
        killed += child.returncode == -signal.SIGKILL
    assert killed
    index.sync()
    assert index.told() == index.told_by_a_new_one()
    assert index.sync().lines == 0


def test_several_processes_sync_and_read_at_once(tmp_path: Path) -> None:
    """All end well, each line is taken in once, and a reader sees whole transactions the whole time."""
    small_home(tmp_path / "claude", sessions=12).write()
    index = Index(tmp_path / "claude", tmp_path)
    total = sum(path.read_bytes().count(b"\n") for path in (tmp_path / "claude" / "projects").rglob("*.jsonl"))
    children = [start(SYNC, tmp_path / "claude", tmp_path / "index") for _ in range(4)]
    seen = []
    with Catalogue.open(tmp_path / "index") as reader:
        while any(child.poll() is None for child in children):
            rows: list[Any] = reader.connection.execute(
                "SELECT (SELECT count(*) FROM entries),"
                " (SELECT coalesce(sum(p.lines), 0) FROM progress p JOIN files f ON f.id = p.file_id"
                "  WHERE f.kind IN ('session', 'subagent'))"
            ).fetchall()
            entries, noted = rows[0]
            assert entries == noted  # every line of these files holds one object
            seen.append(entries)
            time.sleep(0.01)
    assert seen == sorted(seen)
    reports = [json.loads(child.communicate()[0].splitlines()[-1]) for child in children]
    assert [child.returncode for child in children] == [0, 0, 0, 0]
    assert {count for _, count in reports} == {total}
    assert index.sync().lines == 0
    assert index.told() == index.told_by_a_new_one()


PEAK = """
import re, sys
from pathlib import Path
from recollect.index.catalogue.catalogue import Catalogue
from recollect.index.catalogue.sync import bring_up_to_date
from recollect.store.home import Home
bring_up_to_date(Catalogue.open(Path(sys.argv[2])), [Home(Path(sys.argv[1]))], ("entries", "words"), statuses=True)
print(int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) << 10)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the system does not tell the peak of one process")
@pytest.mark.parametrize("kind", ["a state line of 100 MB", "a prompt of 100 MB, not ASCII", "a torn line of 100 MB"])
def test_memory_is_bounded_whatever_a_line_holds(tmp_path: Path, kind: str) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/w/app")
    t.user("needle")
    root = home.write()
    path = home.session_path(t)
    if kind == "a state line of 100 MB":
        write_huge_file(path, 100 << 20)
    else:
        text = "größer 🦔 und größer " * ((100 << 20) // 26)
        line = json.dumps(
            {"type": "user", "uuid": "u", "message": {"role": "user", "content": text}}, ensure_ascii=False
        )
        data = line.encode()
        with path.open("ab") as stream:
            stream.write((data if kind.startswith("a prompt") else data[:-40]) + b"\n")
    child = start(PEAK, root, tmp_path / "index")
    output = child.communicate()[0]
    assert child.returncode == 0
    assert int(output) < 400 << 20
    with Catalogue.open(tmp_path / "index") as catalogue:
        assert bring_up_to_date(catalogue, [Home(root)], ("entries", "words")).lines == 0
        assert catalogue.connection.execute("SELECT count(*) FROM sessions").get == 1
