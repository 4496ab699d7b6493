"""`recollect serve`, as a process of its own."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.running import run

from recollect.testing import build_demo_home


@contextmanager
def serving(home: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    command = [sys.executable, "-m", "recollect", "--home", str(home), "serve", "--port", "0", "--json", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            line = process.stdout.readline()
            assert line, process.stderr.read() if process.stderr else ""
            text += line
        yield process, json.loads(text)
    finally:
        process.kill()
        process.wait(10)


def get(url: str, path: str, **headers: str) -> tuple[int, str]:
    parsed = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parsed.hostname or "", parsed.port, timeout=20)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode("utf-8")
    connection.close()
    return answer.status, text


def test_it_serves_tells_the_next_link_and_ends_cleanly(tmp_path: Path) -> None:
    build_demo_home(tmp_path / "claude")
    with serving(tmp_path / "claude", "--read-only") as (process, told):
        assert told["url"].startswith("http://127.0.0.1:")
        assert told["read_only"] is True
        assert get(told["url"], "/")[0] == 401
        status, text = get(told["url"], "/", Authorization=f"Bearer {told['key']}")
        assert (status, "Cache the tide tables" in text) == (200, True)
        assert get(told["url"], told["link"].removeprefix(told["url"]))[0] == 200
        assert get(told["url"], told["link"].removeprefix(told["url"]))[0] == 401
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        assert process.returncode == 130
    links = [line for line in said.splitlines() if "/login?token=" in line]
    assert len(links) == 1
    assert told["link"].partition("token=")[2] not in said
    assert told["key"] not in said
    assert "Traceback" not in said


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build_demo_home(tmp_path / "claude")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ran = run(capsys, tmp_path / "claude", "serve", "--port", str(taken.getsockname()[1]))
    assert ran.code == 8
    assert "port-taken" in ran.err


def test_without_a_home_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, None, "serve", "--port", "0").code == 3


def test_other_commands_import_nothing_of_it(tmp_path: Path) -> None:
    build_demo_home(tmp_path / "claude")
    code = (
        "import sys; from recollect.cli.main import main; main(sys.argv[1:]); "
        "heavy = ('starlette', 'uvicorn', 'jinja2', 'markdown_it', 'nh3'); "
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    for arguments in (["--help"], ["--home", str(tmp_path / "claude"), "list", "--json"]):
        ran = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=dict(os.environ)
        )
        assert ran.stderr.strip().endswith("[]"), ran.stderr
