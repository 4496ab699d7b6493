"""Who gets in: hosts, links, cookies, keys, origins; and that secrets stay out of logs."""

from __future__ import annotations

import http.client
import logging
from pathlib import Path

import pytest
from tests.web.scene import ORIGIN, Scene, served

from recollect.testing import build_demo_home
from recollect.web.access import MAX_BROWSERS, SIGN_IN_SECONDS, Access, allowed_hosts
from recollect.web.security import HEADERS

EVERYWHERE = (
    "/",
    "/sessions",
    "/search",
    "/usage",
    "/sql",
    "/health",
    "/changes",
    "/api/v1/sessions",
    "/static/page.css",
    "/nowhere",
)
FOREIGN_HOSTS = (
    "evil.example",
    "127.0.0.1",
    "127.0.0.1:80",
    "localhost",
    "127.0.0.1:7374",
    "evil.example:7373",
    "127.0.0.1:7373.evil.example",
    "127.0.0.1.evil.example:7373",
    "0.0.0.0:7373",
    "[::]:7373",
    "",
    "127.0.0.1:7373@evil.example",
    "localhost:07373",
)
FOREIGN_ORIGINS = (
    "null",
    "https://evil.example",
    "http://evil.example:7373",
    "http://127.0.0.1:3000",
    "http://localhost",
    "https://127.0.0.1:7373",
    "http://127.0.0.1:7373.evil.example",
    "file://",
    "http://127.0.0.1:7373, http://evil.example",
    "",
)


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_other_hosts_are_sent_away_before_any_page(demo: Scene, host: str) -> None:
    for path in ("/", "/login", "/api/v1/sessions"):
        answer = demo.script.get(path, headers={"Host": host})
        assert answer.status_code == 421
        assert "tide" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:7373", "localhost:7373", "LOCALHOST:7373", "[::1]:7373"])
def test_loopback_names_are_answered(demo: Scene, host: str) -> None:
    assert demo.script.get("/", headers={"Host": host}).status_code == 200


def test_nothing_is_shown_to_those_who_are_not_signed_in(demo: Scene) -> None:
    stranger = demo.client()
    for path in EVERYWHERE:
        answer = stranger.get(path)
        assert answer.status_code == 401, path
        assert "tide" not in answer.text
    assert "recollect serve" in stranger.get("/").text
    assert stranger.get("/api/v1/sessions").json()["error"]["slug"] == "not-signed-in"
    for path in EVERYWHERE:
        assert stranger.post(path, headers={"Origin": ORIGIN}).status_code == 401


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer wrong", "Basic x", "bearer  ", "Bearer \u00e9"])
def test_wrong_keys_open_nothing(demo: Scene, header: str) -> None:
    assert demo.client().get("/", headers={b"Authorization": header.encode("latin-1")}).status_code == 401


def test_a_link_works_once_and_gives_a_strict_cookie(demo: Scene) -> None:
    offered: list[str] = []
    demo.access.new_link = offered.append
    token = demo.access.issue_link()
    first = demo.client()
    assert first.head("/login", params={"token": token}).status_code == 200  # looking does not use it up
    answer = first.get("/login", params={"token": token})
    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "path=/" in cookie
    assert "domain" not in cookie
    assert token.lower() not in cookie
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert first.get("/").headers["referrer-policy"] == "same-origin"
    assert first.get("/").status_code == 200
    second = demo.client()
    assert second.get("/login", params={"token": token}).status_code == 401
    assert second.get("/").status_code == 401
    assert len(offered) == 1
    assert second.get("/login", params={"token": offered[0]}).status_code == 200


def test_signing_out_ends_it(demo: Scene) -> None:
    browser = demo.browser
    assert browser.get("/").status_code == 200
    assert browser.post("/logout").status_code == 303
    assert browser.get("/").status_code == 401


def test_a_sign_in_ends_after_a_time_without_visits() -> None:
    now = 0.0
    access = Access(1, clock=lambda: now)
    cookie = access.trade_link(access.issue_link())
    assert cookie is not None
    now = SIGN_IN_SECONDS - 1
    assert access.knows_cookie(cookie)
    now += SIGN_IN_SECONDS - 1
    assert access.knows_cookie(cookie)
    now += SIGN_IN_SECONDS + 1
    assert not access.knows_cookie(cookie)


def test_browsers_are_bounded() -> None:
    access = Access(1)
    cookies = [access.trade_link(access.issue_link()) or "" for _ in range(MAX_BROWSERS + 1)]
    assert [access.knows_cookie(cookie) for cookie in (cookies[0], cookies[1], cookies[-1])] == [False, True, True]


def test_secrets_are_long_and_hidden() -> None:
    access = Access(1)
    token = access.issue_link()
    assert len(token) >= 43
    assert len(access.api_key) >= 43
    assert token not in repr(access)
    assert access.api_key not in repr(access)


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_requests_of_other_sites_are_refused(demo: Scene, origin: str) -> None:
    browser = demo.browser
    session = demo.service.sessions()[0].session_id
    for method, path in (
        ("POST", f"/sessions/{session}/actions/rename"),
        ("POST", f"/api/v1/sessions/{session}/rename"),
        ("POST", "/sql"),
        ("POST", "/logout"),
        ("GET", "/api/v1/events"),
        ("GET", "/api/v1/sessions"),
        ("GET", "/"),
    ):
        assert browser.request(method, path, headers={"Origin": origin}).status_code == 403, (method, path)


def test_changing_and_streaming_with_a_cookie_need_an_origin(demo: Scene) -> None:
    browser = demo.browser
    del browser.headers["origin"]
    session = demo.service.sessions()[0].session_id
    assert browser.get("/").status_code == 200
    assert browser.post(f"/sessions/{session}/actions/rename", data={"title": "x"}).status_code == 403
    assert browser.get("/api/v1/events").status_code == 403
    assert browser.get("/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}).status_code == 403
    assert browser.get("/", headers={"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}).status_code == 403
    assert browser.get("/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}).status_code == 200
    crossed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert browser.post("/logout", headers=crossed).status_code == 403


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "application/json", ""])
def test_forms_come_as_forms_only(demo: Scene, kind: str) -> None:
    session = demo.service.sessions()[0].session_id
    headers = {"Content-Type": kind}
    answer = demo.browser.post(f"/sessions/{session}/actions/rename", content="title=x&step=do", headers=headers)
    assert answer.status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
def test_other_methods_are_not_known_and_nothing_is_shared_across_sites(demo: Scene, method: str) -> None:
    answer = demo.script.request(method, "/sessions")
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.lower().startswith("access-control-")]


def test_every_answer_has_the_safe_headers(demo: Scene) -> None:
    for client in (demo.script, demo.client()):
        for path in (*EVERYWHERE, "/login", "/login/style.css"):
            answer = client.get(path)
            for name in HEADERS:
                assert name in answer.headers, (path, name)
            policy = answer.headers["content-security-policy"]
            assert "unsafe" not in policy
            assert "default-src 'none'" in policy
            assert "*" not in policy
            assert "frame-ancestors 'none'" in policy
            assert "server" not in answer.headers


def test_there_are_no_web_sockets(demo: Scene) -> None:
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), demo.script.websocket_connect("/api/v1/events"):
        pass


def test_hosts_that_are_allowed() -> None:
    assert allowed_hosts(80) >= {"127.0.0.1", "127.0.0.1:80", "localhost"}
    assert "127.0.0.1" not in allowed_hosts(8000)
    assert "my.box:8000" in allowed_hosts(8000, ["My.Box"])


def test_secrets_are_in_no_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    build_demo_home(tmp_path / "claude")
    caplog.set_level(logging.DEBUG)
    with served(tmp_path / "claude", tmp_path / "own") as scene:
        token = scene.access.issue_link()
        port = scene.access.port
        for path in (f"/login?token={token}", f"/login?token={token}", "/sessions/zzzz", "/"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", path, headers={"Authorization": f"Bearer {scene.access.api_key}"})
            connection.getresponse().read()
            connection.close()
    seen = capfd.readouterr()
    for text in (caplog.text, seen.out, seen.err):
        assert token not in text
        assert scene.access.api_key not in text
