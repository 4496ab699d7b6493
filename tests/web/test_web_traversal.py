"""No address leads out of the homes: dots, slashes in every coding, links, other kinds of files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.web.scene import CACHE_SESSION, Scene

SECRET = "the-words-outside-of-the-home"
STEPS = (
    "..",
    "../..",
    "../../secret.jsonl",
    "..%2f..%2fsecret",
    "..%252f..%252fsecret",
    "%2e%2e%2fsecret",
    "....//secret",
    "..\\..\\secret",
    "..%5c..%5csecret",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "%252fetc%252fpasswd",
    "//etc/passwd",
    "\\\\server\\share",
    "C:%5csecret",
    "secret%00.jsonl",
    "%00",
    "..%00/",
    "..;/secret",
    "..%c0%af..%c0%afsecret",
    "%uff0e%uff0e/secret",
    "file:///etc/passwd",
    "~/.ssh/id_rsa",
    "$HOME",
    "/proc/self/environ",
    "%2fproc%2fself%2fenviron",
    "." * 4096,
    "a" * 4096,
    "＿..／secret",
    "secret.jsonl",
    "..%2fsecret.jsonl",
    "projects%2f..%2f..%2fsecret.jsonl",
    "sessions%2f1.key",
    ".credentials.json",
    "..%2f.credentials.json",
)


@pytest.fixture
def guarded(demo: Scene) -> Scene:
    outside = demo.root.parent / "secret.jsonl"
    outside.write_text(f'{{"type":"user","message":{{"content":"{SECRET}"}}}}\n', "utf-8")
    (demo.root / ".credentials.json").write_text(f'"{SECRET}"', "utf-8")
    folder = next(demo.root.glob("projects/*"))
    outside = outside.rename(outside.with_name("secret.txt"))
    os.symlink(outside, folder / "11111111-1111-4111-8111-111111111111.jsonl")
    os.symlink("/etc/passwd", folder / "22222222-2222-4222-8222-222222222222.jsonl")
    os.mkfifo(folder / "33333333-3333-4333-8333-333333333333.jsonl")
    os.symlink(demo.root / ".credentials.json", folder / "44444444-4444-4444-8444-444444444444.jsonl")
    return demo


def _is_closed(text: str) -> bool:
    return SECRET not in text and "root:x:" not in text and "PATH=" not in text


@pytest.mark.parametrize("step", STEPS)
def test_steps_out_of_the_home_lead_nowhere(guarded: Scene, step: str) -> None:
    for pattern in (
        "/sessions/{}",
        "/sessions/{}/raw/0/1",
        "/static/{}",
        "/static/vendor/{}",
        "/api/v1/sessions/{}",
        f"/sessions/{CACHE_SESSION}/raw/{{}}/1",
        "/sessions/{}/files",
        f"/sessions/{CACHE_SESSION}/media/0/1/{{}}",
        "/{}",
        f"/sessions/{CACHE_SESSION}/m/{{}}",
    ):
        status, text = guarded.raw(pattern.format(step))
        assert status in (400, 404), (pattern, status)
        assert _is_closed(text)


@pytest.mark.parametrize("step", [step for step in STEPS if "%" not in step])
def test_nor_do_parameters(guarded: Scene, step: str) -> None:
    script = guarded.script
    for path, name in (
        (f"/sessions/{CACHE_SESSION}/files", "path"),
        (f"/sessions/{CACHE_SESSION}", "subagent"),
        ("/sessions", "project"),
        ("/sql", "saved"),
        (f"/api/v1/sessions/{CACHE_SESSION}/lines/1", "subagent"),
        (f"/sessions/{CACHE_SESSION}/markdown", "message"),
    ):
        answer = script.get(path, params={name: step})
        assert answer.status_code in (200, 400, 404), (path, answer.status_code)
        assert _is_closed(answer.text)


def test_links_pipes_and_secrets_inside_are_not_read(guarded: Scene) -> None:
    script = guarded.script
    for path in ("/", "/sessions", "/api/v1/sessions", "/health"):
        assert _is_closed(script.get(path).text)
    for number in range(1, 5):
        name = (
            "-".join(str(number) * count for count in (8, 4))
            + f"-4{str(number) * 3}-8{str(number) * 3}-"
            + str(number) * 12
        )
        for part in ("", "/raw/0/1", "/files", "/findings", "/markdown", "/tokens"):
            answer = script.get(f"/sessions/{name}{part}")
            assert answer.status_code in (200, 403, 404, 422), (part, answer.status_code)
            assert _is_closed(answer.text)


def test_sql_reads_no_files(guarded: Scene) -> None:
    for sql in (
        "SELECT * FROM read_text('/etc/passwd')",
        "COPY (SELECT 1) TO '/tmp/x'",
        f"SELECT * FROM '{guarded.root.parent}/secret.txt'",
    ):
        answer = guarded.browser.post("/sql", data={"sql": sql})
        assert answer.status_code in (400, 403), (sql, answer.status_code)
        assert _is_closed(answer.text)


def test_saved_queries_stay_in_their_folder(guarded: Scene, tmp_path: Path) -> None:
    for name in ("../evil", "/tmp/evil", "a/b", "..", ".hidden", "a" * 100):
        assert guarded.browser.post("/sql", data={"sql": "SELECT 1", "save": name}).status_code == 400
    assert guarded.browser.post("/sql", data={"sql": "SELECT 1 AS one", "save": "fine"}).status_code == 200
    assert [path.name for path in (tmp_path / "own" / "config").rglob("*") if path.suffix == ".sql"] == ["fine.sql"]
    assert "SELECT 1 AS one" in guarded.browser.get("/sql?saved=fine").text
    assert guarded.browser.post("/sql/forget", data={"name": "fine"}).status_code == 303
