"""What a question in SQL must not be able to do, tried."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from tests.index.sql_scene import ask, database, mistake

from recollect.errors import QueryError, Refused
from recollect.index.sql import child as sql_rules
from recollect.index.sql import child as sql_seal
from recollect.index.sql.child import Refusal, the_question
from recollect.index.sql.query import Limits, Question

__all__ = ["database"]

SECRET = "the secret that no question may read"

STATEMENTS = [
    "INSERT INTO numbers VALUES (1, 'x')", "UPDATE numbers SET a = 1", "DELETE FROM numbers", "DROP TABLE numbers",
    "CREATE TABLE more(a INT)", "CREATE TEMP TABLE more(a INT)", "CREATE VIEW v AS SELECT 1", "CREATE MACRO m() AS 1",
    "ALTER TABLE numbers ADD COLUMN c INT", "TRUNCATE numbers", "VACUUM", "ANALYZE", "CHECKPOINT", "FORCE CHECKPOINT",
    "MERGE INTO numbers USING numbers n ON false WHEN NOT MATCHED THEN INSERT VALUES (1, 'x')",
    "COPY numbers TO '{out}'", "COPY numbers FROM '{secret}'", "COPY (SELECT 1) TO '{out}' (FORMAT parquet)",
    "EXPORT DATABASE '{out}'", "IMPORT DATABASE '{out}'", "ATTACH '{out}' AS other", "ATTACH ':memory:' AS other",
    "DETACH small", "USE memory", "COPY FROM DATABASE small TO other",
    "INSTALL httpfs", "LOAD httpfs", "LOAD '{secret}'", "FORCE INSTALL json", "UPDATE EXTENSIONS",
    "SET threads = 8", "SET GLOBAL memory_limit = '100GB'", "RESET memory_limit", "SET lock_configuration = false",
    "SET enable_external_access = true", "SET VARIABLE x = 1", "PRAGMA threads = 8", "PRAGMA database_list",
    "PRAGMA enable_profiling", "PRAGMA version", "CALL pragma_version()", "CALL enable_logging()",
    "CREATE SECRET s (TYPE s3)", "CREATE PERSISTENT SECRET s (TYPE s3)", "DROP SECRET s",
    "PREPARE p AS SELECT 1", "EXECUTE p", "DEALLOCATE p", "BEGIN", "COMMIT", "EXPLAIN SELECT 1", "EXPLAIN ANALYZE SELECT 1",
    "SELECT 1; SELECT 2", "SELECT 1; DROP TABLE numbers", "", "   ", "-- nothing", ";",
    "PIVOT numbers ON b USING sum(a)", "CREATE TYPE mood AS ENUM ('ok')", "CREATE SEQUENCE s", "COMMENT ON TABLE numbers IS 'x'",
]  # fmt: skip

SELECTS = [
    "FROM read_csv('{secret}')", "FROM read_csv_auto('{secret}')", "FROM read_text('{secret}')", "FROM read_blob('{secret}')",
    "FROM read_json('{secret}')", "FROM read_json_auto('{secret}')", "FROM read_json_objects('{secret}')",
    "FROM read_ndjson('{secret}')", "FROM read_ndjson_objects('{secret}')", "FROM read_parquet('{secret}')",
    "FROM parquet_scan('{secret}')", "FROM parquet_metadata('{secret}')", "FROM parquet_schema('{secret}')",
    "FROM parquet_file_metadata('{secret}')", "FROM parquet_kv_metadata('{secret}')", "FROM read_duckdb('{secret}')",
    "FROM read_single_csv_file('{secret}')", "FROM sniff_csv('{secret}')", "FROM glob('/*')", "FROM read_csv('https://example.org/x')",
    "SELECT * FROM numbers, read_text('{secret}')", "SELECT (SELECT content FROM read_text('{secret}'))",
    "WITH x AS (FROM read_text('{secret}')) FROM x", "SELECT 1 WHERE EXISTS (FROM glob('/*'))",
    "SELECT * FROM numbers WHERE b IN (SELECT content FROM read_text('{secret}'))",
    "SELECT a FROM numbers UNION ALL SELECT 1 FROM glob('/*')", "SELECT * FROM numbers ORDER BY (SELECT 1 FROM glob('/*'))",
    "DESCRIBE SELECT * FROM read_csv('{secret}')", "SUMMARIZE SELECT * FROM read_csv('{secret}')",
    "FROM READ_TEXT('{secret}')", "FROM \"read_text\"('{secret}')", "FROM system.main.read_text('{secret}')",
    "FROM main.glob('/*')", "SELECT list_transform([1], lambda x: (SELECT 1 FROM glob('/*')))",
    "FROM query('SELECT 1')", "FROM query_table('numbers')", "FROM query_table(['numbers', '{secret}'])",
    "FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))", "SELECT json_serialize_plan('FROM glob(''/*'')')",
    "FROM duckdb_settings()", "FROM duckdb_secrets()", "FROM duckdb_extensions()", "FROM duckdb_databases()",
    "FROM duckdb_temporary_files()", "FROM duckdb_logs()", "FROM duckdb_external_file_cache()", "FROM duckdb_variables()",
    "FROM which_secret('s3://x', 's3')", "FROM checkpoint()", "FROM force_checkpoint()", "FROM truncate_duckdb_logs()",
    "FROM enable_logging()", "FROM enable_logging(storage = 'file', storage_config = {{'path': '{out}'}})",
    "FROM disable_logging()", "FROM enable_profiling()", "FROM disable_profiling()", "FROM pragma_storage_info('numbers')",
    "FROM register_external_resource('x', 'y')", "FROM create_external_resource('x')", "FROM arrow_scan(1, 2, 3)",
    "FROM arrow_scan_dumb(1, 2, 3)", "FROM pandas_scan(1)", "FROM python_map_function(1)", "FROM seq_scan('numbers')",
    "FROM test_all_types()", "FROM test_vector_types(1)", "FROM pragma_user_agent()", "FROM duckdb_memory()",
    "SELECT current_setting('secret_directory')", "SELECT getvariable('x')", "SELECT write_log('x')", "SELECT nextval('s')",
    "SELECT 'x'.write_log()", "SELECT \"write_log\"('x')", "SELECT WRITE_LOG('x')", "SELECT getenv('HOME')",
    "SELECT finalize('\\x00'::BLOB)", "SELECT __internal_decompress_string(1::UBIGINT)",
    "WITH x AS (INSERT INTO numbers VALUES (1, 'x') RETURNING a) FROM x",
    "WITH x AS (UPDATE numbers SET a = 1 RETURNING a) FROM x", "WITH x AS (DELETE FROM numbers RETURNING a) FROM x",
    "WITH x AS (COPY numbers TO '{out}') FROM x",
    "SELECT (WITH x AS (DELETE FROM numbers RETURNING a) SELECT max(a) FROM x)",
]  # fmt: skip


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "secret.csv").write_text(f"words\n{SECRET}\n", "utf-8")
    return tmp_path


@pytest.fixture(scope="module")
def connection(database: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(database), read_only=True) as connection:
        yield connection


@pytest.mark.parametrize("sql", [*STATEMENTS, *SELECTS])
def test_only_one_plain_select_is_let_through(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    try:
        verdict = the_question(connection, sql.format(secret="secret.csv", out="out"))
    except duckdb.ParserException:
        return  # nothing that this version knows
    assert isinstance(verdict, Refusal)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1", "FROM numbers", "VALUES (1)", "TABLE numbers", "DESCRIBE numbers", "SHOW TABLES", "SUMMARIZE numbers",
        "SELECT 1;",
        "WITH RECURSIVE x AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM x WHERE i < 5) SELECT sum(i) FROM x",
        "PIVOT numbers ON b IN ('n1', 'n2') USING sum(a)", "UNPIVOT numbers ON a", "FROM range(3)", "FROM duckdb_tables()",
        "SELECT a, row_number() OVER (ORDER BY b DESC) FROM numbers QUALIFY row_number() OVER () < 3",
        "SELECT * FROM numbers JOIN numbers n USING (a) LEFT JOIN LATERAL (SELECT n.a + 1) ON true",
        "SELECT a FROM numbers UNION SELECT 1 EXCEPT SELECT 2 ORDER BY ALL LIMIT 3",
        "SELECT list_transform([1, 2], lambda x: x + 1)",
        "SELECT * EXCLUDE (b) FROM numbers TABLESAMPLE 50%", "SELECT json_extract('{{\"a\": 1}}', '$.a')",
        "FROM information_schema.tables",
        "SELECT count(*) FILTER (WHERE a > 3) FROM numbers GROUP BY ALL",
        "SELECT regexp_extract('ab', 'b')", "SELECT now()::DATE",
    ],
)  # fmt: skip
def test_questions_are_let_through(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    assert not isinstance(the_question(connection, sql.format()), Refusal)


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE numbers", "SELECT 1; SELECT 2", "", "COPY numbers TO '{out}'", "UPDATE EXTENSIONS",
        "FROM read_text('{secret}')", "FROM enable_logging(storage = 'file', storage_config = {{'path': '{out}'}})",
        "WITH x AS (COPY numbers TO '{out}') FROM x",
    ],
)  # fmt: skip
def test_what_is_no_question_is_refused_without_a_trace(database: Path, outside: Path, sql: str) -> None:
    problem = mistake(database, sql.format(secret=outside / "secret.csv", out=outside / "out"))
    assert isinstance(problem, Refused), problem
    assert problem.slug == "sql-not-allowed"
    assert SECRET not in str(problem)
    assert [path.name for path in outside.iterdir()] == ["secret.csv"]


@pytest.mark.parametrize(
    "sql", ["FROM '{secret}'", 'FROM "{secret}"', "FROM 'https://example.org/x.csv'", "FROM ask", "FROM sys"]
)
def test_a_name_is_a_table_and_never_a_file_or_a_variable(database: Path, outside: Path, sql: str) -> None:
    problem = mistake(database, sql.format(secret=outside / "secret.csv"))
    assert problem.slug in ("bad-sql", "sql-not-allowed")
    assert "does not exist" in str(problem) or "disabled by configuration" in str(problem)
    assert SECRET not in str(problem)


def test_every_table_function_of_duckdb_is_allowed_by_name_or_refused(database: Path) -> None:
    """Also those of a version that is yet to come: only what is on the list passes."""
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type IN ('table', 'table_macro')"
        ).fetchall()
    names = {row[0] for row in rows}
    assert len(names) > 60
    for name in sorted(names - sql_rules.TABLE_FUNCTIONS):
        tree = {"type": "TABLE_FUNCTION", "function": {"function_name": name}}
        assert sql_rules.refusal({"node": tree}) is not None, name
    assert ask(database, "SELECT count(*) FROM range(3), generate_series(1, 2), unnest([1, 2])").rows == [[12]]


def test_a_tree_with_unknown_nodes_is_refused() -> None:
    assert sql_rules.refusal({"node": {"type": "TRUNCATE_QUERY_NODE", "cte_map": {}}}) is not None
    assert sql_rules.refusal({"from_table": {"type": "NEW_KIND", "alias": "", "sample": None}}) is not None
    assert sql_rules.refusal({"from_table": {"type": "BASE_TABLE", "alias": "", "sample": None}}) is None


@pytest.mark.parametrize("sealed", [True, False])
def test_the_engine_is_locked_even_without_our_rules(database: Path, outside: Path, sealed: bool) -> None:
    """Rules, settings and the system's filter stand each for itself: here the rules are not asked."""
    (outside / "open").mkdir()
    texts = [sql.format(secret=outside / "secret.csv", out=outside / "open" / "out") for sql in [*SELECTS, *STATEMENTS]]
    code = (
        "import io, json, os, sys\nfrom recollect.index.sql import child as sql_child\n"
        "texts, database, sealed = json.loads(sys.argv[1])\n"
        "request = {'database': database, 'memory': 1 << 30, 'threads': 2, 'time_zone': 'UTC'}\n"
        "connection = sql_child.Answering(request, io.BytesIO()).open()\n"
        "if sealed: sql_child.seal()\n"
        "for text in texts:\n"
        "    try:\n        said = str(connection.execute(text).fetchmany(100))\n"
        "    except Exception as problem:\n        said = str(problem)\n"
        "    os.write(1, (json.dumps([text, said]) + chr(10)).encode())\n"
        "os._exit(0)"
    )
    arguments = json.dumps([texts, str(database), sealed])
    ran = subprocess.run([sys.executable, "-c", code, arguments], capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(answers) == len(texts), ran.stderr
    assert [text for text, said in answers if SECRET in said or "/etc" in said] == []
    assert list((outside / "open").iterdir()) == []
    assert sorted(path.name for path in outside.iterdir()) == ["open", "secret.csv"]


# -- what it costs ----------------------------------------------------------------------------------------------------
RUNAWAYS = {
    "a product": "SELECT count(*) FROM range(100000000) a, range(100000) b",
    "an endless recursion": "WITH RECURSIVE x AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM x) SELECT count(*) FROM x",
    "a slow function": "SELECT sum(levenshtein(repeat('a', 5000), repeat('b', 5000 + i % 2))) FROM range(1000000) r(i)",
    "sleep": "SELECT sleep_ms(60000)",
}


@pytest.mark.parametrize("sql", RUNAWAYS.values(), ids=RUNAWAYS.keys())
def test_a_runaway_is_stopped(database: Path, sql: str) -> None:
    began = time.monotonic()
    problem = mistake(database, sql, seconds=1)
    assert problem.slug == "sql-limit"
    assert "longer than 1 second" in str(problem)
    assert time.monotonic() - began < 30  # that it ends at all; how fast is measured elsewhere


@pytest.mark.parametrize("sql", RUNAWAYS.values(), ids=RUNAWAYS.keys())
def test_a_runaway_is_cancelled_from_another_thread(database: Path, sql: str) -> None:
    question = Question(database, sql, limits=Limits(seconds=120))
    threading.Timer(0.7, question.cancel).start()
    with pytest.raises(QueryError) as caught:
        question.answer()
    assert caught.value.slug == "sql-cancelled"
    assert question._process is not None
    assert question._process.returncode is not None


def test_cancelled_before_it_began(database: Path) -> None:
    question = Question(database, "SELECT 1")
    question.cancel()
    with pytest.raises(QueryError, match="cancelled"):
        question.answer()


GREEDY = {
    "a list": "SELECT list(i) FROM range(1000000000) r(i)",
    "a long text": "SELECT string_agg(i::VARCHAR || repeat('x', 1000)) FROM range(10000000) r(i)",
    "many groups": "SELECT count(*) FROM (SELECT i, any_value(repeat('x', 100) || i) v FROM range(100000000) r(i) GROUP BY i) "
    "WHERE v <> ''",
    "a value": "SELECT range(1000000000)",
}


@pytest.mark.parametrize("sql", GREEDY.values(), ids=GREEDY.keys())
def test_memory_is_bounded(database: Path, sql: str) -> None:
    problem = mistake(database, sql, memory=256 << 20, seconds=120)
    assert problem.slug == "sql-limit"
    assert "256 MB" in str(problem)


def test_rows_are_cut(database: Path) -> None:
    answer = ask(database, "FROM range(1000000)", rows=2500)
    assert (len(answer.rows), answer.rows[-1], answer.cut) == (2500, [2499], "rows")
    assert ask(database, "FROM range(2500)", rows=2500).cut == ""
    assert len(ask(database, "FROM range(1000000)").rows) == 100_000


def test_bytes_are_cut(database: Path) -> None:
    answer = ask(database, "SELECT repeat('x', 1000) FROM range(100000)", bytes=3_000_000)
    assert answer.cut == "bytes"
    assert 0 < len(answer.rows) < 3000


def test_the_first_rows_that_fit_are_given(database: Path) -> None:
    """Rows come in portions of a thousand: a large one in a portion does not take the others with it."""
    sql = "SELECT CASE WHEN range < 3 THEN 'x' ELSE repeat('x', 4000000) END FROM range(5)"
    answer = ask(database, sql, bytes=3_000_000)
    assert (answer.rows, answer.cut) == ([["x"], ["x"], ["x"]], "bytes")


def test_a_first_row_that_is_too_large_is_an_error(database: Path) -> None:
    with pytest.raises(QueryError, match="a single row of the answer has more than 3 MB") as caught:
        ask(database, "SELECT repeat('x', 4000000) FROM range(5)", bytes=3_000_000)
    assert caught.value.slug == "sql-limit"


def test_the_process_ends_when_the_asker_is_gone(database: Path, tmp_path: Path) -> None:
    program = (
        "import sys, threading, time\nfrom pathlib import Path\nfrom recollect.index.sql.query import Question\n"
        f"q = Question(Path({str(database)!r}), {RUNAWAYS['a product']!r})\n"
        "threading.Thread(target=q.answer, daemon=True).start()\n"
        "while q._process is None: time.sleep(0.01)\n"
        "time.sleep(1)\nprint(q._process.pid, flush=True)\ntime.sleep(60)\n"
    )
    asker = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert asker.stdout is not None
    child = int(asker.stdout.readline())
    asker.kill()
    asker.wait()
    asker.stdout.close()
    assert gone(child)


def gone(process: int) -> bool:
    for _ in range(200):
        try:
            with open(f"/proc/{process}/stat") as stream:
                if stream.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False


# -- the system's own door ---------------------------------------------------------------------------------------------
linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="seccomp is Linux's")


@linux_only
def test_the_process_is_sealed_here(database: Path) -> None:
    assert ask(database, "SELECT 1").sealed


@linux_only
@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/hostname')", "open(sys.argv[1] + '/new', 'w')", "os.listdir('/')", "os.mkdir(sys.argv[1] + '/d')",
        "os.unlink(sys.argv[1] + '/there')", "os.rename(sys.argv[1] + '/there', sys.argv[1] + '/then')",
        "socket.socket()", "subprocess.run(['true'])", "os.kill(os.getppid(), 0)", "os.truncate(sys.argv[1] + '/there', 0)",
        "os.chmod(sys.argv[1] + '/there', 0)", "os.symlink('a', sys.argv[1] + '/l')",
    ],
)  # fmt: skip
def test_a_sealed_process_can_do_nothing(attempt: str, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("still", "utf-8")
    code = (
        "import os, socket, subprocess, sys, threading\nfrom recollect.index.sql.child import seal\n"
        "waiting = threading.Event(); said = []\n"
        f"def attempt():\n    waiting.wait()\n    try:\n        {attempt}\n        said.append('done')\n"
        "    except OSError as problem:\n        said.append(problem.errno)\n"
        "thread = threading.Thread(target=attempt); thread.start()\n"
        "assert seal()\nwaiting.set(); thread.join()\nos.write(1, str(said).encode()); os._exit(0)"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.stdout == "[1]", ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert (tmp_path / "there").read_text("utf-8") == "still"


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_is_well_formed(machine: str) -> None:
    steps = sql_seal.program(machine)
    count = len(steps) // 8
    assert len(steps) % 8 == 0
    assert count < 256  # a jump reaches no farther
    for place in range(count):
        code, yes, no = steps[place * 8], steps[place * 8 + 2], steps[place * 8 + 3]
        if code in (0x15, 0x35):
            assert place + 1 + max(yes, no) < count


@linux_only
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_file_or_network_call_after_the_door_is_shut(database: Path, tmp_path: Path) -> None:
    """Seen from outside: once the filter is set, the child opens nothing, and not even tries."""
    trace = tmp_path / "trace"
    program = (
        "from pathlib import Path\nfrom recollect.index.sql.query import Question\n"
        f"print(Question(Path({str(database)!r}), "
        "\"SELECT b, sum(a), now() > '2020-01-01' FROM numbers GROUP BY b ORDER BY b\").answer().rows[0])\n"
    )
    ran = subprocess.run(
        ["strace", "-f", "-qq", "-o", str(trace), "-e", "trace=%file,%network,seccomp,execve", sys.executable, "-c", program],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    if "ptrace" in ran.stderr.lower() and not trace.exists():
        pytest.skip("strace may not trace here")
    assert "['n0', 0, True]" in ran.stdout, ran.stderr
    lines = trace.read_text("utf-8", "replace").splitlines()
    shut = next(place for place, line in enumerate(lines) if re.search(r"seccomp\(SECCOMP_SET_MODE_FILTER.*= 0", line))
    child = lines[shut].split()[0]
    threads = {child}
    later = [line for line in lines[shut + 1 :] if line.split()[0] in threads or "EPERM" in line]
    # "???": killed on the way into a call, so that strace could not even read which, and it never came to anything.
    calls = [line for line in later if not re.search(r"\+\+\+ |--- SIG|resumed|\?\?\?\( <unfinished", line)]
    assert calls == []
