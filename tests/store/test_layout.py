from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.store.layout import FileKind, HomeFile, file_at, ids_in_todo_name, kind_of_file, path_of, subagent_id_of
from recollect.store.opening import is_secret_file_name

SESSION = "6f2d0c1e-1111-4222-8333-444455556666"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (f"projects/-w/{SESSION}.jsonl", FileKind.TRANSCRIPT),
        ("projects/-w/agent-a753668.jsonl", FileKind.SUBAGENT_TRANSCRIPT),
        (f"projects/-w/{SESSION}/subagents/agent-a1.jsonl", FileKind.SUBAGENT_TRANSCRIPT),
        (f"projects/-w/{SESSION}/subagents/agent-a1.meta.json", FileKind.SUBAGENT_META),
        (f"projects/-w/{SESSION}/subagents/workflows/run/agent-a1.jsonl", FileKind.SUBAGENT_TRANSCRIPT),
        (f"projects/-w/{SESSION}/tool-results/b1.txt", FileKind.TOOL_RESULT),
        (f"projects/-w/{SESSION}/custom-title.json", FileKind.CUSTOM_TITLE),
        (f"projects/-w/{SESSION}/resume-head.jsonl", FileKind.RESUME_HEAD),
        ("projects/-w/memory/MEMORY.md", FileKind.MEMORY),
        ("projects/-w/sessions-index.json", FileKind.SESSIONS_INDEX),
        ("projects/-w/notes.txt", FileKind.UNKNOWN),
        (f"todos/{SESSION}.json", FileKind.TODOS),
        (f"tasks/{SESSION}/1.json", FileKind.TASK),
        ("plans/a.md", FileKind.PLAN),
        ("history.jsonl", FileKind.HISTORY),
        (f"file-history/{SESSION}/0123456789abcdef@v1", FileKind.FILE_BACKUP),
        ("sessions/77.json", FileKind.RUNNING_SESSION),
        ("sessions/77.abc.key", FileKind.SECRET),
        (".credentials.json", FileKind.SECRET),
        ("settings.local.json", FileKind.SETTINGS),
        (".claude.json", FileKind.CLIENT_CONFIG),
        (".claude.json.backup", FileKind.CONFIG_BACKUP),
        ("backups/.claude.json.backup.1772442000000", FileKind.CONFIG_BACKUP),
        ("skills/x/SKILL.md", FileKind.DEFINITION),
        ("statsig/statsig.stable_id.1", FileKind.STATSIG),
        ("telemetry/x", FileKind.CLIENT_STATE),
        ("what/is/this", FileKind.UNKNOWN),
        ("what-is-this", FileKind.UNKNOWN),
    ],
)
def test_kinds(path: str, kind: FileKind) -> None:
    assert kind_of_file(path.split("/")) is kind


def test_no_path() -> None:
    assert kind_of_file([]) is FileKind.UNKNOWN


@pytest.mark.parametrize(
    ("name", "subagent"),
    [
        ("agent-a0ad4f44468bdf20d.jsonl", "a0ad4f44468bdf20d"),
        ("agent-a0ad4f44468bdf20d.meta.json", "a0ad4f44468bdf20d"),
        ("agent-.jsonl", None),
        ("agent-x.txt", None),
        ("x-agent-y.jsonl", None),
    ],
)
def test_names_of_subagent_files(name: str, subagent: str | None) -> None:
    assert subagent_id_of(name) == subagent


@pytest.mark.parametrize(
    ("name", "session", "subagent"),
    [
        (f"{SESSION}.json", SESSION, None),
        (f"{SESSION}-agent-{SESSION}.json", SESSION, SESSION),
        (f"{SESSION}-agent-a753668.json", SESSION, "a753668"),
        ("hand-made.json", "hand-made", None),
    ],
)
def test_names_of_todo_files(name: str, session: str, subagent: str | None) -> None:
    assert ids_in_todo_name(name) == (session, subagent)


@pytest.mark.parametrize("name", ["notes.txt", ".json", "-agent-x.json", f"{SESSION}-agent-.json", SESSION])
def test_names_that_are_no_todo_files(name: str) -> None:
    assert ids_in_todo_name(name) is None


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        (f"projects/-w/{SESSION}.jsonl", ("-w", SESSION, None, None)),
        ("projects/-w/agent-a7.jsonl", ("-w", None, "a7", None)),
        ("projects/-w/agent-.jsonl", ("-w", "agent-", None, None)),
        (f"projects/-w/{SESSION}/subagents/agent-a1.jsonl", ("-w", SESSION, "a1", None)),
        (f"projects/-w/{SESSION}/subagents/agent-a1.meta.json", ("-w", SESSION, "a1", None)),
        (f"projects/-w/{SESSION}/subagents/workflows/run/agent-a1.jsonl", ("-w", SESSION, "a1", "run")),
        (f"projects/-w/{SESSION}/subagents/deeper/agent-a1.jsonl", ("-w", SESSION, None, None)),
        (f"projects/-w/{SESSION}/tool-results/b1.txt", ("-w", SESSION, None, None)),
        (f"projects/-w/{SESSION}/custom-title.json", ("-w", SESSION, None, None)),
        (f"projects/-w/{SESSION}/anything", ("-w", SESSION, None, None)),
        (f"projects/-w/{SESSION}.jsonl.bak", ("-w", SESSION, None, None)),
        ("projects/-w/memory/MEMORY.md", ("-w", None, None, None)),
        ("projects/-w/sessions-index.json", ("-w", None, None, None)),
        (f"todos/{SESSION}.json", (None, SESSION, None, None)),
        (f"todos/{SESSION}-agent-a1.json", (None, SESSION, "a1", None)),
        ("tasks/a-team/1.json", (None, "a-team", None, None)),
        (f"file-history/{SESSION}/0123456789abcdef@v1", (None, SESSION, None, None)),
        (f"debug/{SESSION}.txt", (None, SESSION, None, None)),
        (f"usage-data/facets/{SESSION}.json", (None, SESSION, None, None)),
        ("plans/a.md", (None, None, None, None)),
    ],
)
def test_whose_a_file_is(path: str, parts: tuple[str | None, ...]) -> None:
    assert file_at(path.split("/"))[1:5] == parts


NAMES = st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=12)
WORDS = st.sampled_from(
    ["projects", "-w", SESSION, f"{SESSION}.jsonl", "subagents", "workflows", "tool-results", "memory", "agent-a.jsonl",
     "agent-a.meta.json", "agent-.jsonl", "todos", f"{SESSION}-agent-b.json", "tasks", "1.json", "file-history", ".jsonl"]
)  # fmt: skip


@given(st.lists(WORDS | NAMES, min_size=1, max_size=8))
def test_every_path_is_written_as_it_was_read(parts: list[str]) -> None:
    assert path_of(file_at(parts)) == "/".join(parts)


IDS = st.uuids().map(str)
SUBAGENT_IDS = st.text("abcdefgh0123456789@+._-", min_size=1, max_size=20)
FOLDERS = st.text("abcXYZ-09", min_size=1, max_size=20)


def placed(*parts: st.SearchStrategy[Any]) -> st.SearchStrategy[HomeFile]:
    return st.tuples(*parts).map(lambda values: HomeFile(*values))


PLACED = st.one_of(
    placed(st.just(FileKind.TRANSCRIPT), FOLDERS, IDS),
    placed(st.just(FileKind.SUBAGENT_TRANSCRIPT), FOLDERS, st.none(), SUBAGENT_IDS),
    placed(
        st.sampled_from([FileKind.SUBAGENT_TRANSCRIPT, FileKind.SUBAGENT_META]), FOLDERS, IDS, SUBAGENT_IDS,
        st.none() | FOLDERS,
    ),
    placed(st.just(FileKind.TOOL_RESULT), FOLDERS, IDS, st.none(), st.none(), SUBAGENT_IDS),
    placed(st.just(FileKind.TODOS), st.none(), IDS, st.none() | SUBAGENT_IDS),
    placed(st.just(FileKind.TASK), st.none(), IDS, st.none(), st.none(), st.just("7.json")),
    placed(st.just(FileKind.FILE_BACKUP), st.none(), IDS, st.none(), st.none(), SUBAGENT_IDS),
).filter(lambda file: not is_secret_file_name(path_of(file).rpartition("/")[2]))  # fmt: skip


@given(PLACED)
def test_parts_are_read_again_from_the_path_they_make(file: HomeFile) -> None:
    assert file_at(path_of(file).split("/")) == file
