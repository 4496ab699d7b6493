"""Large and slow requests, and clients that only hold the line."""

from __future__ import annotations

import contextlib
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
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.3)
    monkeypatch.setattr(server, "BODY_SECONDS", 0.4)
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


def _drip(line: socket.socket, byte: bytes) -> bytes:
    """Send a byte now and then; whatever is answered until the other side hangs up."""
    line.settimeout(0.1)
    found = b""
    for _ in range(100):
        try:
            line.sendall(byte)
            chunk = line.recv(65536)
        except TimeoutError:
            continue
        except OSError:
            return found
        if not chunk:
            return found
        found += chunk
    raise AssertionError("the line was held for 100 bytes")


def _ask(scene: Scene, *, key: str | None = None, more: str = "") -> bytes:
    signed_in = f"Authorization: Bearer {key}\r\n" if key else ""
    return f"GET /bookmarks HTTP/1.1\r\nHost: 127.0.0.1:{scene.access.port}\r\n{signed_in}{more}\r\n".encode()


def test_a_body_that_drips_is_not_waited_for(running: Scene) -> None:
    with socket.create_connection(("127.0.0.1", running.access.port), timeout=10) as line:
        line.sendall(_head(running, "Content-Length: 1000\r\n"))
        assert _drip(line, b"a").split()[1] == b"408"


@pytest.mark.parametrize("beginning", [b"GET / HTTP/1.1\r\nHost: ", b""])
def test_a_second_request_that_drips_is_hung_up_on(running: Scene, beginning: bytes) -> None:
    with socket.create_connection(("127.0.0.1", running.access.port), timeout=10) as line:
        line.sendall(_ask(running, key=running.access.api_key) + beginning)
        assert _drip(line, b"x").split()[1] == b"200"


def test_a_body_that_nobody_reads_cannot_drip_either(running: Scene) -> None:
    with socket.create_connection(("127.0.0.1", running.access.port), timeout=10) as line:
        line.sendall(_ask(running, key=running.access.api_key, more="Content-Length: 1000\r\n"))
        assert _drip(line, b"a").split()[1] == b"200"


def test_a_stranger_gets_one_answer_per_connection(running: Scene) -> None:
    with socket.create_connection(("127.0.0.1", running.access.port), timeout=10) as line:
        line.sendall(_ask(running) * 2)
        found = b""
        with contextlib.suppress(ConnectionError):
            while chunk := line.recv(65536):
                found += chunk
    assert found.count(b"HTTP/1.1 ") == 1
    assert found.split()[1] == b"401"
    with socket.create_connection(("127.0.0.1", running.access.port), timeout=10) as line:
        line.sendall(_ask(running, key=running.access.api_key) * 2)
        found = b""
        while found.count(b"HTTP/1.1 200") < 2:
            found += line.recv(65536)


def test_strangers_who_drip_take_no_place_from_who_is_signed_in(
    running: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest of them go when new ones come; a connection that proved who it is stays."""
    monkeypatch.setattr(server, "HEAD_SECONDS", 60)
    monkeypatch.setattr(server, "MAX_STRANGERS", 10)
    address = ("127.0.0.1", running.access.port)
    known = http.client.HTTPConnection(*address, timeout=20)
    signed_in = {"Authorization": f"Bearer {running.access.api_key}"}
    known.request("GET", "/bookmarks", headers=signed_in)
    assert known.getresponse().read()
    kept_open = known.sock
    strangers = [socket.create_connection(address, timeout=10) for _ in range(60)]
    try:
        for line in strangers:
            with contextlib.suppress(ConnectionError):
                line.sendall(b"GET / HTTP/1.1\r\nHost: ")
        known.request("GET", "/bookmarks", headers=signed_in)
        answer = known.getresponse()
        assert (answer.status, known.sock) == (200, kept_open)
        answer.read()
        gone = 0
        for line in strangers:
            line.settimeout(0.05)
            try:
                gone += not line.recv(1)
            except TimeoutError:
                pass
            except ConnectionError:
                gone += 1
        assert 50 <= gone < 60
    finally:
        known.close()
        for line in strangers:
            line.close()


def test_a_client_that_says_nothing_is_hung_up_on(running: Scene) -> None:
    with socket.create_connection(("127.0.0.1", running.access.port), timeout=10) as line:
        line.sendall(b"GET / HT")
        assert line.recv(100) == b""


def test_clients_that_hold_the_line_do_not_keep_others_out(running: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS", 60)
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
