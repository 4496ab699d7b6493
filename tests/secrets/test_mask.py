"""`library.changes.mask`: the values are gone from every file, and nothing else is."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from tests.secrets.masking_scene import CLEAN, DELETED, MAIN, OTHER, TOKEN, VALUES, MaskScene, tree

from recollect.errors import Refused
from recollect.library.masking import ONLY_SETTINGS, MaskPlan
from recollect.store.opening import is_secret

SETTINGS = "claude/settings.json"


@pytest.fixture
def scene(tmp_path: Path) -> MaskScene:
    return MaskScene(tmp_path)


@pytest.fixture
def full(scene: MaskScene) -> MaskScene:
    scene.fill()
    return scene


def left(plan: MaskPlan) -> dict[str, str]:
    return {Path(row["path"]).name: row["why"] for row in plan.result["left"]}


def test_no_value_is_left_anywhere(full: MaskScene) -> None:
    assert len(full.leaks()) > 30
    plan = full.mask(settings=True)
    assert full.leaks() == []
    assert plan.result["masked"] is True
    assert plan.result["left"] == []
    assert "nothing is left" in plan.said


def test_what_is_said_holds_no_value(full: MaskScene) -> None:
    with full.library() as library:
        plan = full.plan(library)
        told = [json.dumps(plan.as_dict()), *plan.steps, plan.title]
        done = plan.commit()
        told += [json.dumps(plan.as_dict(done)), *done.steps, plan.said]
        told += [f"{record.title} {record.actions}" for record in library.changes.records()]
    assert not [
        text for text in told for value in VALUES if value.value in text or json.dumps(value.value)[1:-1] in text
    ]


def test_a_plan_changes_nothing(full: MaskScene) -> None:
    before = tree(full.folder)
    with full.library() as library:
        full.plan(library)
    after = tree(full.folder)
    assert {name: after[name] for name in before if not name.startswith(("cache/", "data/locks/"))} == {
        name: before[name] for name in before if not name.startswith(("cache/", "data/locks/"))
    }


def test_every_other_byte_stays(scene: MaskScene) -> None:
    before = tree(scene.home.root)
    plan = scene.mask()
    after = tree(scene.home.root)
    masked = {file["path"] for file in plan.result["files"]}
    assert before.keys() == after.keys()
    for name, (old, time_before) in before.items():
        new, time_after = after[name]
        assert time_before == time_after, name
        if name not in masked:
            assert old == new, name
            continue
        assert old != new, name
        lines = list(zip(old.split(b"\n"), new.split(b"\n"), strict=True)) if name.endswith(".jsonl") else []
        for one, other in lines:
            if one != other:
                assert b"redacted: " in other or b"thinking removed" in other or b'"thinking"' in one, name
                assert TOKEN.value.encode() in one or b"kettle" in one or b"PRIVATE KEY" in one or b"token:" in one, one


def test_ids_signatures_and_structure_stay(scene: MaskScene) -> None:
    path = scene.home.projects / "-work-tea" / f"{MAIN}.jsonl"
    before = [json.loads(line) for line in path.read_bytes().splitlines()[:-1]]
    scene.mask()
    after = [json.loads(line) for line in path.read_bytes().splitlines()[:-1]]
    names = ("uuid", "parentUuid", "sessionId", "timestamp", "type", "requestId", "cwd")
    assert [[row.get(name) for name in names] for row in before] == [[row.get(name) for name in names] for row in after]
    assert [row.keys() for row in before] == [row.keys() for row in after]


def test_a_thinking_block_goes_as_a_whole(scene: MaskScene) -> None:
    path = scene.home.projects / "-work-tea" / f"{MAIN}.jsonl"
    plan = scene.mask()
    rows = [json.loads(line) for line in path.read_bytes().splitlines()[:-1]]
    blocks = [row["message"]["content"] for row in rows if row["type"] == "assistant"]
    assert not [block for row in blocks for block in row if block["type"] == "thinking"]
    assert {"type": "text", "text": "[thinking removed: it held a secret]"} in [
        block for row in blocks for block in row
    ]
    assert all(blocks)
    assert (
        next(file for file in plan.result["files"] if file["path"].endswith(f"{MAIN}.jsonl"))["thinking_removed"] == 2
    )


def test_a_masked_home_is_healthy(full: MaskScene) -> None:
    with full.library() as library:
        before = library.check()
        kinds = {(item.rule, item.line) for item in before.findings}
    full.mask()
    with full.library() as library:
        after = library.check()
        assert {(item.rule, item.line) for item in after.findings} <= kinds
        assert library.vault.verify().findings == []
        assert len(library.session(MAIN).messages()) > 5


def test_messages_stay_and_the_index_finds_them(full: MaskScene) -> None:
    with full.library() as library:
        count = len(library.session(MAIN).messages())
        found = library.search("wrapped").total
    full.mask()
    with full.library() as library:
        assert len(library.session(MAIN).messages()) == count
        assert library.search("wrapped").total == found
        assert not library.search(TOKEN.value).total
        assert library.search("redacted").total


def test_a_second_run_does_nothing(full: MaskScene) -> None:
    full.mask()
    before = {name: seen for name, seen in tree(full.folder).items() if not name.startswith("data/locks")}
    plan = full.mask()
    assert not plan.is_needed
    assert plan.result["files"] == []
    assert {name: seen for name, seen in tree(full.folder).items() if not name.startswith("data/locks")} == before


# --- the journal ------------------------------------------------------------------------------------------------------


def test_the_masking_is_a_change_that_cannot_be_undone(full: MaskScene) -> None:
    full.mask()
    with full.library() as library:
        newest = library.changes.records()[0]
        assert (newest.name, newest.state) == ("mask", "done")
        assert newest.title.startswith("Mask generic-password, github-pat, private-key in ")
        for number in (None, newest.number):
            with pytest.raises(Refused) as caught:
                library.changes.undo(number).commit()
            assert caught.value.slug == "masked-for-good"


def test_changes_that_kept_a_value_lose_their_undo_and_say_so(full: MaskScene) -> None:
    plan = full.mask()
    with full.library() as library:
        states = {record.name: record.state for record in library.changes.records()}
        assert (
            states == {"mask": "done", "delete": "done", "fork": "masked", "rename": "done"}
            or states["fork"] == "masked"
        )
        lost = {row["number"] for row in plan.result["without_undo"]}
        assert lost == {record.number for record in library.changes.records() if record.state == "masked"}
        for number in lost:
            with pytest.raises(Refused) as caught:
                library.changes.undo(number).commit()
            assert caught.value.slug == "masked-for-good"


def test_the_trash_gives_back_the_masked_session(full: MaskScene) -> None:
    full.mask()
    with full.library() as library:
        record = next(item for item in library.changes.records() if item.name == "delete")
        library.changes.undo(record.number).commit()
    path = full.home.projects / "-work-tea" / f"{DELETED}.jsonl"
    assert b"[redacted: github-pat]" in path.read_bytes()
    assert full.leaks(but=(SETTINGS,)) == []


def test_a_change_of_another_file_can_still_be_undone(full: MaskScene) -> None:
    full.mask()
    with full.library() as library:
        record = next(item for item in library.changes.records() if CLEAN in item.title)
        library.changes.undo(record.number).commit()
        assert next(item for item in library.changes.records() if item.number == record.number).state == "undone"


def test_the_vault_restores_masked_sessions(full: MaskScene) -> None:
    from recollect.library.restoring import RestoreRequest

    full.mask()
    (full.home.projects / "-work-tea" / f"{OTHER}.jsonl").unlink()
    with full.library() as library:
        library.changes.restore(RestoreRequest([OTHER])).commit()
    assert b"[redacted: github-pat]" in (full.home.projects / "-work-tea" / f"{OTHER}.jsonl").read_bytes()
    assert full.leaks(but=(SETTINGS,)) == []


def test_every_snapshot_of_the_vault_stays(full: MaskScene) -> None:
    with full.library() as library:
        before = library.vault.store.contents
    full.mask()
    with full.library() as library:
        after = library.vault.store.contents
        assert after.era == before.era + 1
    assert after.files.keys() == before.files.keys()
    for key, file in before.files.items():
        assert [(look.time, look.generation, look.mtime_ns) for look in file.looks] == [
            (look.time, look.generation, look.mtime_ns) for look in after.files[key].looks
        ]


# --- what is refused --------------------------------------------------------------------------------------------------


def test_settings_only_on_request(scene: MaskScene) -> None:
    before = (scene.home.root / "settings.json").read_bytes()
    plan = scene.mask()
    assert left(plan) == {"settings.json": ONLY_SETTINGS}
    assert (scene.home.root / "settings.json").read_bytes() == before
    assert left(scene.mask(settings=True)) == {}
    assert json.loads((scene.home.root / "settings.json").read_text()) == {"env": {"TOKEN": "[redacted: github-pat]"}}


def test_a_session_in_use_stays_and_is_named(scene: MaskScene) -> None:
    path = scene.home.projects / "-work-tea" / f"{OTHER}.jsonl"
    os.utime(path)
    before = path.read_bytes()
    plan = scene.mask(settings=True)
    assert "in use" in left(plan)[path.name]
    assert path.read_bytes() == before
    assert plan.result["masked"] is False
    os.utime(path, (1e9, 1e9))
    assert scene.mask(settings=True).result["masked"] is True


def test_an_open_session_keeps_all_its_files(scene: MaskScene) -> None:
    (scene.home.root / "sessions").mkdir()
    running = {"pid": os.getpid(), "sessionId": MAIN, "cwd": "/work/tea", "startedAt": int(time.time() * 1000)}
    (scene.home.root / "sessions" / f"{os.getpid()}.json").write_text(json.dumps(running))
    plan = scene.mask(settings=True)
    names = left(plan)
    assert {f"{MAIN}.jsonl", "b1234567.txt", f"{MAIN}.txt", "1.json"} <= names.keys()
    assert all("in use" in why for why in names.values())


def test_links_hard_links_and_young_files_are_left(scene: MaskScene, tmp_path: Path) -> None:
    plans = scene.home.root / "plans"
    outside = tmp_path / "outside.md"
    outside.write_text(TOKEN.value)
    (plans / "link.md").symlink_to(outside)
    (plans / "one.md").write_text(TOKEN.value)
    os.link(plans / "one.md", plans / "two.md")
    os.utime(plans / "one.md", (1e9, 1e9))
    (plans / "young.md").write_text(TOKEN.value)
    plan = scene.mask(settings=True)
    names = left(plan)
    assert names.keys() == {"link.md", "one.md", "two.md", "young.md"}
    assert "link" in names["link.md"]
    assert "second name" in names["one.md"]
    assert "60 s" in names["young.md"]
    assert outside.read_text() == TOKEN.value


def test_a_file_that_grew_since_the_plan_is_read_again(scene: MaskScene) -> None:
    path = scene.home.projects / "-work-tea" / f"{OTHER}.jsonl"
    with scene.library() as library:
        plan = scene.plan(library, settings=True)
        with open(path, "ab") as stream:
            stream.write(json.dumps({"type": "user", "message": {"content": f"late {TOKEN.value}"}}).encode() + b"\n")
        os.utime(path, (1e9, 1e9))
        plan.commit()
    assert path.read_bytes().endswith(b'"late [redacted: github-pat]"}}\n')
    assert scene.leaks() == []


def test_tokens_of_claude_code_are_never_read(scene: MaskScene, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = os.open

    def watch(path: str, *rest: object, **more: object) -> int:
        opened.append(os.fspath(path))
        return real(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", watch)
    scene.mask()
    assert opened
    assert not [path for path in opened if isinstance(path, str) and is_secret(path)]


def test_inside_words_only_everywhere(scene: MaskScene) -> None:
    path = scene.home.root / "plans" / "quiet-river.md"
    path.write_text(f"x{TOKEN.value}y")
    os.utime(path, (1e9, 1e9))
    plan = scene.mask(settings=True)
    assert "--everywhere" in left(plan)["quiet-river.md"]
    assert path.read_text() == f"x{TOKEN.value}y"
    assert scene.mask(settings=True, everywhere=True).result["masked"] is True
    assert path.read_text() == "x[redacted: github-pat]y"


def test_same_length_keeps_every_offset(full: MaskScene) -> None:
    before = {name: len(data) for name, (data, _) in tree(full.home.root).items()}
    plan = full.mask(same_length=True, settings=True)
    after = {name: len(data) for name, (data, _) in tree(full.home.root).items()}
    thinking = {file["path"] for file in plan.result["files"] if file["thinking_removed"]}
    assert {name for name in before if before[name] != after[name]} <= thinking
    assert full.leaks() == []


def test_an_interrupted_masking_is_ended_by_the_next(full: MaskScene) -> None:
    full.mask(settings=True)
    (full.folder / "data" / "masking.json").write_text('{"time":0,"fingerprints":["aaaaaaaaaaaa"],"places":[]}')
    with full.library() as library:
        plan = library.changes.mask([])
        assert plan.is_needed
        plan.commit()
    assert not (full.folder / "data" / "masking.json").exists()
