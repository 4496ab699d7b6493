"""A redacted copy of a session: nothing left of what was found, everything else as it was, and readable as any session."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.secrets.made_up import API_KEY, GOOGLE_KEY, PASSWORD, PICTURE, PRIVATE_KEY, build, in_base64

from recollect.errors import Refused
from recollect.library.library import Library
from recollect.library.redaction import (
    leaks,
    redact_text,
    redacted_session,
    redacted_sessions,
    redactor_for,
    refuse_leaks,
)
from recollect.library.session import Session
from recollect.secrets import redacted_copy
from recollect.secrets.redact import Redaction
from recollect.store.home import Home
from recollect.testing.home import HomeBuilder
from recollect.testing.toolcalls import mcp

VALUES = (API_KEY, GOOGLE_KEY, PASSWORD, PRIVATE_KEY.splitlines()[4], "inesh", "ines@halden.dev")

Open = Callable[..., Session]


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    def open_session(change: Callable[[Path], object] | None = None) -> Session:
        home = build(tmp_path / "home")
        home.write()
        library = Library([Home(home.root)])
        if change is not None:
            change(home.session_path(home.sessions[0]))
        return library.session("last")

    return open_session


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_no_value_is_left_anywhere(opened: Open) -> None:
    session = opened()
    with redacted_session(session, "all") as (copy, redaction):
        files = contents(copy.home.root)
        assert len(files) >= 7
        assert {name for name in files if "inesh" in name} == set()
        for name, data in files.items():
            for value in VALUES:
                assert value.encode() not in data, (name, value)
                assert json.dumps(value)[1:-1].encode() not in data
            assert in_base64("user:" + PASSWORD).encode() not in data
        assert redaction.kinds == {
            "anthropic-api-key": 1, "email": 1, "gcp-api-key": 1, "generic-password": 1, "home-path-user": 1, "private-key": 1,
        }  # fmt: skip
        assert redaction.in_words().startswith("Redacted: 6 values (1 anthropic-api-key, 1 email, ")
        assert redaction.left_out == []


def test_everything_else_is_as_it_was(opened: Open) -> None:
    session = opened()
    with redacted_session(session, "personal") as (copy, _):
        old, new = session.file.path.read_bytes().splitlines(), copy.file.path.read_bytes().splitlines()
        assert len(old) == len(new)
        for before, after in zip(map(json.loads, old), map(json.loads, new), strict=True):
            assert list(before) == list(after)
            for name in ("uuid", "parentUuid", "sessionId", "timestamp", "requestId", "version", "promptId"):
                assert before.get(name) == after.get(name)
        text = copy.file.path.read_text()
        assert PICTURE in text and "c2lnbmF0dXJl" in text
        assert '"cwd":"~/code/app"' in text
        assert [view.role for view in copy.messages()] == [view.role for view in session.messages()]
        assert [row.uuid for row in copy.thread.chain] == [row.uuid for row in session.thread.chain]
        assert copy.title and copy.project == "~/code/app"
        assert len(copy.subagent_transcripts) == 1 and copy.damage == []
        assert os.stat(copy.file.path).st_mtime_ns == os.stat(session.file.path).st_mtime_ns
        assert [item.content for item in copy.todos] == ["revoke [redacted: gcp-api-key]"]


def test_secrets_alone_leave_names_as_they_are(opened: Open) -> None:
    with redacted_session(opened(), "secrets") as (copy, redaction):
        text = copy.file.path.read_text()
        assert "/home/inesh/bin" in text and "ines@halden.dev" in text and copy.file.folder == "-home-inesh-code-app"
        assert set(redaction.kinds) == {"anthropic-api-key", "gcp-api-key", "generic-password", "private-key"}


def test_lines_without_finds_keep_every_byte(opened: Open) -> None:
    odd = b'{"type" :"x",\t"a":"\\u0041\\/","b":1.0e5,"b":NaN,"c":"\xff"}\r\n{"type":"torn","text":"no\n\x00\x00\n'

    def append(path: Path) -> None:
        path.write_bytes(path.read_bytes() + odd)

    with redacted_session(opened(append), "secrets") as (copy, _):
        assert copy.file.path.read_bytes().endswith(odd)


def test_damaged_lines_are_redacted_too(opened: Open) -> None:
    torn = f'{{"type":"user","message":{{"content":"again {API_KEY} {PASSWORD}'.encode()
    glued = f'{{"type":"x","text":"{API_KEY}"}}{{"type":"x","text":"{PASSWORD}"}}\nno JSON {API_KEY}\n'.encode()

    def append(path: Path) -> None:
        path.write_bytes(path.read_bytes() + torn + b"\n" + glued)

    with redacted_session(opened(append), "secrets") as (copy, _):
        data = copy.file.path.read_bytes()
        assert API_KEY.encode() not in data and PASSWORD.encode() not in data
        assert b'"again [redacted: anthropic-api-key] [redacted: generic-password]\n' in data


def test_values_at_the_border_of_two_pieces_of_a_text(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redacted_copy, "_PIECE", 3000)
    monkeypatch.setattr(redacted_copy, "_OVERLAP", 1500)
    session = opened()
    text = "".join(f"{'x' * (number % 97)} é\n{PRIVATE_KEY}\n{GOOGLE_KEY}\n" for number in range(40))
    output = session.file.session_folder / "tool-results" / "b1.txt"
    output.write_text(text)
    with redacted_session(session, "secrets") as (copy, _):
        new = (copy.file.session_folder / "tool-results" / "b1.txt").read_text()
        assert new == text.replace(PRIVATE_KEY, "[redacted: private-key]").replace(
            GOOGLE_KEY, "[redacted: gcp-api-key]"
        )


def test_a_picture_is_copied_and_binary_data_with_a_secret_is_not(opened: Open) -> None:
    session = opened()
    folder = session.file.session_folder / "tool-results"
    (folder / "clean.png").write_bytes(b"\x89PNG\x00\x00" + os.urandom(5000))
    (folder / "dump.bin").write_bytes(b"\x00" * 9000 + GOOGLE_KEY.encode())
    with redacted_session(session, "secrets") as (copy, redaction):
        new = copy.file.session_folder / "tool-results"
        assert (new / "clean.png").read_bytes() == (folder / "clean.png").read_bytes()
        assert (new / "dump.bin").read_bytes() == b""
        assert redaction.left_out == ["dump.bin: not text, and a secret stands in it"]


def test_a_session_that_grows_meanwhile(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    session = opened()
    real = redacted_copy.RedactedCopy._learned

    def learned(self: redacted_copy.RedactedCopy, path: Path) -> object:
        found = real(self, path)
        if path == session.file.path:
            with open(path, "a") as stream:
                stream.write(f'{{"type":"x","text":"late {API_KEY[:-9]}Zz3456789"}}\n')
        return found

    monkeypatch.setattr(redacted_copy.RedactedCopy, "_learned", learned)
    with redacted_session(session, "secrets") as (copy, _):
        assert "late [redacted: anthropic-api-key]" in copy.file.path.read_text()


def test_the_copy_is_private_and_goes_away(opened: Open, own_home: Path) -> None:
    place = own_home / "recollect" / "cache" / "redacted"
    abandoned = place / "left-by-a-crash"
    abandoned.mkdir(parents=True)
    with redacted_session(opened()) as (copy, _):
        root = copy.home.root
        assert place in root.parents and not abandoned.exists()
        assert {stat.S_IMODE(path.stat().st_mode) for path in [root, *root.rglob("*")]} == {0o600, 0o700}
    assert list(place.iterdir()) == []


def test_no_copy_is_made_of_a_session_that_is_not_redacted(opened: Open) -> None:
    session = opened()
    with redacted_session(session, "none") as (copy, redaction):
        assert copy is session and redaction.values == 0


def test_sessions_share_their_pseudonyms(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "home")
    for number in range(3):
        talk = home.session(f"/home/inesh/code/{number}")
        talk.user("noor@halden.dev and ines@halden.dev" if number else "ines@halden.dev")
    home.write()
    library = Library([Home(home.root)])
    sessions = [
        library.session(item.session_id) for item in sorted(library.sessions(), key=lambda item: item.project or "")
    ]
    with redacted_sessions(sessions, "personal") as (copies, redaction):
        assert [copy.id for copy in copies] == [session.id for session in sessions]
        assert [copy.messages()[0].text for copy in copies] == [
            "[email 1]",
            "[email 2] and [email 1]",
            "[email 2] and [email 1]",
        ]
        assert redaction.kinds == {"email": 2, "home-path-user": 1}


def test_secrets_of_one_session_are_left_out_of_the_others(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "home")
    home.session("/p/one").user(f"DB_PASSWORD={PASSWORD}")
    home.session("/p/two").user(f"I typed {PASSWORD} there")
    home.write()
    library = Library([Home(home.root)])
    with redacted_sessions([library.session(item.session_id) for item in library.sessions()], "secrets") as (copies, _):
        assert all(PASSWORD not in copy.file.path.read_text() for copy in copies)


# --- written output --------------------------------------------------------------------------------------------------------


def redaction_of(*texts: str) -> Redaction:
    redactor = redactor_for("secrets")
    for text in texts:
        redactor.redact(text)
    return Redaction(redactor.profile, redactor)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("x.html", f"<p>\n<b>{API_KEY}</b>", 2),
        ("x.md", f"a\n\n{in_base64('x:' + API_KEY)}", 3),
        ("x.jsonl", f'{{"a":1}}\n{{"text":"{API_KEY}"}}\n', 2),
        ("x.txt", f"new: {GOOGLE_KEY}", 1),
        ("x.parquet", f"PAR1\x00{API_KEY}", 0),
    ],
)
def test_what_is_left_in_written_files_is_found(tmp_path: Path, name: str, text: str, line: int) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "clean").write_text("[redacted: anthropic-api-key]")
    redaction = redaction_of(API_KEY)
    found = leaks([tmp_path / name, tmp_path / "clean"], redaction)
    assert [(leak.path.name, leak.line) for leak in found] == [(name, line)]
    assert found[0].kind == ("gcp-api-key" if GOOGLE_KEY in text else "anthropic-api-key")


def test_output_with_a_secret_is_deleted(tmp_path: Path) -> None:
    paths = [tmp_path / "one.html", tmp_path / "two.html"]
    paths[0].write_text("clean")
    refuse_leaks(paths[:1], redaction_of(API_KEY))
    paths[1].write_text(API_KEY)
    with pytest.raises(Refused, match="anthropic-api-key") as error:
        refuse_leaks(paths, redaction_of(API_KEY))
    assert error.value.exit_code == 6 and error.value.slug == "secrets-left"
    assert API_KEY not in str(error.value) and not any(path.exists() for path in paths)


def test_finds_say_nothing_of_their_value() -> None:
    redactor = redactor_for("secrets")
    assert API_KEY not in repr(redactor.redact(API_KEY).finds)
    assert not re.search(re.escape(API_KEY), repr(Redaction("secrets", redactor)))


def test_the_names_of_fields_make_secrets(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "home")
    talk = home.session("/p/one")
    talk.user("Call it")
    call = {"db_password": PASSWORD, "env": [{"name": "API_TOKEN", "value": "q8Zr2mWx7Kp4Lv9T"}], "name": "plain value"}
    talk.call(mcp("deploy", "run", call, "done"))
    talk.results()
    home.write()
    with redacted_session(Library([Home(home.root)]).session("last"), "secrets") as (copy, redaction):
        text = copy.file.path.read_text()
        assert PASSWORD not in text and "q8Zr2mWx7Kp4Lv9T" not in text and "plain value" in text
        assert redaction.values == 2


def test_rules_words_and_exceptions_of_the_user(tmp_path: Path, own_home: Path) -> None:
    config = own_home / "recollect" / "config"
    config.mkdir(parents=True)
    (config / "rules.toml").write_text(
        '[[rule]]\nkind = "heron-key"\nregex = "heron_[a-z0-9]{12}"\n'
        '[allow]\nkinds = ["gcp-api-key"]\n[personal]\nwords = ["Acme"]\n'
    )
    text = f"Acme uses heron_a1b2c3d4e5f6 and {GOOGLE_KEY}"
    assert redact_text(text).text == f"[name 1] uses [redacted: heron-key] and {GOOGLE_KEY}"
    home = HomeBuilder(tmp_path / "home")
    home.session("/p/one").user(text)
    home.write()
    with redacted_session(Library([Home(home.root)]).session("last")) as (copy, _):
        assert copy.messages()[0].text == f"[name 1] uses [redacted: heron-key] and {GOOGLE_KEY}"


def test_a_copy_to_resume_has_no_thinking_that_was_changed(tmp_path: Path) -> None:
    """The text of a thinking block is signed: the API refuses a changed one."""
    home = HomeBuilder(tmp_path / "home")
    talk = home.session()
    talk.user("which key?")
    talk.assistant("That one.", thinking=f"The person's key is {API_KEY}.")
    talk.user("and now?")
    talk.assistant("Done.", thinking="Nothing secret here.")
    session = Library([Home(home.write())]).session("last")
    for resumable in (False, True):
        with redacted_sessions([session], "secrets", resumable=resumable) as ((copy,), _):
            thoughts = [
                block["thinking"]
                for entry in copy.entries()
                for block in (entry.get("message") or {}).get("content", ())
                if isinstance(block, dict) and block.get("type") == "thinking"
            ]
            texts = [line.data for line in copy.lines()]
        assert thoughts == ["Nothing secret here."] if resumable else len(thoughts) == 2
        assert any(b"[thinking removed" in text for text in texts) is resumable
        assert not any(API_KEY.encode() in text for text in texts)
