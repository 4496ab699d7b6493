"""Closed and full standard streams: a change is carried out and nobody sees a traceback, whatever can be written."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.every_command import CHANGES_HOME, CHANGES_OWN, ENDLESS, SESSION, Everything
from tests.running import tree_state

from recollect.cli.main import COMMANDS

#: What each way of starting does to the descriptors 0, 1 and 2, in the words of a shell.
WAYS = {
    "stdin closed": "<&-",
    "stdout closed": ">&-",
    "stderr closed": "2>&-",
    "both closed": ">&- 2>&-",
    "stdout full": ">/dev/full",
    "both full": ">/dev/full 2>&1",
}
#: Say nothing on stdout where there is nothing to tell, or whatever happens end with 0.
QUIET = {"budget", "secrets", "split", "statusline"}
#: Starting Python for each of some 300 runs would take minutes: one process has everything imported, and a child of it is
#: given the streams that Python would have made for those descriptors.
DRIVER = """
import json, os, sys
import click, rich.table, apsw, duckdb, tantivy  # noqa
from recollect.cli.entry import run
def stream(number, mode):
    try:
        os.fstat(number)
    except OSError:
        return None
    return open(number, mode, closefd=False)
while request := sys.stdin.readline():
    descriptors, arguments, folder = json.loads(request)
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        said = os.open("said", os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600)
        nothing, full = os.open(os.devnull, os.O_RDWR), os.open("/dev/full", os.O_RDWR)
        for number, what in enumerate(descriptors):
            if what == "closed":
                os.close(number)
            else:
                os.dup2({"full": full, "open": said if number == 2 else nothing}[what], number)
        for number in (said, nothing, full):
            os.close(number)
        sys.stdin, sys.stdout, sys.stderr = stream(0, "r"), stream(1, "w"), stream(2, "w")
        sys.argv = ["recollect", *arguments]
        try:
            run()
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            import traceback
            code = 97
            traceback.print_exc()
        else:
            code = 0
        try:
            sys.stdout.flush()
        except BaseException:
            code = 98
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Driver:
    def __init__(self, root: Path) -> None:
        self.everything = Everything(root)
        self.process = subprocess.Popen(
            [sys.executable, "-c", DRIVER],
            env=self.everything.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, name: str, way: str) -> tuple[int, str]:
        import json

        words = WAYS[way]
        kinds = ["open", "open", "open"]
        for number, mark in enumerate(("<&-", ">&-", "2>&-")):
            kinds[number] = "closed" if mark in words.split() else "open"
        if ">/dev/full" in words.split():
            kinds[1] = "full"
        if "2>/dev/full" in words.split() or "2>&1" in words.split():
            kinds[2] = "full"
        assert self.process.stdin is not None and self.process.stdout is not None
        request = [kinds, self.everything.line(name), str(self.everything.root)]
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline()), (self.everything.root / "said").read_text("utf-8", "replace")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    made = Driver(tmp_path_factory.mktemp("everything"))
    yield made
    made.process.communicate()
    shutil.rmtree(made.everything.root)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device that is always full")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ENDLESS])
def test_every_command(driver: Driver, name: str, way: str) -> None:
    everything = driver.everything
    home, own = tree_state(everything.home), tree_state(everything.now)
    code, said = driver.run(name, way)
    usual = 1 if name == "doctor" else 0  # the demo home has damage to find
    is_lost = way in ("stdout full", "both full") and name not in QUIET
    if name in CHANGES_HOME or name in CHANGES_OWN:
        changed, changed_own = tree_state(everything.home) != home, tree_state(everything.now) != own
        everything.reset()
    else:
        changed, changed_own = tree_state(everything.home) != home, False
    assert code == (8 if is_lost else usual), said
    assert "Traceback" not in said and "a bug" not in said and "ignored" not in said
    if way == "stdout full" and is_lost:
        assert "could not be written: No space left on device" in said and "output-not-written" in said
        assert ("lists what was changed" in said) == (name in CHANGES_HOME)
    assert changed == (name in CHANGES_HOME)
    assert changed_own == (name in CHANGES_HOME or name in CHANGES_OWN)


@pytest.mark.parametrize("way", ["stdout closed", "stderr closed", "both full"])
@pytest.mark.parametrize("name", ["keep", "rename", "usage", "statusline"])
def test_a_process_of_its_own(tmp_path: Path, name: str, way: str) -> None:
    """The same by a shell and a new Python: how it starts with closed descriptors is part of the matter."""
    everything = Everything(tmp_path)
    before = tree_state(everything.now)
    line = shlex.join([sys.executable, "-m", "recollect", *everything.line(name)])
    ran = subprocess.run(
        ["/bin/sh", "-c", f"{line} {WAYS[way]}"],
        env=everything.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == (8 if "full" in way and name != "statusline" else 0), ran.stderr
    assert "Traceback" not in ran.stderr and "ignored" not in ran.stderr
    if name in ("keep", "rename"):
        assert tree_state(everything.now) != before


def test_no_file_becomes_a_stream(tmp_path: Path) -> None:
    """With stdout and stderr closed, the next two files that are opened must not be written to by whoever prints."""
    everything = Everything(tmp_path)
    line = shlex.join(
        [sys.executable, "-m", "recollect", "bundle", SESSION, "--output", str(tmp_path / "three.bundle")]
    )
    subprocess.run(["/bin/sh", "-c", f"{line} >&- 2>&-"], env=everything.environment, check=True)
    line = shlex.join([sys.executable, "-m", "recollect", "unbundle", str(tmp_path / "three.bundle"), "--dry-run"])
    assert (
        subprocess.run(["/bin/sh", "-c", line], env=everything.environment, capture_output=True, check=False).returncode
        == 0
    )
