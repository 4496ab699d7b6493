"""What readers see of a conversation, by the terminal, the page and Markdown alike."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from recollect.export.conversation import ShownCall, ShownMessage
from recollect.export.conversation_text import ConversationText, Heading
from recollect.export.markdown import message_markdown
from recollect.library.reading import Reading
from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import bash, edit, failed


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    builder = HomeBuilder(tmp_path / "claude")
    session = builder.session("/w/app")
    session.user("Do the tests pass?")
    session.call(bash("pytest -q", "3 passed\nin 1 s"))
    session.call(edit("/w/app/a.py", "one", "two", original="one\n"))
    session.call(failed("Bash", {"command": "false"}, "exit 1"))
    deeper = session.subagent("Look deeper", description="Deeper")
    deeper.assistant("Nothing there.")
    deeper.finish("Nothing there.")
    session.assistant("They \x1b[2Jdo.")
    return recollect.open(builder.write()).session("last").read()


def shown(reading: Reading, longest: int | None = None) -> list[ShownMessage]:
    return list(reading.shown(reading.reader(longest=longest)))


def calls(reading: Reading, longest: int | None = None) -> list[ShownCall]:
    return [part.call for message in shown(reading, longest) for part in message.parts if part.call is not None]


def test_results_stand_at_their_calls(reading: Reading) -> None:
    assert "tool" not in {message.role for message in shown(reading)}
    ran, edited, wrong, task = calls(reading)
    assert ran.result == "3 passed\nin 1 s"
    assert not ran.is_error
    assert ran.seconds is not None
    assert (edited.path, [line.text for line in edited.diff if line.kind in ("added", "removed")]) == (
        "/w/app/a.py",
        ["-one", "+two"],
    )
    assert wrong.is_error
    assert [item.description for item in task.subagents] == ["Deeper"]


def test_a_result_names_the_message_that_shows_it(reading: Reading) -> None:
    row = reading.session.conversation.tools.calls[0].result
    assert row is not None and row.uuid is not None
    number = reading.position[row.uuid]
    assert row.uuid in next(message for message in shown(reading) if message.number == number + 1).uuids


def test_words_beside_results_are_shown(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    session = builder.session("/w/app")
    session.user("Go on")
    session.call(bash("sleep 100", "interrupted"))
    root = builder.write()
    (path,) = root.glob("projects/*/*.jsonl")
    text = path.read_text("utf-8")
    result = '"content":[{"type":"text","text":"No, stop."},{"tool_use_id"'
    assert '"content":[{"tool_use_id"' in text
    path.write_text(text.replace('"content":[{"tool_use_id"', result, 1), "utf-8")
    reading = recollect.open(root).session("last").read()
    (message,) = (message for message in shown(reading) if message.role == "tool")
    assert [part.text for part in message.parts] == ["No, stop."]


def test_lines_that_are_too_long_are_named_and_not_read(reading: Reading) -> None:
    kinds = {part.kind for message in shown(reading, 10) for part in message.parts}
    assert kinds == {"long"}
    assert calls(reading, 10) == []


def test_the_terminal_gets_nothing_that_acts(reading: Reading) -> None:
    reader = reading.reader()
    text = ConversationText(reader.talk, tools="full")
    written = text.heading(Heading("A \x1b]0;title", ["x"])) + "".join(text.pieces(reading.shown(reader)))
    assert "\x1b" not in written
    assert "They do." in written
    assert written.count("3 passed") == 1
    assert written.index("┌ subagent") < written.index("Nothing there.") < written.index("└ end of")


def test_the_terminal_without_tools(reading: Reading) -> None:
    reader = reading.reader()
    written = "".join(ConversationText(reader.talk, tools="none").pieces(reading.shown(reader), numbered=True))
    assert "pytest" not in written
    assert written.startswith("▌ You  #1  ")


def test_markdown_of_one_message_has_its_results(reading: Reading) -> None:
    message = next(message for message in shown(reading) if any(part.call is not None for part in message.parts))
    written = message_markdown(message)
    assert written.startswith("<details><summary><b>Bash</b> <code>pytest -q</code>")
    assert "```\n3 passed\nin 1 s\n```" in written
