"""Sessions together with what the real client made of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.compat import stores
from tests.compat.agreement import Transcript, read_transcript
from tests.compat.ask import Answer, Question, ask_many


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
