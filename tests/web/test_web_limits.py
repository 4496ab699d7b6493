"""Large and slow requests, and clients that only hold the line."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.web.scene import CACHE_SESSION, Scene, served

from recollect.testing import build_demo_home
from recollect.web import security, server


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    build_demo_home(tmp_path / "claude")
    monkeypatch.setattr(security, "BODY_SECONDS", 0.3)
    monkeypatch.setattr(server, "FIRST_REQUEST_SECONDS", 0.3)
    with served(tmp_path / "claude", tmp_path / "own") as scene:
        yield scene


def _head(scene: Scene, extra: str) -> bytes:
    return (
        f"POST /sql HTTP/1.1\r\nHost: 127.0.0.1:{scene.access.port}\r\nAuthorization: Bearer {scene.access.api_key}\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\n{extra}\r\n"
    ).encode()


def _talk(scene: Scene, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", scene.access.port), timeout=10) as line:
        line.sendall(data)
        found = b""
        while chunk := line.recv(65536):
            found += chunk
            if b"\r\n\r\n" in found and not found.startswith(b"HTTP/1.1 100"):
                break
        return found


@pytest.mark.parametrize("length", ["1048577", "99999999999999", "-1", "x", "1e9"])
def test_a_length_above_the_limit_is_refused_unread(running: Scene, length: str) -> None:
    assert _talk(running, _head(running, f"Content-Length: {length}\r\n")).split()[1] in (b"413", b"400")


def test_a_body_that_grows_past_the_limit_is_refused(running: Scene) -> None:
    chunk = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
    answer = _talk(running, _head(running, "Transfer-Encoding: chunked\r\n") + chunk * 17)
    assert answer.split()[1] == b"413"


def test_a_body_that_does_not_come_is_not_waited_for(running: Scene) -> None:
    assert _talk(running, _head(running, "Content-Length: 10\r\n") + b"sql").split()[1] == b"408"


def test_a_client_that_says_nothing_is_hung_up_on(running: Scene) -> None:
    with socket.create_connection(("127.0.0.1", running.access.port), timeout=10) as line:
        line.sendall(b"GET / HT")
        assert line.recv(100) == b""


def test_clients_that_hold_the_line_do_not_keep_others_out(running: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "FIRST_REQUEST_SECONDS", 60)
    lines = [socket.create_connection(("127.0.0.1", running.access.port), timeout=10) for _ in range(100)]
    try:
        for line in lines:
            line.sendall(b"GET /sessions HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        connection = http.client.HTTPConnection("127.0.0.1", running.access.port, timeout=10)
        connection.request("GET", "/sessions", headers={"Authorization": f"Bearer {running.access.api_key}"})
        assert connection.getresponse().status == 200
        connection.close()
    finally:
        for line in lines:
            line.close()


def test_clients_that_never_read_their_answer_do_not_keep_others_out(running: Scene) -> None:
    """More of them than there are threads to make pages: each waits for its client alone."""
    asked = (
        f"GET /sessions/{CACHE_SESSION} HTTP/1.1\r\nHost: 127.0.0.1:{running.access.port}\r\n"
        f"Authorization: Bearer {running.access.api_key}\r\n\r\n"
    ).encode()
    lines = []
    try:
        for _ in range(60):
            line = socket.socket()
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            line.settimeout(10)
            line.connect(("127.0.0.1", running.access.port))
            lines.append(line)
            line.sendall(asked * 20)  # far more than what a socket takes in
        for path in ("/sessions", f"/sessions/{CACHE_SESSION}", "/health"):
            connection = http.client.HTTPConnection("127.0.0.1", running.access.port, timeout=20)
            connection.request("GET", path, headers={"Authorization": f"Bearer {running.access.api_key}"})
            answer = connection.getresponse()
            assert answer.status == 200
            assert answer.read().endswith(b"</html>")
            connection.close()
    finally:
        for line in lines:
            line.close()


def test_a_head_without_end_is_refused(running: Scene) -> None:
    answer = _talk(running, b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000)
    assert answer.split()[1] in (b"400", b"431")
