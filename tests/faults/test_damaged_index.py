"""An index that something else changed: the answers are those of a fresh one, it is built anew by itself, and that is said.

The places are derandomized. RECOLLECT_SOAK=N tries N times as many.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from recollect.cli.main import main
from recollect.testing.demo import build_demo_home

TIMES = int(os.environ.get("RECOLLECT_SOAK") or 1)

QUESTIONS: dict[str, list[str]] = {
    "search": ["search", "tide", "--json", "--limit", "50", "--hits", "20"],
    "filtered": ["search", "project:tidepool role:assistant status:live", "--json", "--limit", "50"],
    "usage": ["usage", "--by", "session", "--json"],
    "expensive": ["expensive", "--json", "--limit", "100"],
    "sql": [
        "sql", "--json", "SELECT session_id, title, project, messages FROM sessions ORDER BY session_id",
    ],
    "list": ["list", "--json"],
}  # fmt: skip
OF_CATALOGUE = tuple(QUESTIONS)
OF_WORDS = ("search", "filtered")
OF_SQL = ("sql",)


class Told(NamedTuple):
    code: int
    data: Any
    err: str


def ask(capsys: pytest.CaptureFixture[str], home: Path, name: str) -> Told:
    arguments = ["--home", str(home), *QUESTIONS[name]]
    capsys.readouterr()
    code = main(arguments)
    seen = capsys.readouterr()
    return Told(code, _plain(json.loads(seen.out)) if seen.out else None, seen.err)


def _plain(value: Any) -> Any:
    """Without what differs from one index to the next: scores depend on how words are spread over its pieces."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items() if key not in ("score", "seconds")}
    return [_plain(item) for item in value] if isinstance(value, list) else value


class Template(NamedTuple):
    home: Path
    whole: Path
    """The index of a Recollect that ended properly."""
    killed: Path
    """The index of one that was killed, with its write-ahead log."""


_KILLED = """
import os, signal, sys
from recollect.cli.main import main
from recollect.index.catalogue.catalogue import connect
kept = connect(sys.argv[3])
kept.execute("BEGIN; SELECT * FROM notes").fetchall()
main(["--home", sys.argv[1], "search", "grown"])
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    root = tmp_path_factory.mktemp("template")
    home = root / "claude"
    build_demo_home(home, now="2026-03-30T18:00:00Z")
    cache = root / "cache"
    folders = {f"RECOLLECT_{kind}_DIR": str(root / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE", "STATE")}
    environment = {**os.environ, "HOME": str(root), **folders}
    for question in QUESTIONS.values():
        command = [sys.executable, "-m", "recollect", "--home", str(home), *question]
        subprocess.run(command, env=environment, check=True, capture_output=True)
    whole = Path(shutil.copytree(cache / "index", root / "whole"))
    session = max(home.glob("projects/*/*.jsonl"), key=lambda path: path.stat().st_size)
    with session.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"type": "summary", "summary": "grown", "leafUuid": "x"}) + "\n")
    database = str(cache / "index" / "catalogue.sqlite")
    ended = subprocess.run([sys.executable, "-c", _KILLED, str(home), str(cache), database], env=environment)
    assert ended.returncode == -9
    return Template(home, whole, cache / "index")


@pytest.fixture(scope="module")
def expected(template: Template, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    """The answers of a fresh index."""
    return {}


@pytest.fixture
def index(own_home: Path) -> Path:
    return own_home / "recollect" / "cache" / "index"


def put_in_place(source: Path, index: Path) -> None:
    """Copy an index to where the commands look for it.

    What stood there is renamed before it is removed: the word index's threads, which outlive a command for a moment, may be
    making a lock file in it.
    """
    if index.exists():
        gone = index.with_name(f"gone-{uuid.uuid4().hex}")
        index.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
    shutil.copytree(source, index)


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 20))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def cut(path: Path, chance: random.Random) -> None:
    os.truncate(path, chance.randrange(path.stat().st_size))


def empty(path: Path, chance: random.Random) -> None:
    os.truncate(path, 0)


def zero(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    start = chance.randrange(len(data))
    end = min(start + chance.choice((1, 64, 4096, 16384)), len(data))
    data[start:end] = bytes(end - start)
    path.write_bytes(data)


def swap(path: Path, chance: random.Random) -> None:
    data = path.read_bytes()
    size = 16384 if len(data) >= 4 * 16384 else max(len(data) // 4, 1)
    one, other = sorted(chance.sample(range(len(data) // size), 2)) if len(data) // size >= 2 else (0, 0)
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    parts[one], parts[other] = parts[other], parts[one]
    path.write_bytes(b"".join(parts))


def grow(path: Path, chance: random.Random) -> None:
    with path.open("ab") as stream:
        stream.write(chance.randbytes(chance.choice((1, 100, 16384))))


def scramble(path: Path, chance: random.Random) -> None:
    path.write_bytes(chance.randbytes(path.stat().st_size))


def delete(path: Path, chance: random.Random) -> None:
    path.unlink()


def folder(path: Path, chance: random.Random) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_bytes(b"x")


DAMAGES: dict[str, Callable[[Path, random.Random], None]] = {
    item.__name__: item for item in (flip, cut, empty, zero, swap, grow, scramble, delete, folder)
}


def cases() -> Iterator[Any]:
    """Which file, what is done to it, and how often."""
    for damage in DAMAGES:
        often = {"flip": 12, "zero": 4, "swap": 3, "cut": 3}.get(damage, 1)
        yield pytest.param("catalogue.sqlite", damage, often, OF_CATALOGUE, id=f"catalogue-{damage}")
        yield pytest.param("catalogue.sqlite-wal", damage, 1, OF_CATALOGUE, id=f"log-{damage}")
        yield pytest.param("words/*", damage, 1, OF_WORDS, id=f"words-{damage}")
        yield pytest.param("words/meta.json", damage, 3 if damage == "flip" else 1, OF_WORDS, id=f"list-{damage}")
        yield pytest.param("questions*.duckdb", damage, 1, OF_SQL, id=f"sql-{damage}")
    yield pytest.param("sync.lock", "folder", 1, OF_CATALOGUE, id="lock-folder")


@pytest.mark.parametrize(("pattern", "damage", "often", "questions"), list(cases()))
def test_answers_are_those_of_a_fresh_index(
    template: Template,
    expected: dict[str, Told],
    index: Path,
    capsys: pytest.CaptureFixture[str],
    pattern: str,
    damage: str,
    often: int,
    questions: tuple[str, ...],
) -> None:
    if not expected:
        expected.update({name: ask(capsys, template.home, name) for name in QUESTIONS})
        assert {told.code for told in expected.values()} == {0}
    source = template.killed if pattern.endswith("-wal") else template.whole
    for number in range(often * TIMES):
        chance = random.Random(f"{pattern} {damage} {number}")
        names = sorted(path.relative_to(source) for path in source.glob(pattern) if path.stat().st_size)
        for name in names or [Path(pattern)]:
            put_in_place(source, index)
            if not names:
                (index / name).unlink()
                (index / name).touch()
            DAMAGES[damage](index / name, chance)
            for question in questions:
                told = ask(capsys, template.home, question)
                what = f"{question} after {damage} {number} of {name}: {told.err}"
                assert told.code == 0, what
                assert told.data == expected[question].data, what
            again = ask(capsys, template.home, questions[0])
            assert (again.code, again.data) == (0, expected[questions[0]].data)
            assert "built anew" not in again.err


def test_damage_is_told(template: Template, index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, question in (
        ("catalogue.sqlite", "search"),
        ("catalogue.sqlite", "usage"),
        ("words/meta.json", "search"),
    ):
        put_in_place(template.whole, index)
        data = bytearray((index / name).read_bytes())
        data[20:] = bytes(len(data) - 20)
        (index / name).write_bytes(data)
        told = ask(capsys, template.home, question)
        assert told.code == 0
        assert told.err.count("the index was damaged") == 1
        assert "built anew" in told.err


def test_a_page_with_another_value_is_noticed(
    template: Template, index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SQLite itself takes it for granted: here a title is changed by somebody who knows the file's form."""
    expected = ask(capsys, template.home, "search")
    put_in_place(template.whole, index)
    with sqlite3.connect(index / "catalogue.sqlite") as db:
        db.execute("UPDATE sessions SET title = 'Another title'")
    db.close()
    told = ask(capsys, template.home, "search")
    assert (told.code, told.data) == (0, expected.data)
    assert "built anew" in told.err


class PanicException(BaseException):
    """Named as the one of the word index, which cannot be imported."""


def test_a_panic_of_the_word_index_is_healed_or_a_bug_and_never_no_match(
    template: Template, index: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollect.index.words.reader import WordReader

    expected = ask(capsys, template.home, "search")
    often = 2

    def panicking(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **options: Any) -> Any:
            nonlocal often
            often -= 1
            if often >= 0:
                raise PanicException("index out of bounds")
            return real(*given, **options)

        return call

    for name in ("look", "best"):
        monkeypatch.setattr(WordReader, name, panicking(getattr(WordReader, name)))
    told = ask(capsys, template.home, "search")
    assert told.code == 0
    assert "built anew" in told.err
    assert told.data["total"] == expected.data["total"]
    often = 1000
    assert ask(capsys, template.home, "search").code == 70
