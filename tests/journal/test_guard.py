"""A session that somebody else uses is appended to only by force, and never rewritten."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from tests.faults.scene import SESSION, TORN, Scene

from recollect.errors import StoreBusy
from recollect.format.encode import custom_title, encode_line
from recollect.journal import locks as presence
from recollect.journal.guard import refuse_if_busy, why_busy
from recollect.library.writing import subagent_writer


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def _check(scene: Scene, *, force: bool = False, rewrite: bool = False) -> None:
    refuse_if_busy(scene.home, SESSION, scene.transcript(), scene.journal, force=force, rewrite=rewrite)


def _open_in_a_client(scene: Scene, pid: int) -> None:
    entry = {"pid": pid, "sessionId": SESSION, "cwd": "/work/notes", "startedAt": 1}
    (scene.root / "sessions").mkdir()
    (scene.root / "sessions" / f"{pid}.json").write_text(json.dumps(entry))


def _written_by_the_client(scene: Scene, seconds_ago: float = 0.0) -> None:
    with open(scene.transcript(), "ab") as stream:
        stream.write(b'{"type":"tag","tag":"x"}\n')
    moment = time.time() - seconds_ago
    os.utime(scene.transcript(), (moment, moment))


def _rename(scene: Scene, *, keep_mtime: bool) -> None:
    with scene.journal.change(scene.home, "rename", "rename") as change:
        change.append(scene.transcript(), encode_line(custom_title(SESSION, "T")), keep_mtime=keep_mtime)
        change.commit()


def test_an_old_session_is_free(scene: Scene) -> None:
    _check(scene)
    _check(scene, rewrite=True)


def test_a_running_session_is_refused_without_force_and_never_rewritten(scene: Scene) -> None:
    _open_in_a_client(scene, os.getpid())
    with pytest.raises(StoreBusy) as caught:
        _check(scene)
    assert caught.value.exit_code == 5
    assert "--force" in str(caught.value.hint)
    _check(scene, force=True)
    with pytest.raises(StoreBusy) as caught:
        _check(scene, force=True, rewrite=True)
    assert "--force" not in str(caught.value.hint)


def test_a_process_that_died_holds_nothing(scene: Scene) -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    _open_in_a_client(scene, pid)
    _check(scene)


@pytest.mark.parametrize(("seconds_ago", "busy"), [(0, True), (50, True), (-20, True), (61, False), (-1000, False)])
def test_what_somebody_else_wrote_a_moment_ago(scene: Scene, seconds_ago: float, busy: bool) -> None:
    """A time in the future counts too, if it is near: clocks of two machines differ a little."""
    _written_by_the_client(scene, seconds_ago)
    assert (why_busy(scene.home, SESSION, scene.transcript(), scene.journal) is not None) is busy
    if busy:
        with pytest.raises(StoreBusy):
            _check(scene)


def test_what_we_wrote_ourselves_is_no_reason(scene: Scene) -> None:
    with scene.writer() as writer:
        writer.append_message("user", "ours")
    _check(scene, rewrite=True)
    _rename(scene, keep_mtime=True)
    _check(scene, rewrite=True)
    _rename(scene, keep_mtime=False)
    _check(scene, rewrite=True)


def test_what_somebody_wrote_behind_us_is(scene: Scene) -> None:
    with scene.writer() as writer:
        writer.append_message("user", "ours")
    _written_by_the_client(scene)
    with pytest.raises(StoreBusy):
        _check(scene)


def test_nor_is_it_ours_if_it_came_before_the_writer_closed(scene: Scene) -> None:
    with scene.writer() as writer:
        writer.append_message("user", "ours")
        _written_by_the_client(scene)
    with pytest.raises(StoreBusy):
        _check(scene)


def test_nor_if_it_came_right_behind_our_line(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    real = presence.end_lease

    def client_comes(fd: int) -> None:
        real(fd)
        _written_by_the_client(scene)

    with scene.writer() as writer:
        monkeypatch.setattr(presence, "end_lease", client_comes)
        writer.append_message("user", "ours")
        monkeypatch.undo()
    with pytest.raises(StoreBusy):
        _check(scene)


def test_a_title_by_force_does_not_hide_what_the_client_wrote(scene: Scene) -> None:
    _written_by_the_client(scene, 5)
    _rename(scene, keep_mtime=True)
    with pytest.raises(StoreBusy):
        _check(scene, rewrite=True)


def test_an_undo_is_a_rewrite_too(scene: Scene) -> None:
    """A client that has loaded our line hangs its next one on it."""
    with scene.writer() as writer:
        writer.append_message("user", "ours")
    before = scene.transcript().read_bytes()
    _open_in_a_client(scene, os.getpid())
    with pytest.raises(StoreBusy):
        scene.journal.undo(scene.journal.record(), scene.home)
    assert scene.transcript().read_bytes() == before


@pytest.mark.parametrize("layout", ["in its folder", "of a workflow", "beside it"])
def test_while_a_subagent_writes_the_session_is_in_use(scene: Scene, layout: str) -> None:
    """Its own file may rest for minutes then, and clients before 2.1.100 leave no other sign that they run."""
    places = {
        "in its folder": scene.project / SESSION / "subagents",
        "of a workflow": scene.project / SESSION / "subagents" / "workflows" / "run",
        "beside it": scene.project,
    }
    subagent = places[layout] / "agent-a0123456.jsonl"
    subagent.parent.mkdir(parents=True, exist_ok=True)
    subagent.write_bytes(encode_line({"type": "user", "sessionId": SESSION, "isSidechain": True}))
    with pytest.raises(StoreBusy, match="subagent"):
        _check(scene)
    with pytest.raises(StoreBusy):
        _check(scene, force=True, rewrite=True)
    _check(scene, force=True)
    os.utime(subagent, (1, 1))
    _check(scene, rewrite=True)


def test_a_subagent_of_another_session_is_no_reason(scene: Scene) -> None:
    subagent = scene.project / "agent-a0123456.jsonl"
    subagent.write_bytes(encode_line({"type": "user", "sessionId": TORN, "isSidechain": True}))
    _check(scene, rewrite=True)


def test_nor_is_one_that_we_wrote_ourselves(scene: Scene) -> None:
    with subagent_writer(scene.writer(), "a0123456789abcdef") as writer:
        writer.append_message("user", "An errand")
    _check(scene, rewrite=True)
