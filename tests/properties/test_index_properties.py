"""Random edits of a store, as clients, crashes and people make them: an index that follows says what a new one says."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.index.syncing import Index

from recollect.testing import uuid_from

SESSIONS = [uuid_from(f"session {number}") for number in range(3)]
FOLDERS = ("-w-app", "-w-other")
UUIDS = [uuid_from(f"row {number}") for number in range(8)]
CALLS = ("toolu_1", "toolu_2")
WORDS = ("alpha", "beta", "gamma delta", "needle")


def user(uuid: str, parent: str | None, text: str, side: bool) -> dict[str, Any]:
    return {
        "parentUuid": parent, "isSidechain": side, "type": "user", "uuid": uuid, "cwd": "/w/app", "version": "2.1.325",
        "timestamp": "2026-03-09T10:00:00.000Z", "message": {"role": "user", "content": text},
    }  # fmt: skip


def assistant(uuid: str, parent: str | None, text: str, call: str | None) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": text}
    if call:
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": text}}
    message = {"id": f"msg_{uuid[:4]}", "role": "assistant", "model": "claude-opus-4-5", "content": [block]}
    return {
        "parentUuid": parent, "isSidechain": False, "type": "assistant", "uuid": uuid, "requestId": "req_1", "cwd": "/w/other",
        "timestamp": "2026-03-09T10:00:01.000Z", "gitBranch": "main", "message": message,
    }  # fmt: skip


def result(uuid: str, call: str, text: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": text == "beta"}
    told = {"filePath": "/w/app/a", "structuredPatch": [{"lines": ["+one", "-two", " three"]}]}
    row = user(uuid, None, "", side=False)
    return {**row, "message": {"role": "user", "content": [block]}, "toolUseResult": told}


ROW_IDS, LINKS, TEXTS = st.sampled_from(UUIDS), st.none() | st.sampled_from(UUIDS), st.sampled_from(WORDS)
OBJECTS = st.one_of(
    st.builds(user, ROW_IDS, LINKS, TEXTS, st.booleans()),
    st.builds(assistant, ROW_IDS, LINKS, TEXTS, st.none() | st.sampled_from(CALLS)),
    st.builds(result, ROW_IDS, st.sampled_from(CALLS), TEXTS),
    st.builds(lambda text: {"type": "custom-title", "customTitle": text}, TEXTS),
    st.builds(lambda uuid: {"type": "last-prompt", "leafUuid": uuid, "lastPrompt": "alpha"}, LINKS),
    st.just({"type": "relocated", "relocatedCwd": "/w/other"}),
)
GOOD = OBJECTS.map(lambda value: json.dumps(value).encode() + b"\n")
LINES = st.one_of(
    GOOD,
    GOOD,
    st.tuples(GOOD, GOOD).map(lambda pair: pair[0][:-1] + pair[1]),  # glued
    GOOD.map(lambda line: line[: len(line) // 2] + b"\n"),  # torn, and ended
    st.sampled_from([b"\n", b"no json\n", b"[1]\n", b"\x00\x00\n", b'{"type":"user","uuid":"\\ud800"}\n']),
)
TAILS = st.one_of(
    st.just(b""),
    GOOD.map(lambda line: line[:-1]),  # complete, without an end
    GOOD.map(lambda line: line[: len(line) // 2]),  # half
)

Edit = Callable[[Path], None]


def place(root: Path, session: int, folder: int) -> Path:
    return root / "projects" / FOLDERS[folder] / f"{SESSIONS[session]}.jsonl"


def append(session: int, folder: int, lines: list[bytes], tail: bytes) -> Edit:
    def edit(root: Path) -> None:
        with place(root, session, folder).open("ab") as stream:
            stream.write(b"".join(lines) + tail)

    return edit


def cut(session: int, folder: int, share: float) -> Edit:
    def edit(root: Path) -> None:
        path = place(root, session, folder)
        if path.exists():
            os.truncate(path, int(path.stat().st_size * share))

    return edit


def replace(session: int, folder: int, lines: list[bytes]) -> Edit:
    def edit(root: Path) -> None:
        path = place(root, session, folder)
        other = path.with_suffix(".new")
        other.write_bytes(b"".join(lines))
        os.replace(other, path)

    return edit


def overwrite(session: int, folder: int, old: bytes, new: bytes) -> Edit:
    """Same place, same size, another time."""

    def edit(root: Path) -> None:
        path = place(root, session, folder)
        if path.exists():
            before = path.stat().st_mtime_ns
            path.write_bytes(path.read_bytes().replace(old, new))
            os.utime(path, ns=(before + 1000, before + 1000))

    return edit


def move(session: int, folder: int, to_session: int, to_folder: int) -> Edit:
    def edit(root: Path) -> None:
        source, target = place(root, session, folder), place(root, to_session, to_folder)
        if source.exists() and source != target:
            os.replace(source, target)

    return edit


def delete(session: int, folder: int) -> Edit:
    return lambda root: place(root, session, folder).unlink(missing_ok=True)


WHICH, WHERE = st.integers(0, 2), st.integers(0, 1)
EDITS = st.one_of(
    st.builds(append, WHICH, WHERE, st.lists(LINES, max_size=6), TAILS),
    st.builds(append, WHICH, WHERE, st.lists(LINES, max_size=6), TAILS),
    st.builds(cut, WHICH, WHERE, st.floats(0, 1)),
    st.builds(replace, WHICH, WHERE, st.lists(LINES, max_size=6)),
    st.builds(overwrite, WHICH, WHERE, st.just(b"alpha"), st.sampled_from([b"omega", b"delta"])),
    st.builds(move, WHICH, WHERE, WHICH, WHERE),
    st.builds(delete, WHICH, WHERE),
)


@settings(max_examples=max(settings.default.max_examples // 4, 1) if settings.default else 25)
@given(st.lists(st.lists(EDITS, min_size=1, max_size=4), min_size=1, max_size=5))
def test_following_equals_building_anew(rounds: list[list[Edit]]) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "claude"
        for folder in FOLDERS:
            (root / "projects" / folder).mkdir(parents=True)
        index = Index(root, Path(scratch))
        with index.catalogue:
            for edits in rounds:
                for edit in edits:
                    edit(root)
                index.sync()
            assert index.told() == index.told_by_a_new_one()
            again = index.sync()
            assert (again.lines, again.files, again.documents) == (0, 0, 0)
