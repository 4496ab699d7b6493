"""A scriptable stand-in for the Messages API, on loopback only.

A prompt that holds ``[fake:NAME]`` plays scenario NAME: the server finds the *last* user text with a directive and
counts the assistant messages after it; that count is the step. It keeps no state of conversations, so a resumed,
forked or compacted one works as it should. A channel is the part of the address before ``/v1``: each has its own
scenarios and keeps its own requests, so several clients can run at once.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from tests.compat.fake_stream import stream_events

Json = dict[str, Any]
Scenarios = Mapping[str, Sequence[Json]]

DIRECTIVE = re.compile(r"\[fake:([A-Za-z0-9_.-]+)\]")
MODELS = ("claude-opus-4-8", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001")
USAGE: Json = {
    "input_tokens": 11,
    "cache_creation_input_tokens": 70,
    "cache_read_input_tokens": 500,
    "cache_creation": {"ephemeral_5m_input_tokens": 70, "ephemeral_1h_input_tokens": 0},
    "output_tokens": 23,
    "service_tier": "standard",
}


def block_texts(content: Any) -> Iterator[str]:
    """The plain texts in a content (a string or a list of blocks), tool results left out."""
    if isinstance(content, str):
        yield content
        return
    for block in content or []:
        if isinstance(block, dict) and block.get("type") == "text":
            yield block.get("text", "")


def last_user_text(body: Json) -> str:
    for message in reversed(body.get("messages") or []):
        if message.get("role") == "user":
            text = "\n".join(block_texts(message.get("content")))
            if text:
                return text
    return ""


def find_step(body: Json) -> tuple[str | None, int]:
    """(scenario, step): the last directive in a user text, and the number of assistant messages after it."""
    messages = body.get("messages") or []
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].get("role") != "user":
            continue
        found = [name for text in block_texts(messages[index].get("content")) for name in DIRECTIVE.findall(text)]
        if found:
            return found[-1], sum(1 for later in messages[index + 1 :] if later.get("role") == "assistant")
    return None, 0


def errand_reply(body: Json) -> Json | None:
    """The client's own errands (titles, compaction) are known by what they ask for, not by a directive."""
    system, last = "\n".join(block_texts(body.get("system") or "")), last_user_text(body)
    schema = ((body.get("output_config") or {}).get("format") or {}).get("schema") or {}
    asked = set(schema.get("properties") or {})
    if "create a detailed summary" in last or "summarizing conversations" in system:
        return {
            "blocks": [
                "<analysis>fake analysis</analysis>\n<summary>FAKE COMPACT SUMMARY of the talk so far.</summary>"
            ]
        }
    if asked & {"title", "isNewTopic", "name", "branch"}:
        return {"blocks": [json.dumps({key: True if key == "isNewTopic" else "fake-" + key for key in asked})]}
    if "isNewTopic" in system:
        return {"blocks": ['{"isNewTopic": true, "title": "Fake title"}']}
    if not body.get("tools") and re.search(r"title|topic", system[:4000], re.IGNORECASE):
        return {"blocks": ['{"title": "Fake generated title"}']}
    return None


class Desk:
    """What all connections share: the scenarios, the requests so far, a counter for ids."""

    def __init__(self) -> None:
        self.scenarios: dict[str, Scenarios] = {}
        self.requests: dict[str, list[Json]] = defaultdict(list)
        self.serial = itertools.count(1)
        self.run = f"{time.time_ns() // 1_000_000:011x}"[-9:]  # ids must not repeat when two runs fill one store

    def step(self, channel: str, body: Json) -> Json:
        errand = errand_reply(body)
        if errand is not None:
            return errand
        name, number = find_step(body)
        if name is None:
            return {"blocks": ["OK (no directive)."]}
        steps = self.scenarios.get(channel, {}).get(name)
        if steps is None:
            return {"blocks": [f"OK (unknown scenario {name})."]}
        return steps[number] if number < len(steps) else {"blocks": [f"Done with {name}."]}


def full_blocks(step: Json, ident: str, body: Json) -> list[Json]:
    """The step's blocks in full form. A tool's name may be a list: the first one that the request offers is taken."""
    offered = {tool.get("name") for tool in body.get("tools") or []}
    blocks = []
    for number, given in enumerate(step.get("blocks", ["OK."])):
        block: Json = {"type": "text", "text": given} if isinstance(given, str) else dict(given)
        if block["type"] == "tool_use":
            block.setdefault("id", f"toolu_fake{ident}{number:02d}")
            if isinstance(block["name"], list):
                block["name"] = next((name for name in block["name"] if name in offered), block["name"][0])
            block["input"] = fill_in_plan(block["input"], body)
        blocks.append(block)
    return blocks


def fill_in_plan(value: Any, body: Json) -> Any:
    """Replace {PLAN} by the plan file that the client named in its plan-mode instructions."""
    if isinstance(value, dict):
        return {key: fill_in_plan(item, body) for key, item in value.items()}
    if isinstance(value, str) and "{PLAN}" in value:
        found = re.search(r"[^\s\"'`]+/plans/[A-Za-z0-9._-]+\.md", json.dumps(body, ensure_ascii=False))
        return value.replace("{PLAN}", found.group(0) if found else "no-plan-file.md")
    return value


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "FakeAPI/1"
    desk: ClassVar[Desk]

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def send_json(self, status: int, payload: Any, headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        if "/v1/models" in self.path:
            data = [
                {"type": "model", "id": model, "display_name": model, "created_at": "2025-01-01T00:00:00Z"}
                for model in MODELS
            ]
            self.send_json(200, {"data": data, "has_more": False})
        else:
            self.send_json(404 if "/v1/" in self.path else 200, {})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.split("?")[0]
        before, _, call = path.partition("/v1/")
        channel = before.strip("/")
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        if call == "messages/count_tokens":
            self.send_json(200, {"input_tokens": max(1, len(raw) // 4)})
        elif call == "messages":
            self.desk.requests[channel].append(body)
            self.reply(body, self.desk.step(channel, body))
        else:
            self.send_json(404, {"type": "error", "error": {"type": "not_found_error", "message": path}})

    def reply(self, body: Json, step: Json) -> None:
        ident = f"{self.desk.run}{next(self.desk.serial):011d}"
        headers = {"request-id": f"req_fake{ident}", "anthropic-organization-id": "fake-org"}
        if "error" in step:
            error = {"type": step["error"]["type"], "message": step["error"]["message"]}
            answer = {"type": "error", "error": error, "request_id": headers["request-id"]}
            self.send_json(step["error"]["status"], answer, headers)
            return
        blocks = full_blocks(step, ident, body)
        usage = {**USAGE, **step.get("usage", {})}
        uses_tool = any(block["type"] == "tool_use" for block in blocks)
        stop_reason = step.get("stop_reason") or ("tool_use" if uses_tool else "end_turn")
        message = {
            "id": f"msg_fake{ident}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", MODELS[0]),
        }
        if body.get("stream"):
            self.send_stream(step, headers, stream_events(message, blocks, usage, stop_reason))
            return
        end = {"content": blocks, "stop_reason": stop_reason, "stop_sequence": None, "usage": usage}
        self.send_json(200, {**message, **end}, headers)

    def send_stream(self, step: Json, headers: Mapping[str, str], events: Iterator[tuple[str, Json]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        self.close_connection = True
        try:
            for number, (event, data) in enumerate(events):
                self.wfile.write(f"event: {event}\ndata: {json.dumps(data)}\n\n".encode())
                self.wfile.flush()
                if step.get("drop") and number >= 3:
                    return
                if step.get("chunk_delay"):
                    time.sleep(step["chunk_delay"])
        except ConnectionError:
            return  # the client hung up: an interruption


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client that hangs up is no error here
            super().handle_error(request, client_address)


class FakeAPI:
    """``with FakeAPI() as api: address = api.channel("one", scenarios)``"""

    def __init__(self) -> None:
        self.desk = Desk()
        self.server = QuietServer(("127.0.0.1", 0), type("BoundHandler", (Handler,), {"desk": self.desk}))
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    def channel(self, name: str, scenarios: Scenarios) -> str:
        """The base address to give to a client; what it asks there is answered by these scenarios."""
        self.desk.scenarios[name] = scenarios
        return f"http://127.0.0.1:{self.server.server_address[1]}/{name}"

    def requests(self, channel: str) -> list[Json]:
        return list(self.desk.requests.get(channel, []))

    def __enter__(self) -> FakeAPI:
        self.thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.server.shutdown()
        self.server.server_close()
