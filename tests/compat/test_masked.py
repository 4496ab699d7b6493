"""The real client resumes a masked session, and a redacted export: with as many messages as before, without one of the values."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.compat import clients
from tests.compat.ask import Answer, Question, ask_many
from tests.secrets.masking_scene import KEY, MAIN, PASSWORD, TOKEN, VALUES, forms

from recollect.library.library import Library
from recollect.store.home import Home
from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import bash, read

pytestmark = [pytest.mark.compat, pytest.mark.timeout(900)]
VERSIONS = (clients.NEWEST, "2.1.197")
SETTINGS = {"plain": {}, "thinking": {"alwaysThinkingEnabled": True, "env": {"MAX_THINKING_TOKENS": "4000"}}}


def build(folder: Path, state: str, settings: str) -> Question:
    """A home with one session that says every value several times, also in its thoughts."""
    cwd = folder / "tea"
    cwd.mkdir(parents=True, exist_ok=True)
    home = HomeBuilder(folder / f"{state}-{settings}", version="2.1.197")
    session = home.session(str(cwd), session_id=MAIN)
    session.user(f"Use the token {TOKEN.value} and the password {PASSWORD.value}.")
    session.call(read(f"{cwd}/key.pem", KEY.value), thinking=f"First the key, then {TOKEN.value}.")
    session.call(bash("cat key.pem", KEY.value))
    session.assistant("I have read it.", thinking="Nothing secret in this thought.")
    session.user("And now?")
    session.call(
        bash(
            f"curl -H 'Authorization: token {TOKEN.value}' https://shop.example",
            json.dumps({"password": PASSWORD.value}),
        )
    )
    session.assistant(f"It works with {TOKEN.value}.", thinking=f"The password is {PASSWORD.value}.")
    session.user("Thanks.")
    session.assistant("You are welcome.", thinking=f"They have {TOKEN.value}.")
    home.file("settings.json", json.dumps(SETTINGS[settings]))
    root = home.write()
    for path in root.rglob("*.jsonl"):
        os.utime(path, (1.75e9, 1.75e9))
    if state == "masked":
        own = folder / f"own-{settings}"
        with Library([Home(root)], own_folder=lambda kind: own / kind) as library:
            plan = library.changes.mask(VALUES)
            plan.commit()
            assert plan.result["masked"], plan.result["left"]
    elif state == "redacted":
        own, lines = folder / f"own-{settings}", folder / f"{settings}.jsonl"
        with Library([Home(root)], own_folder=lambda kind: own / kind) as library:
            library.session(MAIN).export(lines, redact="secrets")
        home.session_path(session).write_bytes(lines.read_bytes())
    return Question(root, MAIN, cwd)


def values_sent(answer: Answer) -> int:
    text = json.dumps(answer.messages, ensure_ascii=False).encode()
    return sum(any(form in text for form in forms(value.value)) for value in VALUES)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("version", VERSIONS)
def test_masked_and_redacted_sessions_resume_whole(version: str, settings: str, tmp_path: Path) -> None:
    questions = [build(tmp_path.resolve(), state, settings) for state in ("before", "masked", "redacted")]
    before, masked, redacted = ask_many(questions, version)
    _is_whole(before, masked, thoughts=1)
    assert values_sent(masked) == 0
    _is_whole(before, redacted, thoughts=2)
    text = json.dumps(redacted.messages, ensure_ascii=False).encode()  # nothing says that the password is one
    assert not any(form in text for value in (TOKEN, KEY) for form in forms(value.value))


def _is_whole(before: Answer, after: Answer, thoughts: int) -> None:
    assert before.messages and after.messages, (before.error, after.error)
    assert after.code == 0, after.error
    assert len(after.messages) == len(before.messages)
    assert [item["role"] for item in after.messages] == [item["role"] for item in before.messages]
    assert values_sent(before) == len(VALUES)
    signed = [block for block in before.blocks() if block.kind == "thinking"]
    kept = [block for block in after.blocks() if block.kind == "thinking"]
    assert (len(signed), len(kept)) == (4, thoughts)
    assert all(block in signed for block in kept), "a thought with its signature is sent as it was, or not at all"
