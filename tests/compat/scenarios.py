"""What the fake API answers, by directive, for a client that works in ``project``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Json = dict[str, Any]

SUBAGENT = ["Agent", "Task"]  # the tool's name changed; the server picks the first one that the request offers
PNG_1PX = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def tool(name: str | list[str], /, **arguments: Any) -> Json:
    return {"type": "tool_use", "name": name, "input": arguments}


def bash(command: str, **arguments: Any) -> Json:
    return tool("Bash", command=command, description="Run it", **arguments)


def subagent(prompt: str, kind: str = "general-purpose", background: bool = False) -> Json:
    return tool(SUBAGENT, description="A fake errand", prompt=prompt, subagent_type=kind, run_in_background=background)


def think(text: str) -> Json:
    return {"type": "thinking", "thinking": text}


def say(*blocks: str | Json, **extra: Any) -> Json:
    return {"blocks": list(blocks), **extra}


def error(status: int, kind: str, message: str) -> Json:
    return {"error": {"status": status, "type": kind, "message": message}}


def full_context(tokens: int) -> list[Json]:
    counts = {
        "input_tokens": 5,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": tokens,
        "output_tokens": 900,
    }
    return [say("A nearly full context.", usage=counts)]


def build(project: Path) -> dict[str, list[Json]]:
    return {**talk(), **tool_use(project), **subagents(project), **planning(), **failures()}


def talk() -> dict[str, list[Json]]:
    return {
        "hello": [say("Hello from the fake API.")],
        "second": [say("A second answer.")],
        "third": [say("A third answer.")],
        "thinking": [say(think("First I think a while.\nThen some more."), "An answer after thought.")],
        "redacted": [say({"type": "redacted_thinking", "data": "RkFLRQ=="}, "An answer after hidden thought.")],
        "twotexts": [say("Text block one.", "Text block two.")],
        "unicode": [say('Grüße, 世界 🌍 — \u2028 line separator, \ufeff BOM, \\ backslash, "quotes".')],
        "slow": [say("This answer is slow, word after word after word after word.", chunk_delay=1.5)],
        "slowsplit": [  # the blocks land on disk before the final usage is known
            say(think("Slow thought, in pieces."), "Slow text, in pieces.", bash("echo slow"), chunk_delay=0.2),
            say("Slow end, in pieces.", chunk_delay=0.2),
        ],
    }


def tool_use(project: Path) -> dict[str, list[Json]]:
    def at(name: str) -> str:
        return str(project / name)

    todo_before = [
        {"content": "Write it", "status": "in_progress", "activeForm": "Writing it"},
        {"content": "Test it", "status": "pending", "activeForm": "Testing it"},
    ]
    todo_after = [{**todo_before[0], "status": "completed"}, {**todo_before[1], "status": "in_progress"}]
    return {
        "files": [
            say(think("Write, edit, run."), "Writing.", tool("Write", file_path=at("new.txt"), content="one\ntwo\n")),
            say("Editing.", tool("Edit", file_path=at("new.txt"), old_string="two", new_string="TWO")),
            say("Running.", bash("cat new.txt && echo done >&2")),
            say("All done."),
        ],
        "parallel": [
            say(
                "Three at once.",
                tool("Read", file_path=at("a.txt")),
                tool("Read", file_path=at("b.txt")),
                bash("echo parallel"),
            ),
            say("All three came back."),
        ],
        "parallel2": [
            say(think("In two rounds."), tool("Read", file_path=at("a.txt")), bash("echo round one")),
            say("Round two.", bash("echo two a"), bash("echo two b"), bash("exit 4")),
            say("Both rounds came back."),
        ],
        "toolerror": [
            say(tool("Read", file_path=at("does-not-exist.txt"))),
            say(bash("echo out; echo err >&2; exit 3")),
            say("Both failed, as they should."),
        ],
        "badtool": [say(tool("NoSuchTool", x=1)), say("That tool does not exist.")],
        "badinput": [say(tool("Read", wrong="field")), say("That input was wrong.")],
        "bigoutput": [say(bash("seq 1 30000")), say("A long list.")],
        "image": [say(tool("Read", file_path=at("dot.png"))), say("One pixel.")],
        "denied": [say(bash("touch not-allowed")), say("I was not allowed.")],
        "background": [say(bash("sleep 1; echo late", run_in_background=True)), say("It runs in the background.")],
        "todo": [
            say(tool("TodoWrite", todos=todo_before)),
            say(tool("TodoWrite", todos=todo_after)),
            say("Half done."),
        ],
        "tasks": [
            say(
                tool("TaskCreate", subject="Write it", description="Write the thing", activeForm="Writing it"),
                tool("TaskCreate", subject="Test it", description="Test the thing", activeForm="Testing it"),
            ),
            say(tool("TaskUpdate", taskId="1", status="completed"), tool("TaskUpdate", taskId="2", addBlockedBy=["1"])),
            say("The list is kept."),
        ],
        "skill": [say(tool("Skill", skill="greet", args="world")), say("Skill used.")],
        "mcp": [say(tool("mcp__fake__echo", text="hi")), say("MCP answered.")],
        "longturn": [*(say(bash(f"echo step{number}")) for number in range(6)), say("Six steps.")],
        "slowtool": [say(bash("sleep 20; echo never")), say("Slept.")],
        "websearch": [
            say(
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
                "Searched.",
                usage={"server_tool_use": {"web_search_requests": 1}},
            )
        ],
    }


def subagents(project: Path) -> dict[str, list[Json]]:
    return {
        "sub": [
            say("Agent reading.", tool("Read", file_path=str(project / "a.txt"))),
            say("Report: it says hello."),
        ],
        "subthink": [say(think("Agent thinks."), "Report: I only thought.")],
        "subagent": [say("Delegating.", subagent("Look around and report. [fake:sub]")), say("The subagent reported.")],
        "agents2": [
            say(subagent("Errand one. [fake:sub]"), subagent("Errand two. [fake:subthink]")),
            say("Both reported."),
        ],
        "nested": [say(subagent("Delegate further. [fake:subnest]")), say("Nested done.")],
        "subnest": [say(subagent("The inner errand. [fake:sub]")), say("Inner reported to me.")],
        "agentbg": [
            say(subagent("Errand in the background. [fake:sub]", background=True)),
            say("Started it."),
            say("And it came back."),
            say("Enough."),
        ],
        "agentcustom": [
            say(subagent("Use the custom subagent. [fake:sub]", kind="helper")),
            say("Custom subagent reported."),
        ],
        "agentfork": [say(subagent("Fork. [fake:sub]", kind="fork")), say("Fork came back.")],
    }


def planning() -> dict[str, list[Json]]:
    plan = "# Plan\n1. Do it.\n"
    return {
        "plan": [
            say(tool("Write", file_path="{PLAN}", content=plan)),
            say(tool("ExitPlanMode", plan=plan)),
            say("Plan stands."),
        ],
        "enterworktree": [
            say(tool("EnterWorktree", name="wt-fake")),
            say(bash("pwd")),
            say(tool("ExitWorktree", action="keep")),
            say("Back again."),
        ],
    }


def failures() -> dict[str, list[Json]]:
    return {
        "error400": [error(400, "invalid_request_error", "fake: bad request")],
        "error401": [error(401, "authentication_error", "fake: invalid x-api-key")],
        "error500": [error(500, "api_error", "fake: internal")],
        "error529": [error(529, "overloaded_error", "fake: overloaded")],
        "toolong": [error(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum")],
        "midfail": [say("Begun.", bash("echo begun")), error(400, "invalid_request_error", "fake: failed midway")],
        "maxtokens": [say("This is cut o", stop_reason="max_tokens"), say("ff here.")],
        "refusal": [say("I will not.", stop_reason="refusal")],
        "empty": [say(stop_reason="end_turn")],
        "drop": [say("This stream is cut short by the server.", drop=True)],
        "full": full_context(985_000),
    }
