"""Exports for programs: they validate where there is something to validate with, and hold what was said."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest
from atif import Trajectory

import recollect
from recollect.export.document import Document, ExportOptions
from recollect.export.formats import FORMATS
from recollect.export.json_document import Exported
from recollect.export.json_text import whole_text
from recollect.export.plain_text import COLUMNS
from recollect.export.tables import MESSAGES, TOOL_CALLS
from recollect.index.sql.tables import names
from recollect.library.session import Session
from recollect.testing import uuid_from
from recollect.testing.export_contract import HOSTILE, Written, build_export_home, write_with


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_export_home(tmp_path_factory.mktemp("machine") / "claude")


def session_of(home: Path, name: str) -> Session:
    return recollect.open(home).session(uuid_from("export", name))


def written(home: Path, name: str, format: str, folder: Path, **options: Any) -> Written:
    chosen = ExportOptions(**{"depth": FORMATS[format].depth, "branches": FORMATS[format].branches} | options)
    return write_with(FORMATS[format], [session_of(home, name)], folder, chosen)


# --- ATIF -------------------------------------------------------------------------------------------------------------


def test_every_trajectory_validates(home: Path, tmp_path: Path) -> None:
    library = recollect.open(home)
    for item in library.sessions(kept=None, count=False):
        options = ExportOptions(depth="all", costs=True, pictures="files")
        made = write_with(FORMATS["atif"], [library.session(item.session_id)], tmp_path, options)
        Trajectory.model_validate_json(made.main)


def test_a_trajectory_holds_calls_results_and_subagents(home: Path, tmp_path: Path) -> None:
    found = Trajectory.model_validate_json(written(home, "rich", "atif", tmp_path, costs=True, pictures="files").main)
    assert found.schema_version == "ATIF-v1.8"
    assert found.agent.name == "claude-code"
    assert [step.source for step in found.steps][:2] == ["user", "agent"]
    assert found.steps[1].reasoning_content == "It is very small."
    calls = {call.function_name: step for step in found.steps for call in step.tool_calls or ()}
    looked = calls["Bash"].observation
    assert looked is not None
    reader = calls["Read"].observation
    assert reader is not None
    assert isinstance(reader.results[0].content, list)
    assert found.subagent_trajectories is not None
    (helper,) = found.subagent_trajectories
    assert helper.trajectory_id
    refs = [
        ref.trajectory_id
        for step in found.steps
        if step.observation
        for result in step.observation.results
        for ref in result.subagent_trajectory_ref or ()
    ]
    assert refs == [helper.trajectory_id]
    assert helper.subagent_trajectories is not None  # the subagent's own
    assert len(helper.subagent_trajectories) == 1
    metrics = found.final_metrics
    assert metrics is not None
    assert metrics.total_steps == len(found.steps)
    assert metrics.total_cost_usd
    assert metrics.total_prompt_tokens == sum(step.metrics.prompt_tokens or 0 for step in found.steps if step.metrics)


# --- OpenTelemetry ----------------------------------------------------------------------------------------------------


def spans_of(made: Written) -> list[dict[str, Any]]:
    data = json.loads(made.main)
    return [span for resource in data["resourceSpans"] for scope in resource["scopeSpans"] for span in scope["spans"]]


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {item["key"]: next(iter(item["value"].values())) for item in span["attributes"]}


def test_spans_form_one_tree(home: Path, tmp_path: Path) -> None:
    spans = spans_of(written(home, "rich", "otel", tmp_path))
    ids = {span["spanId"] for span in spans}
    assert len(ids) == len(spans)
    assert all(len(span["spanId"]) == 16 and len(span["traceId"]) == 32 for span in spans)
    assert len({span["traceId"] for span in spans}) == 1
    roots = [span for span in spans if "parentSpanId" not in span]
    assert [span["name"] for span in roots] == ["invoke_agent claude-code"]
    assert all(span["parentSpanId"] in ids for span in spans if span not in roots)
    assert all(int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"]) for span in spans)
    kinds = [attributes(span)["gen_ai.operation.name"] for span in spans]
    assert kinds.count("invoke_agent") == 3  # the session, its subagent, and the subagent's own
    chat = next(span for span in spans if span["name"].startswith("chat"))
    assert json.loads(attributes(chat)["gen_ai.input.messages"])[0]["role"] == "user"
    assert int(attributes(chat)["gen_ai.usage.output_tokens"]) > 0
    wrong = next(span for span in spans if attributes(span).get("error.type"))
    assert wrong["status"] == {"code": 2}


# --- chat messages ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rich", "hostile"])
def test_every_call_is_answered_once(home: Path, tmp_path: Path, name: str) -> None:
    lines = [json.loads(line) for line in written(home, name, "openai", tmp_path).main.splitlines()]
    assert all(set(line) == {"messages"} for line in lines)
    assert len(lines) == (3 if name == "rich" else 1)  # the conversation and its subagents
    for line in lines:
        waiting: list[str] = []
        for message in line["messages"]:
            if message["role"] == "tool":
                assert message["tool_call_id"] == waiting.pop(0)
                continue
            assert waiting == []
            waiting = [call["id"] for call in message.get("tool_calls", ())]
            for call in message.get("tool_calls", ()):
                assert isinstance(json.loads(call["function"]["arguments"]), dict)
                assert call["function"]["name"].replace("_", "").replace("-", "").isalnum()
        assert waiting == []


# --- tables -----------------------------------------------------------------------------------------------------------


def test_columns_are_those_of_sql() -> None:
    sql = names()
    assert set(MESSAGES.columns) - set(sql["messages"]) == {"parent_uuid", "text", "thinking"}
    assert set(TOOL_CALLS.columns) - set(sql["tool_calls"]) == {"input", "output"}
    assert set(sql["messages"]) - set(MESSAGES.columns) == {"entry_id", "parent_id"}
    assert set(sql["tool_calls"]) <= set(TOOL_CALLS.columns)


def test_csv_holds_every_row_once_and_no_formula(home: Path, tmp_path: Path) -> None:
    session = session_of(home, "hostile")
    made = written(home, "hostile", "csv", tmp_path)
    rows = list(csv.DictReader(io.StringIO(made.main.decode())))
    assert len(rows) == sum(row.is_message for row in session.transcript.rows)
    assert len({row["uuid"] for row in rows}) == len(rows)
    assert not any(value.startswith(("=", "+", "-", "@")) for row in rows for value in row.values() if value)
    calls = list(csv.DictReader(io.StringIO(made.files["an export.tool_calls.csv"].decode())))
    assert len(calls) == len(session.conversation.tools.calls)
    assert all(call["output"] or call["ended"] for call in calls)


def test_parquet_is_what_csv_is(home: Path, tmp_path: Path) -> None:
    made = written(home, "rich", "parquet", tmp_path)
    path = tmp_path / "copy.parquet"
    with duckdb.connect() as connection:
        for name, table in ((made.name, MESSAGES), ("an export.tool_calls.parquet", TOOL_CALLS)):
            path.write_bytes(made.files[name])
            described = connection.execute(f"DESCRIBE SELECT * FROM '{path}'").fetchall()
            assert {
                column: kind.replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ") for column, kind, *_ in described
            } == (table.columns)
        rows = connection.execute(f"SELECT count(*), count(DISTINCT tool_use_id) FROM '{path}'").fetchone()
    assert rows == (len(session_of(home, "rich").conversation.tools.calls),) * 2


def test_the_rows_are_those_of_sql(home: Path, tmp_path: Path) -> None:
    """The same names have the same values as `recollect sql` gives."""
    library = recollect.open(home)
    session = session_of(home, "rich")
    made = written(home, "rich", "csv", tmp_path)
    rows = {row["uuid"]: row for row in csv.DictReader(io.StringIO(made.main.decode()))}
    columns = [
        "uuid",
        "role",
        "kind",
        "status",
        "model",
        "line",
        "path",
        "has_image",
        "has_thinking",
        "has_error",
        "cwd",
    ]
    answer = library.sql(f"SELECT {', '.join(columns)} FROM messages WHERE session_id = '{session.id}'")
    assert len(answer.rows) == len(rows)
    for values in answer.rows:
        expected = {name: _cell(value) for name, value in zip(columns, values, strict=True)}
        assert {name: rows[expected["uuid"]][name] for name in columns} == expected


def _cell(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


# --- JSON -------------------------------------------------------------------------------------------------------------


def test_json_is_what_its_schema_says(home: Path, tmp_path: Path) -> None:
    library = recollect.open(home)
    for item in library.sessions(kept=None, count=False):
        options = ExportOptions(depth="all", branches=True, costs=True)
        made = write_with(FORMATS["json"], [library.session(item.session_id)], tmp_path, options)
        found = msgspec.json.decode(made.main, type=Exported, strict=True)
        assert found.recollect_export == 1


def strings(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        return set().union(*map(strings, value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*map(strings, value)) if value else set()
    return set()


@pytest.mark.parametrize("name", ["rich", "hostile"])
def test_json_loses_no_content(home: Path, tmp_path: Path, name: str) -> None:
    """Every text of every message, subagents and branches included, stands in the export."""
    session = session_of(home, name)
    found = strings(json.loads(written(home, name, "json", tmp_path).main))
    missing = []
    entries = [
        *session.entries(),
        *(entry for item in session.file.subagents for entry in session.entries(item.subagent_id)),
    ]
    for entry in entries:
        if entry.get("type") in ("user", "assistant"):
            content = entry["message"]["content"]
            texts = strings(content) | strings(entry.get("toolUseResult"))
            missing += [text for text in texts if whole_text(text) not in found]
    assert set(missing) <= {"tool_result"}  # the type of a result, which stands at its call


def test_json_nests_what_a_call_started(home: Path, tmp_path: Path) -> None:
    data = json.loads(written(home, "rich", "json", tmp_path).main)
    calls = [block for message in data["messages"] for block in message["blocks"] if block["type"] == "tool_use"]
    (task,) = [call for call in calls if call["subagents"]]
    inner = [
        block
        for message in task["subagents"][0]["messages"]
        for block in message["blocks"]
        if block["type"] == "tool_use"
    ]
    assert [bool(call["subagents"]) for call in inner] == [False, True]
    assert next(call for call in calls if call["name"].startswith("mcp"))["result"] is None
    assert len(data["branches"]) == 1
    assert data["subagents"] == []
    assert data["left_out"] == []


# --- raw lines and text -----------------------------------------------------------------------------------------------


def test_raw_lines_are_the_bytes_of_the_files(home: Path, tmp_path: Path) -> None:
    library = recollect.open(home)
    for item in library.sessions(count=False):
        session = library.session(item.session_id)
        made = write_with(FORMATS["jsonl"], [session], tmp_path, ExportOptions(depth="all"))
        assert made.main == session.file.path.read_bytes()
        others = {name.rpartition("/")[2]: data for name, data in made.files.items() if name != made.name}
        assert others == {part.path.name: part.path.read_bytes() for part in session.file.subagents}


@pytest.mark.parametrize("depth", ["prompts", "conversation", "tools", "all"])
def test_text_has_100_columns_and_no_escapes(home: Path, tmp_path: Path, depth: str) -> None:
    for name in ("rich", "hostile"):
        text = written(home, name, "text", tmp_path, depth=depth, costs=True).main.decode()
        assert max(map(len, text.splitlines())) <= COLUMNS
        assert not any(mark in text for mark in "\x1b\x07\x00\x9b\u202e")
    assert ("x" * 90 in text) and ("Nothing there." not in text)


def test_depths_show_more_and_more(home: Path) -> None:
    session = session_of(home, "rich")
    seen = []
    for depth in ("prompts", "conversation", "tools", "all"):
        document = Document(session, ExportOptions(depth=depth))
        messages = list(document.messages())
        assert len(messages) == document.count
        seen.append((len(messages), sum(len(message.parts) for message in messages)))
    assert seen == sorted(seen)
    assert len(set(seen)) == 4
    assert HOSTILE  # the texts of the other session are not empty


def test_last_counts_what_the_depth_shows(home: Path) -> None:
    session = session_of(home, "rich")
    document = Document(session, ExportOptions(depth="conversation", last=1))
    (message,) = document.messages()
    assert [part.text for part in message.parts] == ["Going on."]
    everything = Document(session, ExportOptions())
    third = list(everything.messages())[2]
    (only,) = Document(session, ExportOptions(message=third.uuid)).messages()
    assert only.uuid == third.uuid
    ranged = Document(session, ExportOptions(start=third.number, end=third.number))
    assert [item.uuid for item in ranged.messages()] == [third.uuid]
    assert any("outside of the chosen range" in words for words in ranged.left_out)
