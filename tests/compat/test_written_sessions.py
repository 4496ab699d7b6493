"""Sessions that Recollect writes are resumed by the real client, old and new, with exactly the messages that were meant."""

from __future__ import annotations

import base64
import os
import time
from pathlib import Path

import pytest
from tests.compat import clients
from tests.compat.agreement import Said, spoken
from tests.compat.ask import Question, ask_many
from tests.compat.continuing import continued_texts
from tests.running import run

from recollect.edit.append import SessionWriter
from recollect.edit.state_lines import plan_rename, plan_rewind, plan_tag
from recollect.format.encode import WRITTEN_AS
from recollect.journal.changes import Journal
from recollect.library.library import open_library
from recollect.library.writing import new_session_writer, session_writer, subagent_writer
from recollect.store.home import Home

pytestmark = pytest.mark.compat

VERSIONS = (clients.NEWEST, "2.1.197", "2.0.77")
PIXEL = base64.b64encode(
    base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
).decode()


class Scene:
    """A home of our own with a project folder that exists."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "config"
        (self.config / "projects").mkdir(parents=True)
        self.cwd = folder / "project"
        self.cwd.mkdir()
        self.home = Home(self.config)
        self.journal = Journal(folder / "data")

    def new(self, version: str = WRITTEN_AS) -> SessionWriter:
        return new_session_writer(self.home, self.journal, str(self.cwd), version=version)

    def question(self, session_id: str) -> Question:
        return Question(self.config, session_id, self.cwd)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def told(question: Question, version: str) -> list[Said]:
    (answer,) = ask_many([question], version)
    assert answer.messages is not None, answer.error
    return spoken(answer.blocks())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_new_session_with_everything_in_it(version: str, scene: Scene) -> None:
    with scene.new() as writer:
        session = writer.context.session_id
        writer.append_message("user", "Grüße, 世界 🌍 \u2028 and a separator")
        writer.append_message("assistant", "An answer.")
        writer.append_image(PIXEL, "image/png", text="Look at this")
        call = writer.append_tool_call("Bash", {"command": "ls"}, text="I will look.")
        writer.append_tool_result(call, "a.txt", structured={"stdout": "a.txt", "stderr": ""})
        writer.append_message("assistant", "One file.")
    assert told(scene.question(session), version) == [
        ("user", "text", "Grüße, 世界 🌍 \u2028 and a separator"),
        ("assistant", "text", "An answer."),
        ("user", "text", "Look at this"),
        ("user", "image", ""),
        ("assistant", "text", "I will look."),
        ("assistant", "tool_use", call),
        ("user", "tool_result", call),
        ("assistant", "text", "One file."),
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_appended_to_and_with_a_subagent(version: str, scene: Scene) -> None:
    with scene.new() as writer:
        session = writer.context.session_id
        writer.append_message("user", "one")
        writer.append_message("assistant", "two")
        with subagent_writer(writer) as subagent:
            subagent.append_message("user", "an errand")
            subagent.append_message("assistant", "its report")
    library = open_library([scene.config])
    with session_writer(library.session(session), scene.journal) as again:
        again.append_message("user", "three")
        again.append_message("assistant", "four")
    texts = [value for _, _, value in told(scene.question(session), version)]
    assert texts == ["one", "two", "three", "four"]
    assert len(open_library([scene.config]).session(session).conversation.subagents) == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_rewound(version: str, scene: Scene) -> None:
    """By a checkpoint, which 2.0.77 does not know: it goes on from the end of the file, until something is appended there."""
    with scene.new() as writer:
        session = writer.context.session_id
        uuids = [writer.append_message(role, words) for role, words in
                 (("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four"))]  # fmt: skip
    file = open_library([scene.config]).session(session).file
    change, _ = plan_rewind(scene.journal, file, uuids[1])
    with change:
        change.commit()
    texts = [value for _, _, value in told(scene.question(session), version)]
    assert texts == (["one", "two", "three", "four"] if version == "2.0.77" else ["one", "two"])
    with session_writer(open_library([scene.config]).session(session), scene.journal) as again:
        again.append_message("user", "another way")
        again.append_message("assistant", "so be it")
    texts = [value for _, _, value in told(scene.question(session), version)]
    assert texts == ["one", "two", "another way", "so be it"]


@pytest.mark.parametrize("version", VERSIONS)
def test_parallel_tool_calls(version: str, scene: Scene) -> None:
    """As a row for each call and each result, as the client writes them, and as one row for all calls and one for all results."""
    calls = [f"toolu_{letter * 24}" for letter in "abc"]
    with scene.new() as rows:
        rows.append_message("user", "Look")
        rows.append_message("assistant", "I will.", message_id="msg_1")
        for call in calls:
            rows.append_tool_call("Bash", {"command": "ls"}, call_id=call, message_id="msg_1")
        for call in calls:
            rows.append_tool_result(call, f"result of {call}")
        rows.append_message("assistant", "Done.")
    with scene.new() as blocks:
        blocks.append_message("user", "Look")
        made = [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}} for call in calls]
        blocks.append_message("assistant", [{"type": "text", "text": "I will."}, *made])
        got = [{"type": "tool_result", "tool_use_id": call, "content": f"result of {call}"} for call in calls]
        blocks.append_message("user", got)
        blocks.append_message("assistant", "Done.")
    questions = [scene.question(writer.context.session_id) for writer in (rows, blocks)]
    for answer in ask_many(questions, version):
        assert answer.messages is not None, answer.error
        assert [value for _, _, value in spoken(answer.blocks())] == ["Look", "I will.", *calls, *calls, "Done."]
        assert [block.text for block in answer.blocks() if block.kind == "tool_result"] == [
            f"result of {call}" for call in calls
        ]
        assert [message["role"] for message in answer.messages[:4]] == ["user", "assistant", "user", "assistant"]


@pytest.mark.parametrize("version", VERSIONS)
def test_subagents_in_the_layouts_of_old_clients(version: str, scene: Scene) -> None:
    """Inside the main file, and beside it: none of their words are sent."""
    writers = [scene.new(age) for age in ("2.0.26", "2.0.77")]
    for main in writers:
        with main:
            main.append_message("user", "one")
            with subagent_writer(main) as subagent:
                subagent.append_message("user", "an errand")
                subagent.append_message("assistant", "its report")
            main.append_message("assistant", "two")
    for answer in ask_many([scene.question(main.context.session_id) for main in writers], version):
        assert answer.messages is not None, answer.error
        assert [value for _, _, value in spoken(answer.blocks())] == ["one", "two"]


@pytest.mark.parametrize("version", VERSIONS)
def test_begun_and_appended_to_by_commands(
    version: str, scene: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"RECOLLECT_{kind}_DIR", str(scene.cwd.parent / f"own-{kind.lower()}"))
    begun = run(capsys, scene.config, "new", "--project", str(scene.cwd), "--title", "By hand")
    assert begun.code == 0, begun.err
    session = begun.out.strip()
    for role, words in (("user", "one"), ("assistant", "two")):
        done = run(capsys, scene.config, "append", session, "--role", role, words)
        assert done.code == 0, done.err
    assert told(scene.question(session), version) == [("user", "text", "one"), ("assistant", "text", "two")]


@pytest.mark.parametrize("version", VERSIONS)
def test_continue_picks_what_it_picked_before_a_rename_or_tag(version: str, scene: Scene) -> None:
    paths = []
    for number, words in enumerate(("older", "newer")):
        with scene.new() as writer:
            writer.append_message("user", words)
            writer.append_message("assistant", f"answer to {words}")
        moment = time.time() - 3600 + 60 * number
        os.utime(writer.path, (moment, moment))
        paths.append(writer.path)
    assert continued_texts(scene.config, scene.cwd, version)[0] == "newer"
    older = open_library([scene.config]).session(paths[0].stem).file
    for change in (plan_rename(scene.journal, older, "A title"), plan_tag(scene.journal, older, "x")):
        with change:
            change.commit()
    assert continued_texts(scene.config, scene.cwd, version)[0] == "newer"
