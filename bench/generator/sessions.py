"""One session on disk: its transcript, its subagents, its side files, and perhaps a fork of it."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Final

from bench.generator.content import Json, Project, Vocabulary, new_uuid, token, tool_use_id
from bench.generator.transcript import UNLIMITED, SideFiles, Transcript
from bench.generator.truth import Truth

END: Final = datetime(2026, 3, 1, tzinfo=UTC).timestamp()
SPAN_DAYS: Final = 180
COMPACT_EVERY: Final = 1_600_000


@dataclass(frozen=True)
class SessionPlan:
    """Everything a worker needs to write one session; a small value, since it travels between processes."""

    home: Path
    seed: int
    index: int
    project_index: int
    size: float
    corrupt_p: float
    needle_p: float
    modern: bool


@lru_cache(maxsize=1)
def _vocabulary(seed: int) -> Vocabulary:
    return Vocabulary(seed)


@lru_cache(maxsize=1)
def _project(seed: int, index: int) -> Project:
    return Project(seed, index, _vocabulary(seed))


def write_session(plan: SessionPlan) -> Truth:
    return _SessionWriter(plan).write()


class _SessionWriter:
    def __init__(self, plan: SessionPlan) -> None:
        self.plan = plan
        self.project = _project(plan.seed, plan.project_index)
        self.rng = rng = random.Random(f"{plan.seed}:session:{plan.index}")
        self.truth = Truth(needle_p=plan.needle_p)
        self.folder = plan.home / "projects" / self.project.folder
        self.session_id = new_uuid(rng)
        # more recent days hold more sessions
        start = END - SPAN_DAYS * 86400 * (1 - math.sqrt(rng.random())) - 6 * 3600
        self.one_hour_cache = rng.random() < 0.1
        version = rng.choice(["2.0.76", "2.1.9", "2.1.44"])
        self.version = "2.1.237" if plan.modern else version
        self.main = self._transcript(self.session_id, start)

    def _transcript(self, session_id: str, start: float, subagent: str | None = None) -> Transcript:
        return Transcript(
            self.rng,
            self.project,
            session_id,
            start,
            self.truth,
            subagent=subagent,
            one_hour_cache=self.one_hour_cache,
            version=self.version,
            modern=self.plan.modern,
        )

    def write(self) -> Truth:
        rng, main, size = self.rng, self.main, self.plan.size
        side_files = SideFiles()
        if rng.random() < 0.2:
            main.put({"type": "summary", "summary": main.prose(7), "leafUuid": new_uuid(rng)})
        main.largest_result = int(max(20_000, size * 0.6))
        subagents = rng.choice((0, 0, 0, 0, 0, 0, 1, 1, 2, 4))
        subagent_budget = size * 0.3 / subagents if subagents else 0.0
        main_budget = size - subagent_budget * subagents
        next_compact = COMPACT_EVERY
        titled = False
        while main.size < main_budget:
            main.turn(main_budget, side_files)
            if not titled:
                titled = True
                main.put({"type": "ai-title", "sessionId": self.session_id, "aiTitle": main.prose(6).strip(".")})
            if main.size > next_compact:
                main.compact()
                next_compact += COMPACT_EVERY
            if subagents and rng.random() < 0.5:
                subagents -= 1
                self._run_subagent(subagent_budget)
        main.put({"type": "last-prompt", "lastPrompt": main.prose(10), "sessionId": self.session_id})
        self._flush(main, self.folder / f"{self.session_id}.jsonl")
        self.truth.sessions += 1
        self._write_side_files(side_files)
        if rng.random() < 0.04 and len(main.lines) > 10:
            self._fork()
        return self.truth

    def _run_subagent(self, budget: float) -> None:
        rng, main, truth = self.rng, self.main, self.truth
        subagent_id = "a" + f"{rng.getrandbits(64):016x}"
        old_layout = rng.random() < 0.2
        if old_layout:
            subagent_id = subagent_id[:7]
        prompt = main.prose(60)
        tool_use = tool_use_id(rng)
        arguments = {"description": main.prose(4), "prompt": prompt, "subagent_type": "Explore"}
        call = {"type": "tool_use", "id": tool_use, "name": "Task", "input": arguments}
        uuids = main.assistant([call], rng.randint(60, 300))
        subagent = self._transcript(self.session_id, main.now, subagent=subagent_id)
        subagent.largest_result = main.largest_result
        subagent.user_text(prompt)
        while subagent.size < budget:
            subagent.turn(budget, SideFiles())
        folder = self.folder if old_layout else self.folder / self.session_id / "subagents"
        without_file = self.plan.modern and rng.random() < 0.2
        if not without_file:
            self._flush(subagent, folder / f"agent-{subagent_id}.jsonl")
        if self.plan.modern:
            truth.subagents_without_file += without_file
            self._echo_subagent(subagent, prompt, tool_use, every_line=without_file)
        truth.subagents += 1
        main.now = max(main.now, subagent.now)
        answer = [{"type": "text", "text": main.prose(150)}]
        structured = {
            "status": "completed",
            "prompt": prompt,
            "agentId": subagent_id,
            "content": answer,
            "totalDurationMs": 93_000,
            "totalTokens": subagent.context_tokens,
            "totalToolUseCount": 12,
        }
        main.tool_result(tool_use, answer, structured, uuids[-1])

    def _echo_subagent(self, subagent: Transcript, prompt: str, tool_use: str, *, every_line: bool) -> None:
        """Repeat the subagent's responses inside the parent's file, as clients of 2.1.x do."""
        for line in subagent.lines:
            if b'"usage":{' in line and (every_line or self.rng.random() < 0.5):
                said = json.loads(line)
                data: Json = {
                    "message": {key: said.get(key) for key in ("type", "timestamp", "message", "requestId", "uuid")},
                    "normalizedMessages": [],
                    "type": "agent_progress",
                    "prompt": prompt,
                    "agentId": subagent.subagent,
                }
                self.main.progress(data, "agent_msg_01" + token(self.rng, 22), tool_use, said["timestamp"])
                self.truth.progress_lines += 1

    def _fork(self) -> None:
        """A new session that repeats the first lines of this one, then goes its own way."""
        fork_id = new_uuid(self.rng)
        count = self.rng.randint(5, len(self.main.lines))
        fork = self._transcript(fork_id, self.main.now + 3600)
        for line in self.main.lines[:count]:
            fork.put_raw(line.replace(self.session_id.encode(), fork_id.encode()))
        self.truth.forked_lines += count
        fork.turn(UNLIMITED, SideFiles())
        self._flush(fork, self.folder / f"{fork_id}.jsonl")
        self.truth.sessions += 1

    def _flush(self, transcript: Transcript, path: Path) -> None:
        lines = list(self._with_corrupt_lines(transcript.lines))
        data = b"\n".join(lines) + (b"" if self.rng.random() < 0.03 else b"\n")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (transcript.now, transcript.now))
        self.truth.lines += len(lines)
        self.truth.bytes += len(data)
        self.truth.files += 1

    def _with_corrupt_lines(self, lines: list[bytes]) -> Iterator[bytes]:
        """Corrupt lines are extra lines: the good line stays, so that the oracle stays simple."""
        for line in lines:
            if self.rng.random() < self.plan.corrupt_p:
                self.truth.corrupt_lines += 1
                yield _corrupt(self.rng, line[:4000])
            yield line

    def _write_side_files(self, side_files: SideFiles) -> None:
        for tool_use, text in side_files.tool_results.items():
            path = self.folder / self.session_id / "tool-results" / f"{tool_use}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        if side_files.todos is not None:
            path = self.plan.home / "todos" / f"{self.session_id}-agent-{self.session_id}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(side_files.todos, ensure_ascii=False), encoding="utf-8")


def _corrupt(rng: random.Random, line: bytes) -> bytes:
    kind = rng.randrange(5)
    if kind == 0:
        return line[: max(2, len(line) // 2)]
    if kind == 1:
        return b"\0" * rng.randint(8, 400)
    if kind == 2:
        return line[: len(line) // 3] + b'{"type":"user","uuid":"x"}'
    if kind == 3:
        return b'{"type":"user","message":{"role":"user","content":"\xff\xfe\xc3("}}'
    return b""


def format_history(prompts: list[tuple[int, str, str, str]]) -> Iterator[dict[str, object]]:
    """The lines of history.jsonl, oldest first."""
    for milliseconds, display, cwd, session_id in sorted(prompts):
        yield {
            "display": display.encode("utf-8", "replace").decode(),
            "pastedContents": {},
            "timestamp": milliseconds,
            "project": cwd,
            "sessionId": session_id,
        }
