"""One transcript file being written: the main conversation of a session, or a subagent's."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from bench.generator.content import Json, Project, base64_noise, encode, iso, new_uuid, token
from bench.generator.tool_calls import ToolCall, draw_tool_call
from bench.generator.truth import ADVISOR_MODEL, MODELS, SUBAGENT_MODEL, Truth
from bench.generator.words import NEEDLE, USER_PROMPTS

UNLIMITED = 1 << 60


@dataclass
class SideFiles:
    """What a session leaves beside its transcript."""

    tool_results: dict[str, str] = field(default_factory=dict)
    todos: list[Json] | None = None


class Transcript:
    def __init__(
        self,
        rng: random.Random,
        project: Project,
        session_id: str,
        start: float,
        truth: Truth,
        *,
        subagent: str | None = None,
        one_hour_cache: bool = False,
        version: str = "2.1.9",
        modern: bool = False,
    ) -> None:
        self.rng, self.project, self.session_id, self.subagent, self.truth = rng, project, session_id, subagent, truth
        self.now = start
        self.parent: str | None = None
        self.lines: list[bytes] = []
        self.size = 0
        self.branch = rng.choice(["main", "main", "main", "feat/" + rng.choice(project.identifiers), ""])
        self.version, self.one_hour_cache, self.modern = version, one_hour_cache, modern
        self.largest_result = UNLIMITED
        self.context_tokens = rng.randint(12_000, 24_000)
        self.model = rng.choices([name for name, _ in MODELS], [weight for _, weight in MODELS])[0]
        if subagent and rng.random() < 0.5:
            self.model = SUBAGENT_MODEL
        self.uuids: list[str] = []
        self.slug = "-".join(rng.choices(project.identifiers, k=3))

    def prose(self, word_count: int) -> str:
        return self.project.vocabulary.prose(self.rng, word_count)

    # -- raw output

    def put(self, entry: Json) -> None:
        self.put_raw(encode(entry))

    def put_raw(self, line: bytes) -> None:
        self.lines.append(line)
        self.size += len(line) + 1

    def tick(self, mean_seconds: float) -> None:
        self.now += min(self.rng.expovariate(1 / mean_seconds), 5400)

    def envelope(self) -> Json:
        entry: Json = {
            "parentUuid": self.parent,
            "isSidechain": self.subagent is not None,
            "userType": "external",
            "cwd": self.project.cwd,
            "sessionId": self.session_id,
            "version": self.version,
            "gitBranch": self.branch,
            "slug": self.slug,
        }
        if self.subagent:
            entry["agentId"] = self.subagent
        return entry

    def chain(self) -> str:
        """A new uuid that the next entry will name as its parent."""
        self.parent = new_uuid(self.rng)
        self.uuids.append(self.parent)
        return self.parent

    # -- entries

    def user_text(self, text: str, **extra: object) -> None:
        entry = self.envelope()
        entry |= {"type": "user", "message": {"role": "user", "content": text}}
        entry["uuid"] = self.chain()
        entry["timestamp"] = iso(self.now)
        if not self.subagent:
            entry |= {
                "thinkingMetadata": {"level": "high", "disabled": False, "triggers": []},
                "todos": [],
                "permissionMode": self.rng.choice(["default", "acceptEdits", "plan"]),
            }
        entry |= extra
        self.truth.text_lines += 1
        self.put(entry)

    def assistant(self, blocks: list[Json], output_tokens: int) -> list[str]:
        """One API response, one line per block; returns the lines' uuids."""
        rng, truth = self.rng, self.truth
        message_id, request_id = "msg_01" + token(rng, 22), "req_011C" + token(rng, 20)
        fresh = rng.randint(200, 4000)
        cache_read = self.context_tokens if rng.random() < 0.93 else 0
        cache_write = fresh if cache_read else self.context_tokens + fresh
        self.context_tokens = min(self.context_tokens + fresh + output_tokens, 178_000)
        input_tokens = rng.randint(1, 12)
        placeholders = rng.random() < 0.30 and len(blocks) > 1
        write_1h = cache_write if self.one_hour_cache else 0
        cache_creation = {
            "ephemeral_5m_input_tokens": cache_write - write_1h,
            "ephemeral_1h_input_tokens": write_1h,
        }
        iterations: list[Json] = []
        if self.modern:
            iterations.append(
                {
                    "input_tokens": input_tokens,
                    "output_tokens": output_tokens,
                    "cache_read_input_tokens": cache_read,
                    "cache_creation_input_tokens": cache_write,
                    "cache_creation": cache_creation,
                    "type": "message",
                }
            )
            if rng.random() < 0.04:
                iterations.append(self._advisor_iteration())
        uuids: list[str] = []
        day = iso(self.now)[:10]  # a message belongs to the UTC day of its first line
        for position, block in enumerate(blocks):
            last = position == len(blocks) - 1
            usage: Json = {
                "input_tokens": input_tokens,
                "cache_creation_input_tokens": cache_write,
                "cache_read_input_tokens": cache_read,
                "cache_creation": cache_creation,
                "output_tokens": output_tokens if last or not placeholders else rng.randint(1, 8),
                "service_tier": "standard",
                "inference_geo": "not_available",
            }
            if iterations and last:
                usage["iterations"] = iterations
            stop_reason = "tool_use" if block["type"] == "tool_use" else "end_turn"
            entry = self.envelope()
            entry["message"] = {
                "model": self.model,
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "content": [block],
                "stop_reason": stop_reason if last else None,
                "stop_sequence": None,
                "usage": usage,
            }
            entry["requestId"] = request_id
            entry["type"] = "assistant"
            entry["uuid"] = self.chain()
            entry["timestamp"] = iso(self.now)
            uuids.append(entry["uuid"])
            self.put(entry)
            self.tick(1.2)
        truth.assistant_lines += len(blocks)
        truth.messages += 1
        truth.book(day, self.model, (input_tokens, output_tokens, cache_write - write_1h, write_1h, cache_read, 1))
        for advisor in iterations[1:]:
            truth.advisor_calls += 1
            truth.book(day, advisor["model"], (advisor["input_tokens"], advisor["output_tokens"]))
        truth.naive_lines[0] += input_tokens * len(blocks)
        truth.naive_lines[2] += cache_write * len(blocks)
        truth.naive_lines[3] += cache_read * len(blocks)
        return uuids

    def _advisor_iteration(self) -> Json:
        return {
            "input_tokens": self.rng.randint(20_000, 90_000),
            "output_tokens": self.rng.randint(300, 7000),
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "type": "advisor_message",
            "model": ADVISOR_MODEL,
        }

    def tool_result(self, tool_use: str, content: object, structured: object, source: str) -> None:
        entry = self.envelope()
        block = {"tool_use_id": tool_use, "type": "tool_result", "content": content}
        entry |= {"type": "user", "message": {"role": "user", "content": [block]}}
        entry["uuid"] = self.chain()
        entry["timestamp"] = iso(self.now)
        entry["toolUseResult"] = structured
        entry["sourceToolAssistantUUID"] = source
        self.truth.tool_results += 1
        self.put(entry)

    def progress(self, data: Json, tool_use: str, parent_tool_use: str, timestamp: str) -> None:
        entry = self.envelope()
        entry |= {
            "type": "progress",
            "data": data,
            "toolUseID": tool_use,
            "parentToolUseID": parent_tool_use,
            "uuid": new_uuid(self.rng),
            "timestamp": timestamp,
        }
        self.put(entry)

    def compact(self) -> None:
        entry = self.envelope()
        entry |= {
            "parentUuid": None,
            "logicalParentUuid": self.parent,
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
            "timestamp": iso(self.now),
            "level": "info",
            "compactMetadata": {"trigger": "auto", "preTokens": self.context_tokens},
        }
        entry["uuid"] = self.chain()
        self.put(entry)
        self.truth.compactions += 1
        opening = "This session is being continued from a previous conversation that ran out of context. "
        self.user_text(opening + self.prose(420), isCompactSummary=True, isVisibleInTranscriptOnly=True)
        self.context_tokens = self.rng.randint(18_000, 30_000)

    # -- blocks

    def text_block(self) -> Json:
        rng = self.rng
        parts = [self.prose(max(4, int(rng.lognormvariate(4.5, 0.9))))]
        if rng.random() < 0.2:
            parts.append("```\n" + "\n".join(self.project.code(rng, rng.randint(3, 20))) + "\n```")
        return {"type": "text", "text": "\n\n".join(parts)}

    def thinking_block(self) -> Json:
        rng = self.rng
        thinking = self.prose(max(6, int(rng.lognormvariate(4.4, 0.8))))
        return {"type": "thinking", "thinking": thinking, "signature": base64_noise(rng, rng.randint(500, 2200))}

    # -- the loop

    def turn(self, size_limit: float, side_files: SideFiles) -> None:
        """One user prompt and the subagent's loop of calls until an end_turn."""
        rng = self.rng
        self.tick(240)
        if not self.subagent:
            self._state_lines()
        a, b, c, d = rng.choices(self.project.identifiers, k=4)
        prompt = rng.choice(USER_PROMPTS).format(a=a, b=b, c=c, d=d) + ". "
        prompt += self.prose(max(3, int(rng.lognormvariate(3.0, 1.0))))
        if rng.random() < 0.002:
            prompt += " \ud83d"  # a lone surrogate, as truncated pastes leave them
            self.truth.lone_surrogates += 1
        if rng.random() < self.truth.needle_p:
            self.truth.needles += 1
            prompt += " " + NEEDLE
        self.user_text(prompt)
        if not self.subagent:
            self.truth.history.append((round(self.now * 1000), prompt[:300], self.project.cwd, self.session_id))
        for _ in range(max(1, int(rng.lognormvariate(1.7, 0.8)))):
            self.tick(9)
            self.step(side_files)
            if self.size > size_limit:
                break
        self.tick(4)
        thinking = [self.thinking_block()] if rng.random() < 0.3 else []
        self.assistant([*thinking, self.text_block()], rng.randint(60, 1400))
        if not self.subagent and rng.random() < 0.3:
            entry = self.envelope()
            entry |= {
                "type": "system",
                "subtype": "turn_duration",
                "durationMs": rng.randint(2000, 400000),
                "timestamp": iso(self.now),
                "uuid": self.chain(),
                "isMeta": False,
            }
            self.put(entry)

    def _state_lines(self) -> None:
        rng = self.rng
        if rng.random() < 0.4:
            self.put(
                {
                    "type": "file-history-snapshot",
                    "messageId": new_uuid(rng),
                    "snapshot": {
                        "messageId": new_uuid(rng),
                        "trackedFileBackups": {},
                        "timestamp": iso(self.now),
                    },
                    "isSnapshotUpdate": False,
                }
            )
        if rng.random() < 0.1:
            for operation in ("enqueue", "dequeue"):
                self.put(
                    {
                        "type": "queue-operation",
                        "operation": operation,
                        "timestamp": iso(self.now),
                        "sessionId": self.session_id,
                    }
                )

    def step(self, side_files: SideFiles) -> None:
        """One response with its tool calls and their results, or an API error."""
        rng = self.rng
        if rng.random() < 0.004:
            self._api_error()
            return
        blocks: list[Json] = []
        if rng.random() < 0.45:
            blocks.append(self.thinking_block())
        if rng.random() < 0.5:
            blocks.append(self.text_block())
        calls: list[ToolCall] = []
        for _ in range(1 if rng.random() < 0.85 else rng.randint(2, 4)):
            call = draw_tool_call(rng, self.project, self.now, self.largest_result)
            if call.persisted is not None:
                side_files.tool_results[call.tool_use] = call.persisted
            if call.todos is not None:
                side_files.todos = call.todos
            calls.append(call)
        blocks += [
            {"type": "tool_use", "id": call.tool_use, "name": call.name, "input": call.arguments} for call in calls
        ]
        uuids = self.assistant(blocks, rng.randint(80, 1800))
        for call, source in zip(calls, uuids[-len(calls) :], strict=True):
            self.tick(3)
            if call.name == "Bash" and rng.random() < 0.25:
                for count in range(rng.randint(1, 3)):
                    data = {
                        "type": "bash_progress",
                        "output": self.prose(12),
                        "elapsedTimeSeconds": count + 2,
                        "totalLines": count * 3,
                    }
                    self.progress(data, f"bash-progress-{count}", call.tool_use, iso(self.now))
            self.tool_result(call.tool_use, call.content, call.structured, source)
        if rng.random() < 0.02 and len(self.uuids) > 12:
            self.parent = rng.choice(self.uuids[-12:-2])  # rewind: a branch starts here
            self.truth.branches += 1

    def _api_error(self) -> None:
        entry = self.envelope()
        entry["message"] = {
            "id": new_uuid(self.rng),
            "model": "<synthetic>",
            "role": "assistant",
            "type": "message",
            "stop_reason": "stop_sequence",
            "stop_sequence": "",
            "content": [{"type": "text", "text": "API Error: Request timed out."}],
            "usage": {
                "input_tokens": 0,
                "output_tokens": 0,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
            },
        }
        entry |= {
            "type": "assistant",
            "uuid": self.chain(),
            "timestamp": iso(self.now),
            "isApiErrorMessage": True,
        }
        self.put(entry)
