"""Searching a home: which files, what is remembered, and what is read again."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.errors import NotFound, Refused
from recollect.library.library import Library
from recollect.library.secrets import Finding, SecretFinds
from recollect.secrets.fingerprints import FILE
from recollect.store.home import Home
from recollect.testing import HomeBuilder
from recollect.testing.secret_home.marked_text import BASE62, Dice
from recollect.testing.secret_home.values import SECRETS

DICE = Dice("scan")
TOKEN = SECRETS[0](DICE).text
OTHER = SECRETS[1](DICE).text
SESSION = "3f2a90c4-1111-4222-8333-444455556666"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    root = tmp_path / "home"
    builder = HomeBuilder(root)
    session = builder.session("/home/dev/garden", session_id=SESSION)
    session.user(f"use {TOKEN} please")
    session.assistant("done")
    other = builder.session("/home/dev/other")
    other.user("nothing here")
    builder.write()
    return root


def library(home: Path) -> Library:
    return Library([Home(home)], own_folder=lambda kind: home.parent / kind)


def searched(home: Path, **options: object) -> tuple[list[Finding], SecretFinds]:
    found = library(home).secrets(**options)  # type: ignore[arg-type]
    return list(found), found


def transcript(home: Path) -> Path:
    return next(home.rglob(f"{SESSION}.jsonl"))


def test_unchanged_files_are_not_read_again(home: Path) -> None:
    first, totals = searched(home)
    assert {find.session_id for find in first} == {SESSION} and totals.read_bytes > 0
    again, totals = searched(home)
    assert again == first and totals.read_bytes == 0 and totals.bytes > 0


def test_of_a_file_that_grew_only_the_end_is_read(home: Path) -> None:
    first, _ = searched(home)
    line = f'{{"type":"user","timestamp":"2026-03-01T10:00:00.000Z","message":{{"role":"user","content":"{OTHER}"}}}}\n'
    half = len(line) // 2
    with open(transcript(home), "a", encoding="utf-8") as stream:
        stream.write(line[:half])
    searched(home)
    with open(transcript(home), "a", encoding="utf-8") as stream:
        stream.write(line[half:])
    found, totals = searched(home)
    assert [find.kind for find in found].count("anthropic-admin-key") == 1
    assert [find for find in found if find.kind != "anthropic-admin-key"] == first
    assert found[-1].line == transcript(home).read_bytes().count(b"\n") and totals.read_bytes <= len(line)


def test_a_rewritten_file_is_read_again(home: Path) -> None:
    searched(home)
    path = transcript(home)
    path.write_bytes(path.read_bytes().replace(TOKEN.encode(), b"x" * len(TOKEN)))
    assert searched(home)[0] == []


def test_a_file_that_is_gone_is_forgotten(home: Path) -> None:
    searched(home)
    transcript(home).unlink()
    assert searched(home)[0] == []


def test_no_value_is_remembered(home: Path) -> None:
    assert searched(home)[0]
    for folder in ("cache", "data"):
        for path in (home.parent / folder).rglob("*"):
            if path.is_file():
                assert TOKEN.encode() not in path.read_bytes() and path.stat().st_mode & 0o077 == 0


def test_another_key_gives_other_fingerprints(home: Path) -> None:
    (first, *_), _ = searched(home)
    (home.parent / "data" / FILE).unlink()
    (second, *_), _ = searched(home)
    assert first.fingerprint != second.fingerprint and len(first.fingerprint) == 12


def test_every_part_of_a_home_is_searched_and_no_credentials(home: Path) -> None:
    places = [
        "history.jsonl",
        "paste-cache/1.txt",
        f"file-history/{SESSION}/0@v1",
        "plans/a.md",
        "todos/x.json",
        f"tasks/{SESSION}/1.json",
        f"debug/{SESSION}.txt",
        "shell-snapshots/s.sh",
        f"session-env/{SESSION}/e.sh",
        "settings.json",
        "settings.local.json",
        ".claude.json",
        "backups/.claude.json.backup.1",
        f"projects/-home-dev-garden/{SESSION}/tool-results/r.txt",
        "projects/-home-dev-garden/memory/m.md",
    ]
    never = [".credentials.json", "a.key", "plugins/p/readme.md", "ide/1.lock"]
    for place in [*places, *never]:
        path = home / place
        path.parent.mkdir(parents=True, exist_ok=True)
        is_json = place.endswith((".json", ".jsonl"))
        path.write_text(f'{{"display": "{OTHER}"}}\n' if is_json else f"a\nb {OTHER}\n")
    found = [find for find in searched(home)[0] if find.kind == "anthropic-admin-key"]
    assert {find.path for find in found} == set(places)
    assert all((find.line, find.start) == (2, 2) for find in found if find.pointer is None)


def test_links_out_of_the_home_are_not_followed(home: Path) -> None:
    outside = home.parent / "outside.txt"
    outside.write_text(OTHER)
    (home / "plans").mkdir()
    os.symlink(outside, home / "plans" / "a.md")
    assert {find.kind for find in searched(home)[0]} == {"anthropic-api-key"}


def test_odd_files(home: Path) -> None:
    folder = home / "projects" / "-home-dev-garden"
    damaged = [
        b'{"a":"' + TOKEN.encode() + b'"}{"b":1}',
        b'{"a":"' + TOKEN.encode(),
        b"\xff\xfe" + TOKEN.encode(),
        b"\x00" * 50 + TOKEN.encode(),
        b'{"a":"\\ud800 ' + TOKEN.encode() + b'"}',
        b"[" * 5000 + TOKEN.encode(),
        b'"' + b"a " * 1_500_000 + TOKEN.encode() + b'"',
    ]
    (folder / "11111111-1111-4111-8111-111111111111.jsonl").write_bytes(b"\n".join(damaged))
    (folder / "empty.jsonl").write_bytes(b"")
    (home / "debug").mkdir()
    (home / "debug" / "b.txt").write_bytes(os.urandom(3000) + b"\n" + TOKEN.encode() + b"\n")
    (home / "todos").mkdir()
    (home / "todos" / "x.json").write_text(f'{{"not": json {TOKEN}')
    found = [find for find in searched(home)[0] if find.session_id != SESSION]
    assert len([find for find in found if find.path.endswith("1111.jsonl")]) == len(damaged)
    assert {find.line for find in found if find.path.endswith("1111.jsonl")} == set(range(1, len(damaged) + 1))
    assert {find.path for find in found} >= {"debug/b.txt", "todos/x.json"}


def test_scope(home: Path) -> None:
    (home / "plans").mkdir()
    (home / "plans" / "a.md").write_text(OTHER)
    assert len(searched(home)[0]) >= 2
    of_session = list(library(home).secrets(SESSION[:8]))
    assert of_session and {find.path for find in of_session} == {f"projects/-home-dev-garden/{SESSION}.jsonl"}
    assert searched(home, project="garden")[0] == of_session and searched(home, project="other")[0] == []
    assert {find.kind for find in searched(home, kinds=["anthropic-admin-key"])[0]} == {"anthropic-admin-key"}
    assert searched(home, ignore=[of_session[0].fingerprint], project="garden")[0] == []
    assert searched(home, until=datetime(2001, 1, 1, tzinfo=UTC))[0] == []
    with pytest.raises(NotFound):
        searched(home, kinds=["no-such"])


def test_since_does_not_open_old_files(home: Path) -> None:
    for path in home.rglob("*.jsonl"):
        os.utime(path, (1, 1))
    found, totals = searched(home, since=datetime(2020, 1, 1, tzinfo=UTC))
    assert found == [] and totals.read_bytes == 0


def test_values_and_reveal(home: Path) -> None:
    found, totals = searched(home)
    (value,) = totals.values
    assert (value.kind, value.finds, value.sessions) == ("anthropic-api-key", len(found), {SESSION})
    assert "console.anthropic.com" in value.advice and totals.reveal() == {value.fingerprint: TOKEN}


def test_personal_data_on_request(home: Path) -> None:
    builder = home / "plans"
    builder.mkdir()
    (builder / "a.md").write_text("ask ines.halloran@orchardworks.io\n")
    assert "email" not in {find.kind for find in searched(home)[0]}
    assert "email" in {find.kind for find in searched(home, personal=True)[0]}


# --- the user's rules -------------------------------------------------------------------------------------------------


def write_rules(home: Path, text: str) -> None:
    folder = home.parent / "config"
    folder.mkdir(exist_ok=True)
    (folder / "rules.toml").write_text(text)


def test_own_rules(home: Path) -> None:
    key = DICE.of(BASE62, 24)
    (home / "plans").mkdir()
    (home / "plans" / "a.md").write_text(f"acme_{key} and\nid:{key}\n")
    assert {find.kind for find in searched(home)[0]} == {"anthropic-api-key"}
    write_rules(home, '[[rule]]\nkind = "acme"\nregex = "acme_([A-Za-z0-9]{24})"\nconfidence = "definite"\n')
    (found,) = [find for find in searched(home)[0] if find.kind == "acme"]
    assert (found.path, found.start, found.length, found.confidence) == ("plans/a.md", 5, 24, "definite")


def test_allowed(home: Path) -> None:
    ((first, *_), _) = searched(home)
    for allow in (f'values = ["{first.fingerprint}"]', 'kinds = ["anthropic-api-key"]', 'paths = ["projects/*"]'):
        write_rules(home, f"[allow]\n{allow}\n")
        assert searched(home)[0] == []


@pytest.mark.parametrize(
    "text",
    [
        '[[rule]]\nkind = "a"\nregex = "(unclosed"\n',
        '[[rule]]\nkind = "a"\nregex = "x*"\n',
        '[[rule]]\nkind = "a"\n',
        "not toml [",
        '[[rule]]\nkind = "a"\nregex = "(?=look)ahead"\n',
        '[[rule]]\nkind = "a"\nregex = "b"\nconfidence = "sure"\n',
        "[allow]\nvalues = 3\n",
        '[rules]\nkind = "a"\n',
        '[rule]\nkind = "a"\nregex = "b"\n',
        '[[rule]]\nkind = 1\nregex = "b"\n',
        "[allow]\nother = []\n",
    ],
)
def test_wrong_rules_are_told(home: Path, text: str) -> None:
    write_rules(home, text)
    with pytest.raises(Refused) as told:
        searched(home)
    assert told.value.slug == "wrong-secret-rules" and "rules.toml" in told.value.message
