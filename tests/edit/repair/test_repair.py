"""Repairs carried out on homes: what changes, what is kept, and that all of it can be taken back."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.edit.repair.repairing import files_state, repair

from recollect.edit.repair.draft import Fragment
from recollect.edit.repair.plan import RepairResult, _fragment_line, plan_repair
from recollect.errors import DamagedData, NotFound, Refused, StoreBusy
from recollect.format.line import SMALL_FILE
from recollect.graph.thread import find_thread
from recollect.journal import disk
from recollect.journal.changes import Journal
from recollect.library.library import open_library
from recollect.store.read import read_transcript
from recollect.store.scan import SessionFile
from recollect.testing import DAMAGES, HomeBuilder, TranscriptBuilder, sample_session, uuid_from
from recollect.testing.damage.recipe import join_lines, split_lines
from recollect.testing.toolcalls import bash

CWD = "/home/dev/orchard"
LONG_AGO = 1_750_000_000


class Damaged:
    """A home with one damaged session."""

    def __init__(self, folder: Path, data: bytes, name: str | None = None) -> None:
        self.builder = HomeBuilder(folder / "claude")
        session = self.builder.session(CWD, session_id=sample_session().session_id)
        session.user("x")
        self.builder.damage(session, data)
        self.root = self.builder.write()
        self.path = self.builder.session_path(session)
        if name is not None:
            self.path = self.path.rename(self.path.with_name(name))
        os.utime(self.path, (LONG_AGO, LONG_AGO))
        self.journal = Journal(folder / "data")

    @property
    def file(self) -> SessionFile:
        return open_library([self.root]).files()[0]

    def repair(self, **options: Any) -> RepairResult:
        change, result = plan_repair(self.journal, self.file, **options)
        with change:
            if result.changes_something:
                change.commit()
        return result

    def sent(self, path: Path | None = None) -> list[str | None]:
        return [row.uuid for row in find_thread(read_transcript(path or self.file.path)).sent]


@pytest.fixture
def torn(tmp_path: Path) -> Damaged:
    return Damaged(tmp_path, DAMAGES["torn-and-glued"].make(1))


def test_the_plan_changes_nothing(torn: Damaged) -> None:
    before = files_state(torn.root)
    change, result = plan_repair(torn.journal, torn.file)
    with change:
        assert result.changes_something
        assert result.before.share < 1 == result.after.share
        assert [item.fix for item in result.fixes] == ["lines", "links"]
    assert files_state(torn.root) == before
    assert torn.journal.records() == []
    assert list((torn.journal.staging).glob("*")) == []


def test_repair_keeps_the_time_the_bytes_and_a_way_back(torn: Damaged) -> None:
    before = files_state(torn.root)
    data = torn.path.read_bytes()
    result = torn.repair()
    assert torn.path.stat().st_mtime == LONG_AGO
    assert result.side_file is not None
    told = json.loads(result.side_file.read_bytes())
    kept = told["text"].encode()
    assert data[told["offset"] : told["offset"] + told["length"]] == kept
    untouched = [line for line in split_lines(data) if line in split_lines(torn.path.read_bytes())]
    assert len(untouched) == len(split_lines(data)) - 1  # one line was parted and its row hung on another
    torn.journal.undo(torn.journal.record(), torn.file.home)
    assert files_state(torn.root) == before
    assert not result.side_file.exists()


def test_a_second_repair_finds_nothing(torn: Damaged) -> None:
    torn.repair()
    assert not torn.repair().changes_something


def test_repair_undo_repair(torn: Damaged) -> None:
    torn.repair()
    first = torn.path.read_bytes()
    torn.journal.undo(torn.journal.record(), torn.file.home)
    torn.repair()
    assert torn.path.read_bytes() == first


def test_into_a_fork(torn: Damaged) -> None:
    before = torn.path.read_bytes()
    result = torn.repair(fork=True)
    assert torn.path.read_bytes() == before
    assert result.fork is not None
    assert result.target.name == f"{result.fork}.jsonl"
    assert len(torn.sent(result.target)) == result.after.sent > result.before.sent
    entries = [json.loads(line) for line in split_lines(result.target.read_bytes())]
    assert {entry["sessionId"] for entry in entries if "sessionId" in entry} == {result.fork}
    assert entries[-1]["customTitle"].endswith("(repaired)")


def test_a_session_in_use_is_refused_unless_it_is_forked(torn: Damaged) -> None:
    os.utime(torn.path)
    with pytest.raises(StoreBusy):
        plan_repair(torn.journal, torn.file)
    change, result = plan_repair(torn.journal, torn.file, fork=True)
    with change:
        assert result.changes_something


def test_a_file_that_changes_after_the_plan_is_left_alone(torn: Damaged) -> None:
    change, _ = plan_repair(torn.journal, torn.file)
    size = torn.path.stat().st_size
    with torn.path.open("r+b") as stream:  # same size, same time: only the hash tells
        stream.seek(size // 2)
        byte = stream.read(1)
        stream.seek(size // 2)
        stream.write(b"x" if byte != b"x" else b"y")
    os.utime(torn.path, (LONG_AGO, LONG_AGO))
    with change, pytest.raises(StoreBusy):
        change.commit()
    assert torn.journal.records() == []


def test_a_copy_that_is_not_what_was_read_ends_it_before_anything_is_replaced(
    torn: Damaged, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that gives back other bytes than it was given, of the same length and time."""
    before = files_state(torn.root)
    replaced: list[Path] = []

    def damaged_copy(source: Path, target: Path) -> None:
        disk.copy_tree(source, target)
        data = bytearray(target.read_bytes())
        data[len(data) // 2] ^= 1
        target.write_bytes(data)
        os.utime(target, ns=(source.stat().st_atime_ns, source.stat().st_mtime_ns))

    real = disk.put_in_place
    monkeypatch.setattr(disk, "put_in_place", lambda *places: replaced.append(places[1]) or real(*places))  # type: ignore[func-returns-value]
    change, _ = plan_repair(torn.journal, torn.file)
    with change, monkeypatch.context() as patch, pytest.raises(DamagedData) as caught:
        patch.setattr(disk, "link_or_copy", _only_for("old-", damaged_copy, disk.link_or_copy))
        change.commit()
    assert caught.value.slug == "backup-differs"
    assert torn.path not in replaced
    assert files_state(torn.root) == before
    assert [record.state for record in torn.journal.records()] == ["failed"]
    assert torn.repair().after.share == 1.0


def _only_for(start: str, one: Any, other: Any) -> Any:
    return lambda source, target: (one if target.name.startswith(start) else other)(source, target)


@pytest.mark.parametrize(
    ("name", "expected"), [("upper", sample_session().session_id), ("copy of it.jsonl", sample_session().session_id)]
)
def test_a_name_that_the_client_finds(name: str, expected: str, tmp_path: Path) -> None:
    given = f"{sample_session().session_id.upper()}.jsonl" if name == "upper" else name
    damaged = Damaged(tmp_path, sample_session().to_bytes(), given)
    result = damaged.repair()
    assert result.target.stem == expected
    assert not damaged.path.exists()
    assert result.target.read_bytes() == sample_session().to_bytes()


def test_only_what_a_rule_finds(tmp_path: Path) -> None:
    both = DAMAGES["lone-high-surrogate"].apply(DAMAGES["clock-jump"].make(1), 2)
    damaged = Damaged(tmp_path, both)
    assert [item.fix for item in damaged.repair(rules=["surrogate"]).fixes] == ["text"]
    assert [item.fix for item in damaged.repair(rules=["newest-row-is-not-last"]).fixes] == ["times"]


def test_rules_that_are_none_or_cannot_be_repaired(torn: Damaged) -> None:
    with pytest.raises(NotFound):
        plan_repair(torn.journal, torn.file, rules=["no-such"])
    with pytest.raises(Refused):
        plan_repair(torn.journal, torn.file, rules=["todo-transition"])


def test_files_of_subagents(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session(CWD)
    t.user("Find it.")
    subagent = t.subagent("look")
    subagent.user("there?")
    subagent.finish("found")
    t.assistant("There.")
    root = home.write()
    path = home.subagent_path(subagent)
    assert path is not None
    path.write_bytes(path.read_bytes() + b'{"torn')
    for item in root.rglob("*"):
        os.utime(item, (LONG_AGO, LONG_AGO))
    journal = Journal(tmp_path / "data")
    change, result = plan_repair(journal, open_library([root]).files()[0])
    with change:
        change.commit()
    assert [(item.fix, item.path) for item in result.fixes] == [("lines", path)]
    assert not path.read_bytes().endswith(b'{"torn')


# -- single fixes -----------------------------------------------------------------------------------------------------
def session(build: Any) -> bytes:
    t = TranscriptBuilder(uuid_from("fix"), CWD, step=30.0)
    build(t)
    return t.to_bytes()


def test_an_unanswered_call_gets_an_answer_behind_it() -> None:
    repaired = repair(DAMAGES["unanswered-call"].make(0))
    call = next(entry for entry in repaired.entries if '"type": "tool_use"' in json.dumps(entry))
    place = repaired.entries.index(call)
    answer = repaired.entries[place + 1]
    assert answer["parentUuid"] == call["uuid"]
    assert answer["message"]["content"][0]["is_error"] is True
    assert repaired.entries[place + 2]["parentUuid"] == answer["uuid"]


def test_a_broken_off_turn_is_left_to_the_client() -> None:
    data = session(lambda t: (t.user("Go."), t.assistant(tools=[bash("sleep 9")])))
    assert repair(data).after == data


def test_results_without_a_call_become_words() -> None:
    repaired = repair(DAMAGES["orphan-result"].make(0))
    assert repaired.fixes == ["results"]
    assert b"210 apples.txt" in repaired.after
    assert b'"tool_result"' not in repaired.after
    assert [item.why for item in repaired.fragments] == ["original"]


def test_thoughts_without_a_signature_leave() -> None:
    def build(t: TranscriptBuilder) -> None:
        t.user("Think.")
        t.assistant("Thought.", thinking="hm")
        for entry in t.entries:
            content = entry["message"]["content"] if "message" in entry else ""
            for block in content if isinstance(content, list) else []:
                block.pop("signature", None)

    repaired = repair(session(build))
    assert repaired.fixes == ["thinking"]
    assert b'"thinking"' not in repaired.after
    assert b"hm" in b"".join(item.data for item in repaired.fragments)


def test_pictures_that_are_too_large_become_words() -> None:
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 8 + (9000).to_bytes(4) + (10).to_bytes(4)).decode()
    source = {"type": "base64", "media_type": "image/png", "data": data + "A" * 1000}

    def build(t: TranscriptBuilder) -> None:
        row = t.user("Look.")
        t.entry(row)["message"]["content"] = [{"type": "text", "text": "Look."}, {"type": "image", "source": source}]
        t.assistant("Seen.")

    repaired = repair(session(build))
    assert repaired.fixes == ["images"]
    assert b"9,000 x 10 pixels" in repaired.after
    assert data.encode() in repaired.fragments[0].data


def test_objects_spread_over_lines_come_together_again() -> None:
    repaired = repair(DAMAGES["pretty-printed"].make(0))
    assert repaired.entries == [json.loads(line) for line in split_lines(sample_session().to_bytes())]


def test_rows_in_a_list_get_lines_of_their_own() -> None:
    lines = split_lines(sample_session().to_bytes())
    repaired = repair(b"[\n" + b",\n".join(lines) + b"\n]\n")
    assert (repaired.was.found, repaired.now.share) == (False, 1.0)
    assert repaired.entries == [json.loads(line) for line in lines]


def test_a_row_inside_of_something_that_nobody_closed_comes_to_light() -> None:
    lines = split_lines(sample_session().to_bytes())
    repaired = repair(b"\n".join(lines[:-1]) + b'\n{"type":"user","message":\n' + lines[-1] + b"\n")
    assert repaired.entries == [json.loads(line) for line in lines]
    assert len(repaired.now.reached) > len(repaired.was.reached)


def test_an_object_over_several_lines_in_a_large_file_is_put_on_one() -> None:
    data = DAMAGES["pretty-printed"].make(0)
    filling = b'{"type":"unknown-kind","x":"' + b"x" * SMALL_FILE + b'"}\n'
    repaired = repair(data + filling)
    assert (repaired.was.found, repaired.now.share) == (False, 1.0)
    assert repaired.entries[:-1] == [json.loads(line) for line in split_lines(sample_session().to_bytes())]


def test_lines_in_order_again() -> None:
    repaired = repair(DAMAGES["reversed-lines"].make(0))
    rows = [entry for entry in repaired.entries if "uuid" in entry]
    seen: set[str | None] = {None}
    for entry in rows:
        assert entry["parentUuid"] in seen
        seen.add(entry["uuid"])


def test_what_hangs_on_an_unknown_row_hangs_on_its_parent() -> None:
    repaired = repair(DAMAGES["unknown-type-in-chain"].make(2))
    unknown = next(entry for entry in repaired.entries if entry["type"] == "reverie")
    below = [entry for entry in repaired.entries if entry.get("parentUuid") == unknown["parentUuid"]]
    assert len(below) == 2  # the unknown row itself, and what hung on it


def test_exact_copies_leave_on_request() -> None:
    data = DAMAGES["duplicate-uuid-same"].make(0)
    assert repair(data).after == data
    repaired = repair(data, "copies")
    assert repaired.after == sample_session().to_bytes()
    assert [item.why for item in repaired.fragments] == ["copy"]


def test_unknown_blocks_become_words_on_request() -> None:
    data = DAMAGES["unknown-block"].make(0)
    assert repair(data).after == data
    assert b'{"type":"hologram"' not in repair(data, "blocks").after


def test_rows_of_another_session_get_a_file_of_their_own(tmp_path: Path) -> None:
    own, other = sample_session(), TranscriptBuilder(uuid_from("other"), CWD)
    other.user("Wrong file.")
    other.assistant("So it is.")
    damaged = Damaged(tmp_path, own.to_bytes() + other.to_bytes())
    result = damaged.repair(rules=["foreign-session-id"])
    assert result.changes_something
    assert damaged.path.read_bytes() == own.to_bytes()
    assert (damaged.path.with_name(f"{other.session_id}.jsonl")).read_bytes() == other.to_bytes()


def test_very_long_results_go_into_files(tmp_path: Path) -> None:
    t = TranscriptBuilder(sample_session().session_id, CWD)
    t.user("Read it all.")
    t.call(bash("cat big", "x" * (9 << 20)))
    t.assistant("Read.")
    damaged = Damaged(tmp_path, t.to_bytes())
    assert not damaged.repair().changes_something
    damaged.repair(rules=["long-line"])
    assert damaged.path.stat().st_size < 1 << 20
    (kept,) = (damaged.path.with_suffix("") / "tool-results").iterdir()
    assert kept.read_bytes() == b"x" * (9 << 20)


def test_links_of_a_long_broken_session_take_linear_time() -> None:
    lines = split_lines(sample_session().to_bytes())
    template = json.loads(lines[1])
    rows = [
        json.dumps(template | {"uuid": uuid_from("row", number), "parentUuid": uuid_from("gone", number)}).encode()
        for number in range(3000)
    ]
    repaired = repair(join_lines(rows), "links")
    assert repaired.now.share == 1.0
    assert len(repaired.thread.chain) == 3000


@pytest.mark.parametrize(
    ("data", "kept"),
    [(b'{"a":', {"text": '{"a":'}), (b"\x00" * 5, {"nul_bytes": 5}), (b"\xff{", {"base64": "/3s="})],
)
def test_bytes_of_any_kind_are_kept_in_the_side_file(data: bytes, kept: dict[str, Any]) -> None:
    line = json.loads(_fragment_line(Path("/x"), Fragment("torn", 3, 40, data)))
    assert line == {"why": "torn", "path": "/x", "line": 3, "offset": 40, "length": len(data), **kept}
