"""`recollect sql`: forms of the answer, mistakes, saved queries, the prompt."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from tests.running import Ran, run

from recollect.cli.command_run import CommandRun
from recollect.cli.sql_prompt import HISTORY, Prompt, completions
from recollect.environment import own_folder
from recollect.export.sql_answer import plain_value
from recollect.index.sql.query import Question
from recollect.library.questions import SavedQueries
from recollect.testing import HomeBuilder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    builder = HomeBuilder(tmp_path_factory.mktemp("sql-home") / "claude", version="2.1.325")
    for place, words in enumerate(["=1+1", "plain", "\x1b]0;title\x07red \x1b[31malert"]):
        t = builder.session(f"/w/{'ab'[place % 2]}")
        t.user(words)
        t.assistant("an answer", usage={"input_tokens": 10 + place, "output_tokens": 20})
    return builder.write()


def sql(capsys: pytest.CaptureFixture[str], home: Path, *arguments: str) -> Ran:
    return run(capsys, home, "sql", *arguments)


def test_a_table(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = sql(capsys, home, "SELECT project, count(*) AS sessions FROM sessions GROUP BY project ORDER BY project")
    assert ran.code == 0
    assert [line.split() for line in ran.out.splitlines()] == [["project", "sessions"], ["/w/a", "2"], ["/w/b", "1"]]


def test_a_wide_answer_is_a_list_of_columns(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = sql(capsys, home, "SELECT * FROM sessions ORDER BY first_prompt LIMIT 2")
    assert ran.out.count("-- 1 --") == ran.out.count("-- 2 --") == 1
    assert "first_prompt" in ran.out


def test_json_has_types_and_totals(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = (
        "SELECT sum(input_tokens) AS n, [1] AS l, 1.50::DECIMAL(4,2) AS d, 'nan'::DOUBLE AS x, "
        "TIMESTAMPTZ '2026-03-02 12:00+00' AS t FROM responses"
    )
    ran = sql(capsys, home, query, "--json")
    assert ran.data["rows"] == [{"n": 33, "l": [1], "d": "1.50", "x": "NaN", "t": "2026-03-02T12:00:00.000Z"}]
    assert ran.data["total"] == 1
    assert ran.data["cut"] is None
    assert ran.data["fields"][1] == {"name": "l", "type": "INTEGER[]"}
    assert sql(capsys, home, "SELECT 1 AS a UNION ALL SELECT 2", "--jsonl").out == '{"a": 1}\n{"a": 2}\n'


def test_values_as_json() -> None:
    assert plain_value(float("-inf")) == "-Infinity"
    assert plain_value(b"\x00\xff") == "00ff"
    assert plain_value({"a": [1, None]}) == {"a": [1, None]}


def test_csv_runs_nothing_in_a_spreadsheet_or_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = (
        "SELECT first_prompt, -5 AS n, '@x' AS \"=head\", 'two\nlines' AS two, ['=1'] AS l FROM sessions "
        "ORDER BY first_prompt"
    )
    ran = sql(capsys, home, query, "--csv")
    rows = list(csv.reader(io.StringIO(ran.out)))
    assert rows[0] == ["first_prompt", "n", "'=head", "two", "l"]
    assert [row[0] for row in rows[1:]] == ["red alert", "'=1+1", "plain"]
    assert rows[1][1:] == ["-5", "'@x", "two\nlines", '["=1"]']
    assert "\x1b" not in ran.out


def test_nothing_dangerous_reaches_the_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = sql(capsys, home, 'SELECT first_prompt AS "\x1b[31mhead" FROM sessions')
    assert "\x1b" not in ran.out + ran.err
    assert "red alert" in ran.out
    problem = sql(capsys, home, 'SELECT "\x1b[31mx" FROM sessions')
    assert problem.code == 7
    assert "\x1b" not in problem.err


def test_no_rows_is_exit_1(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = sql(capsys, home, "SELECT * FROM sessions WHERE false")
    assert (ran.code, ran.out, ran.err) == (1, "", "no rows\n")
    assert sql(capsys, home, "SELECT 1 WHERE false", "--json").code == 1


def test_a_mistake_is_exit_7_with_its_place(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = sql(capsys, home, "SELECT projct FROM sessions")
    assert ran.code == 7
    assert "(line 1, column 8)" in ran.err
    assert "\n  SELECT projct FROM sessions\n         ^^^^^^\n" in ran.err
    assert "hint: for example: recollect sql" in ran.err
    told = json.loads(sql(capsys, home, "SELEC", "--json").err)["error"]
    assert told["slug"] == "bad-sql"
    assert sql(capsys, home, "DROP TABLE sessions").code == 6


def test_parquet(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "it's here.parquet"
    for _ in range(2):  # the second time in the place of the first
        ran = sql(
            capsys,
            home,
            "SELECT project, created, 'ä;漢' AS x FROM sessions;  -- all",
            "--parquet",
            str(target),
            "--json",
        )
        assert ran.code == 0, ran.err
        assert ran.data["rows"] == 3
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    with duckdb.connect() as connection:
        assert connection.read_parquet(str(target)).types == ["VARCHAR", "TIMESTAMP WITH TIME ZONE", "VARCHAR"]
        assert connection.execute("SELECT count(*) FROM read_parquet(?)", [str(target)]).fetchone() == (3,)


def test_parquet_is_not_written_into_a_home_or_for_a_mistake(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sql(capsys, home, "SELECT 1", "--parquet", str(home / "x.parquet")).code == 6
    assert not (home / "x.parquet").exists()
    assert sql(capsys, home, "SELECT 1", "--parquet", str(tmp_path / "no" / "x.parquet")).code == 3
    assert sql(capsys, home, "SELECT 1", "--parquet", str(tmp_path)).code == 6
    target = tmp_path / "x.parquet"
    assert sql(capsys, home, "SELECT nothing", "--parquet", str(target)).code == 7
    assert sql(capsys, home, "COPY sessions TO 'x'", "--parquet", str(target)).code == 6
    assert sql(capsys, home, f"SELECT * FROM read_text('{home}/x')", "--parquet", str(target)).code == 6
    assert list(tmp_path.iterdir()) == []


def test_saved_queries(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sql(capsys, home, "--saved").code == 1
    query = "SELECT count(*) AS n FROM sessions WHERE project = $project"
    assert sql(capsys, home, "--save", "by-project", query, "--set", "project=/w/a").code == 0
    path = own_folder("config") / "queries" / "by-project.sql"
    assert path.read_text("utf-8") == query + "\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert sql(capsys, home, "--run", "by-project", "--set", "project=/w/b", "--jsonl").out == '{"n": 1}\n'
    assert sql(capsys, home, "--saved", "--json").data["rows"] == [{"name": "by-project", "sql": query}]
    assert sql(capsys, home, "--run", "other").code == 3
    assert sql(capsys, home, "--save", "../evil", "SELECT 1").code == 7
    assert sql(capsys, home, "--save", "broken", "SELEC 1").code == 7
    assert [item.name for item in SavedQueries().all()] == ["by-project"]
    assert sql(capsys, home, "--forget", "by-project").code == 0
    assert SavedQueries().all() == []


def test_values_and_options_that_do_not_fit(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sql(capsys, home, "SELECT $a", "--set", "a").code == 7
    assert sql(capsys, home, "SELECT 1", "--csv", "--json").code == 2
    assert sql(capsys, home, "SELECT 1", "--run", "x").code == 2
    assert sql(capsys, home, "SELECT $a AS v", "--set", "a=1'; DROP TABLE x; --", "--jsonl").out == (
        '{"v": "1\'; DROP TABLE x; --"}\n'
    )


def test_the_query_may_come_from_stdin(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("SELECT 5\n  AS five"))
    assert sql(capsys, home, "-", "--jsonl").out == '{"five": 5}\n'


def test_tables_are_listed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = {row["table"] for row in sql(capsys, home, "--tables", "--json").data["rows"]}
    assert {"sessions", "messages", "responses", "tool_calls", "subagents", "entries", "prompts", "tasks"} <= listed
    columns = sql(capsys, home, "--tables", "prompts", "--json").data["rows"]
    assert [row["column"] for row in columns][:2] == ["time", "project"]


def test_long_answers_are_shown_in_part_and_given_whole(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = sql(capsys, home, "SELECT * FROM range(1500)")
    assert len(ran.out.splitlines()) == 1001
    assert "1,000 of 1,500 rows" in ran.err
    assert len(sql(capsys, home, "SELECT * FROM range(1500)", "--csv").out.splitlines()) == 1501
    cut = sql(capsys, home, "SELECT * FROM range(100001)", "--jsonl")
    assert len(cut.out.splitlines()) == 100_000
    assert "cut after 100,000 rows" in cut.err


# -- the prompt -------------------------------------------------------------------------------------------------------
def sit(home: Path, *typed: str) -> Prompt:
    """A sitting in which these lines are typed; an exception stands for a key."""
    waiting: Iterator[str] = iter(typed)

    def read(_: str) -> str:
        line = next(waiting, None)
        if line is None:
            raise EOFError
        if line == "^C":
            raise KeyboardInterrupt
        return line

    prompt = Prompt(CommandRun(homes=[str(home)]), SavedQueries(), read)
    prompt.converse()
    return prompt


def test_a_sitting(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sit(
        home, "", "SELECT project,", " count(*) AS n FROM sessions", "GROUP BY 1 ORDER BY 1;", ".save mine", "SELECT oops;",
        "half", "^C", ".run mine", ".tables prompts", ".saved", ".nonsense", ".quit", "SELECT 'never';",
    )  # fmt: skip
    seen = capsys.readouterr()
    assert seen.out.count("/w/a     2") == 2
    assert "working directory" in seen.out
    assert '"oops"' in seen.err
    assert ".help" in seen.err
    assert "never" not in seen.out
    assert SavedQueries().get("mine").sql.startswith("SELECT project,")


def test_completion() -> None:
    assert "sessions" in completions("sess")
    assert {"session_id", "sessions"} <= set(completions("ses"))
    assert completions("sessions.cre") == ["sessions.created"]
    assert completions("sel") == ["SELECT"]
    assert completions(".ta") == [".tables"]
    assert completions("zzz") == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_on_a_terminal_tab_completes_and_the_history_is_kept(home: Path) -> None:
    import pty

    pytest.importorskip("readline")
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover - the other process
        os.environ["TERM"] = "dumb"
        os.execv(sys.executable, [sys.executable, "-m", "recollect", "--home", str(home), "sql"])
    seen = b""

    def until(words: bytes) -> None:
        nonlocal seen
        end = time.monotonic() + 60
        while words not in seen and time.monotonic() < end:
            seen += os.read(terminal, 4096)
        assert words in seen, seen
        seen = seen.partition(words)[2]

    try:
        until(b"sql> ")
        os.write(terminal, b"SELECT count(*) AS howmany FROM respon\t;\n")
        until(b"FROM responses")
        until(b"howmany")
        until(b"3")
        until(b"sql> ")
        os.write(terminal, b"\x04")
        until(b"\n")
        os.waitpid(pid, 0)
    finally:
        os.close(terminal)
    kept = own_folder("data") / HISTORY
    assert [line.replace(" ;", ";") for line in kept.read_text("utf-8").splitlines()] == [
        "SELECT count(*) AS howmany FROM responses;"
    ]
    assert kept.stat().st_mode & 0o777 == 0o600


def test_ctrl_c_ends_a_runaway_with_its_process(home: Path, tmp_path: Path) -> None:
    runaway = "SELECT count(*) FROM range(100000000) a, range(100000) b"
    asker = subprocess.Popen(
        [sys.executable, "-m", "recollect", "--home", str(home), "sql", runaway], stderr=subprocess.PIPE, cwd=tmp_path,
        start_new_session=True,
    )  # fmt: skip
    child = wait_for_child(asker.pid)
    time.sleep(1)
    os.killpg(asker.pid, signal.SIGINT)
    _, complaint = asker.communicate(timeout=60)
    assert asker.returncode == 130, complaint
    assert not os.path.exists(f"/proc/{child}")


def wait_for_child(parent: int) -> int:
    for _ in range(600):
        for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
            if name.isdigit():
                try:
                    text = Path(f"/proc/{name}/stat").read_text()
                except OSError:
                    continue
                if int(text.rpartition(")")[2].split()[1]) == parent:
                    return int(name)
        time.sleep(0.05)
    pytest.skip("processes cannot be seen here")


async def asked_and_cancelled(home: Path) -> None:
    import asyncio

    import recollect

    repository = recollect.LibrarySessionRepository(recollect.open(home))
    assert await repository.query("SELECT count(*) AS n FROM sessions") == [{"n": 3}]
    task = asyncio.create_task(repository.query("SELECT count(*) FROM range(100000000) a, range(100000) b"))
    while not SEEN:
        await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


SEEN: list[Question] = []


def test_the_repository_asks_and_cancels(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    original = Question._read

    def read(own: Question, *given: object) -> object:
        if "range" in own.sql:
            SEEN.append(own)
        return original(own, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Question, "_read", read)
    SEEN.clear()
    asyncio.run(asked_and_cancelled(home))
    process = SEEN[0]._process
    assert process is not None
    process.wait(30)
    assert process.returncode == -signal.SIGKILL
