"""`recollect thread` against what the newest client sends, on everything that real clients wrote."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.compat import clients, reader
from tests.compat.scenes import CORE, MORE, session_id
from tests.compat.told import Store, Told
from tests.compat.tui_scenes import SCENES

pytestmark = [pytest.mark.compat, pytest.mark.timeout(900)]

PRINTED = [
    scene.name for group in CORE.values() for scene in group if not (scene.resumes or "--continue" in scene.arguments)
]
MORE_PRINTED = [scene.name for group in MORE.values() for scene in group if not scene.resumes]
TYPED = ["tui-" + name for name in SCENES]
CASES = [
    *((clients.NEWEST, name) for name in [*PRINTED, *MORE_PRINTED, *TYPED]),
    *((version, name) for version in clients.OLDER for name in PRINTED),
]


def assert_same_conversation(told: Told) -> None:
    found, uuids = reader.thread(told.question.config, told.question.session)
    assert found == (told.answer.messages is not None), told.answer.error
    assert told.transcript.said(uuids) == told.transcript.sent(told.answer.blocks())


@pytest.mark.parametrize(("version", "scene"), CASES)
def test_thread_is_what_the_client_sends(version: str, scene: str, captured: Callable[[str], Store]) -> None:
    store = captured(version)
    if scene not in store.scenes:
        pytest.skip("tmux is needed to play the interactive client")
    assert_same_conversation(store.told[store.scenes[scene]])


@pytest.mark.parametrize("version", [clients.NEWEST, *clients.OLDER])
def test_forks_and_leftovers(version: str, captured: Callable[[str], Store]) -> None:
    """Sessions whose ids the client chose itself: forks, branches, and the empty files that older clients leave."""
    store = captured(version)
    named = {session_id(scene) for _, scene in CASES} | set(store.scenes.values())
    others = [told for session, told in store.told.items() if session not in named]
    assert any(told.answer.messages for told in others), "the fork should be there"
    for told in others:
        assert_same_conversation(told)
