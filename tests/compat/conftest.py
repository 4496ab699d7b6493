"""The real client's answers, gathered once for a run of the tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from tests.compat import clients, stores
from tests.compat.agreement import Transcript, read_transcript
from tests.compat.ask import Answer, Question, ask_many
from tests.compat.capture import capture, read_index
from tests.compat.crafted import write_case

KEPT = os.environ.get("RECOLLECT_COMPAT_STORES")  # asked now: the tests themselves run without the caller's settings


@dataclass(frozen=True)
class Told:
    """A session, what its rows say, and what the client sends when it resumes it."""

    question: Question
    transcript: Transcript
    answer: Answer


@dataclass(frozen=True)
class Store:
    """A config dir that the real client filled."""

    config: Path
    scenes: dict[str, str]
    """Scene to session id."""

    @cached_property
    def told(self) -> dict[str, Told]:
        """What the newest client sends for each session, by session id."""
        questions = stores.questions(self.config)
        return {
            question.session: Told(question, read_transcript(stores.transcript_of(question)), answer)
            for question, answer in zip(questions, ask_many(questions), strict=True)
        }

    def transcript(self, scene: str) -> Path:
        return next((self.config / "projects").glob(f"*/{self.scenes[scene]}.jsonl"))


@pytest.fixture(scope="session", autouse=True)
def fetched() -> None:
    for version in (clients.NEWEST, *clients.OLDER):
        try:
            clients.command(version)
        except clients.ClientUnavailable as problem:
            pytest.skip(f"the real client is not to be had: {problem}")


@pytest.fixture(scope="session")
def crafted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    """The crafted sessions that the selected tests ask for, by name."""
    folder = tmp_path_factory.mktemp("crafted")
    asked = [getattr(item, "callspec", None) for item in request.session.items]
    names = sorted({spec.params["crafted_name"] for spec in asked if spec and "crafted_name" in spec.params})
    written = [write_case(name, folder / name) for name in names]
    answers = ask_many([question for _, question in written])
    return {
        case.name: Told(question, case.transcript(), answer)
        for (case, question), answer in zip(written, answers, strict=True)
    }


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Store]:
    """The store that a version of the client filled; made when first asked for.

    ``RECOLLECT_COMPAT_STORES=FOLDER`` keeps the stores there and takes them from there the next time.
    """
    made: dict[str, Store] = {}

    def store(version: str) -> Store:
        if version not in made:
            out = Path(KEPT).resolve() / version if KEPT else tmp_path_factory.mktemp("captured")
            index = read_index(out) or capture(out, version, "all" if version == clients.NEWEST else "core")
            made[version] = Store(out / "config", {row["name"]: row["session"] for row in index})
        return made[version]

    return store
