"""Build the sessions of the age homes: the same work, written as each version of Claude Code writes it."""

from __future__ import annotations

import hashlib

from recollect.testing.encoding import encode_line
from recollect.testing.identifiers import timestamp
from recollect.testing.rowwriter import Entry
from recollect.testing.toolcalls import (
    ToolCall,
    bash,
    edit,
    failed,
    grep,
    mcp,
    read,
    task_create,
    todo,
    todo_write,
    write,
)
from recollect.testing.transcript import TranscriptBuilder

from .home import HomeBuilder

CWD = "/home/dev/teapot"
SOURCE = "def brew(cups):\n    return cups * 200\n"
BETTER = SOURCE.replace("* 200", "* 250")
TODOS = (todo("Read the recipe", "completed", "Reading the recipe"), todo("Fix the amount", "in_progress"))


def everyday_session(home: HomeBuilder) -> TranscriptBuilder:
    """Build a session with a prompt, tools of several kinds, two at once, a subagent, and the state lines of the version."""
    t = home.session(CWD, start="2026-03-02T09:00:00Z")
    dialect = t.dialect
    source = f"{CWD}/teapot.py"
    if dialect.since("2.1.250"):
        t.state("atis-latch", atis="")
    _hook_row(t, "SessionStart")
    first = t.user("The tea is too weak. How much water does brew() take?")
    if dialect.since("1.0.128"):
        t.file_history_snapshot(first)
    _attachments(t)
    t.parallel([read(source, SOURCE), grep("cups", [source])], "I will look at the code.", thinking="Where is brew()?")
    t.call(todo_write(TODOS))
    t.call(edit(source, "* 200", "* 250", original=SOURCE), thinking="A cup is a quarter of a litre.")
    _record_edit(home, t, first, source)
    t.call(bash("python -m pytest -q", "1 passed\n"))
    t.call(failed("Read", {"file_path": f"{CWD}/missing.txt"}, "File does not exist."))
    t.call(mcp("kettle", "boil", {"litres": 1}, "Boiling."))
    t.assistant("`brew` takes 250 ml for each cup now.", thinking="Say it shortly.")
    _end_of_turn(t)
    t.user("Which other recipes use it?")
    subagent = t.subagent("Find all callers of brew().", description="Find callers", text="I will have that looked up.")
    _hook_row(subagent, "SubagentStart")
    subagent.call(grep("brew\\(", [f"{CWD}/menu.py"]), thinking="Search first.")
    _subagent_progress(t, subagent.subagent_id or "", subagent.tool_use_id)
    if dialect.since("2.1.325"):
        nested = subagent.subagent("Read menu.py closely.", description="Read menu")
        nested.call(read(f"{CWD}/menu.py", "from teapot import brew\n"))
        nested.finish("One import, no call.")
    subagent.finish("Only menu.py imports it.")
    if dialect.since("2.1.9"):
        long_output = "steep\n" * 8_000
        name = list(t.calls)[-1] if dialect.until("2.1.20") else "b1c2d3e4f"
        path = home.tool_output(t, name, long_output)
        result = bash("seq 8000", long_output[:60])
        structured = {**result.structured, "persistedOutputPath": path, "persistedOutputSize": len(long_output)}
        t.assistant(tools=[result])
        preview = f"<persisted-output>\nOutput too large. Full output saved to: {path}\n</persisted-output>"
        t.tool_result(list(t.calls)[-1], preview, tool_use_result=structured)
    if dialect.since("2.1.325"):
        t.call(task_create(1, "Write to the menu's author"))
    t.assistant("Only `menu.py` imports it; nothing else calls it.")
    _end_of_turn(t)
    _closing_lines(t, "Which other recipes use it?")
    return t


def long_session(home: HomeBuilder) -> tuple[TranscriptBuilder, tuple[str, ...]]:
    """Build a session with a rewind, an API error, and since 1.0.128 a compaction; return also the rows that were rewound."""
    t = home.session(CWD, start="2026-03-03T09:00:00Z", git_branch="feature/strainer")
    t.user("Add a strainer to the teapot.")
    t.call(write(f"{CWD}/strainer.py", "MESH = 3\n"))
    kept = t.assistant("There is a strainer now.")
    abandoned = (t.user("Make it of paper."), t.assistant("It is of paper now."))
    t.rewind(kept)
    t.user("Make it of steel.")
    if t.dialect.since("1.0.128"):
        t.api_error()
    t.assistant("It is of steel now.")
    if not t.dialect.since("1.0.128"):
        return t, abandoned
    question = t.user("How fine is the mesh?")
    answer = t.assistant("Three to the centimetre.")
    preserved = [question, answer] if t.dialect.preserved_messages else []
    t.compact("manual", "We added a steel strainer to the teapot.", preserved=preserved)
    t.user("<command-name>/cost</command-name>", meta=True)
    t.system("local_command", "<local-command-stdout>little</local-command-stdout>", level="info", isMeta=False)
    t.user("Make it finer.")
    t.call(bash("sed -i s/3/5/ strainer.py"))
    t.assistant("Five to the centimetre.")
    if t.dialect.last_prompt:
        t.last_prompt("Make it finer.")
    return t, abandoned


def continued_session(home: HomeBuilder, source: TranscriptBuilder) -> TranscriptBuilder | None:
    """Build a session that starts with copied rows: resumed up to 1.0.0, branched since 2.1.9."""
    if not (source.dialect.whole_messages or source.dialect.since("2.1.9")):
        return None
    t = home.session(CWD, start="2026-03-04T09:00:00Z")
    t.fork_copy(source, style="fork-session" if source.dialect.whole_messages else "branch")
    t.at(0)
    t.user("And where does the tea come from?")
    t.assistant("From the caddy.")
    if t.dialect.since("2.1.9"):
        t.title("Tea leaves")
        t.state("agent-name", agentName="Tea leaves")
    return t


def rare_session(home: HomeBuilder) -> TranscriptBuilder:
    """Build the kinds of lines that 2.1.325 writes rarely: plan mode, worktrees, web search, retries, a forked subagent."""
    t = home.session(CWD, start="2026-03-05T09:00:00Z", slug="patient-reading-otter")
    t.state("agent-color", agentColor="blue")
    t.state("agent-setting", agentSetting="taster")
    t.user("Plan a better kettle.", permissionMode="plan")
    plan = str(home.root / "plans/patient-reading-otter.md")
    for kind in ("instructions", "model", "session_context", "auto_mode", "deferred_tools_delta", "future_kind"):
        t.attachment(kind, rendered=f"{kind} of the kettle")
    t.attachment("plan_mode", rendered="Plan only.", reminderType="full", isSubAgent=False, planFilePath=plan)
    retry: Entry = {"retryInMs": 500, "retryAttempt": 1, "maxRetries": 10, "source": "main"}
    t.system("api_error", level="error", error={"message": "overloaded", "status": 529}, **retry)
    t.assistant("Searching.", blocks=[{"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="}])
    search = {"type": "server_tool_use", "id": "srvtoolu_01", "name": "web_search", "input": {"query": "kettle"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_01", "content": []}
    t.assistant(blocks=[search, found])
    t.call(ToolCall("ExitPlanMode", {"plan": "Boil faster."}, content="Approved.", structured={"filePath": plan}))
    t.attachment("plan_mode_exit", rendered="Go on.", planFilePath=plan, planExists=True)
    worktree = {"originalCwd": CWD, "worktreePath": f"{CWD}/.claude/worktrees/kettle", "worktreeName": "kettle"}
    t.state("worktree-state", worktreeSession=worktree | {"worktreeBranch": "worktree-kettle"})
    t.state("relocated", relocatedCwd=worktree["worktreePath"])
    t.state("worktree-state", worktreeSession=None)
    t.state("relocated", relocatedCwd=CWD)
    t.system("informational", "Kettle is warm.", isMeta=False, level="info")
    forked = t.subagent("Go on with what we know.", subagent_type="fork")
    known = {"parentSessionId": t.session_id, "parentLastUuid": t.head, "contextLength": 9}
    forked.line(type="fork-context-ref", agentId=forked.subagent_id, **known)
    forked.finish("Done as planned.")
    runner = t.subagent("Boil it.", description="Boil", workflow="wf_0001", subagent_type="workflow-subagent")
    runner.finish("Boiled.")
    t.assistant("The kettle is better.")
    t.state("kettle-state", litres=1.5)
    t.last_prompt("Plan a better kettle.")
    return t


def _hook_row(t: TranscriptBuilder, event: str) -> None:
    hook = {"hookEvent": event, "hookName": f"{event}:startup", "command": "echo ready"}
    if t.dialect.progress_rows:
        t.progress("hook_progress", tool_use_id=f"hook-{event}", **hook)
    elif t.dialect.attachment_rows:
        outcome: Entry = {"content": "", "stdout": "ready\n", "stderr": "", "exitCode": 0, "durationMs": 12}
        t.attachment("hook_success", toolUseID=f"hook-{event}", **hook, **outcome)


def _attachments(t: TranscriptBuilder) -> None:
    if not t.dialect.attachment_rows:
        return
    names = ["tea", "coffee"]
    listing: Entry = {
        "content": "- tea: Brew tea",
        "skillCount": 2,
        "isInitial": True,
        "names": names,
        "digests": ["0a", "0b"],
    }
    t.attachment("skill_listing", rendered="- tea: Brew tea", **listing)
    t.attachment("command_permissions", allowedTools=[])
    file = {"filePath": f"{CWD}/README.md", "content": "Tea", "numLines": 1, "startLine": 1, "totalLines": 1}
    shown: Entry = {
        "filename": f"{CWD}/README.md",
        "content": {"type": "text", "file": file},
        "displayPath": "README.md",
    }
    t.attachment("file", rendered="README.md: Tea", **shown)
    if t.dialect.since("2.1.197"):
        added: Entry = {
            "addedTypes": ["taster"],
            "addedLines": ["- taster: Tastes"],
            "removedTypes": [],
            "isInitial": True,
        }
        t.attachment("agent_listing_delta", rendered="- taster: Tastes", showConcurrencyNote=False, **added)
    if t.dialect.since("2.1.250") and t.dialect.until("2.1.299"):
        t.attachment("total_tokens_reminder", used=9_000, total=200_000)
    if t.dialect.since("2.1.325"):
        t.attachment("date", rendered="Today is 2026-03-02.", date="2026-03-02")
        snapshot = {"workingDirectory": CWD, "isWorktree": False, "isGitRepo": True, "platform": "linux"}
        t.attachment("environment", rendered=f"Working in {CWD}", snapshot=snapshot)
        t.attachment("prompt_snapshot", systemPrompt=["You help with tea."], reminderFold=False, contextRendering="v1")


def _record_edit(home: HomeBuilder, t: TranscriptBuilder, prompt: str, source: str) -> None:
    """Write the file history before an edit: a snapshot, and since 2.1.200 a delta."""
    if not t.dialect.since("1.0.128"):
        return
    home.backup(t.session_id, source, 1, SOURCE)
    if t.dialect.file_history_delta:
        t.file_history_delta(t.head or "", prompt, source, 1)
    else:
        t.file_history_snapshot(prompt, {source: 1}, update=True)


def _subagent_progress(t: TranscriptBuilder, subagent_id: str, call_id: str) -> None:
    """Write the progress rows with which 2.1.0 to 2.1.42 repeat a subagent's messages, sometimes as their only record."""
    if not t.dialect.progress_rows:
        return
    usage = {"input_tokens": 7, "output_tokens": 2, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    message = {"id": "msg_01OnlyInProgress", "role": "assistant", "model": t.model, "content": [], "usage": usage}
    wrapped = {"type": "assistant", "message": message, "requestId": "req_011COnlyInProgress", "uuid": t.new_uuid()}
    data: Entry = {
        "message": wrapped | {"timestamp": timestamp(t.now)},
        "normalizedMessages": [],
        "prompt": "",
        "agentId": subagent_id,
    }
    t.progress("agent_progress", tool_use_id="agent_msg_01", parent_tool_use_id=call_id, **data)


def _end_of_turn(t: TranscriptBuilder) -> None:
    if t.dialect.since("2.0.77"):
        _hook_row(t, "Stop")
        hooks: Entry = {"hookCount": 1, "hookInfos": [{"command": "echo done"}], "hookErrors": []}
        outcome: Entry = {"preventedContinuation": False, "stopReason": "", "hasOutput": False}
        if t.dialect.since("2.1.200"):
            outcome["hookAdditionalContext"] = []
        t.system("stop_hook_summary", **hooks, **outcome, level="suggestion", toolUseID="stop-1")
        t.turn_duration()


def _closing_lines(t: TranscriptBuilder, prompt: str) -> None:
    """Write the lines that Claude Code of the version leaves at the end of the file."""
    if t.dialect.summary_titles:
        t.summary_title("How strong the tea is")
    if t.dialect.since("2.0.77"):
        t.queue("enqueue", "one more thing" if t.dialect.since("2.1.50") else None)
        t.queue("dequeue")
    if t.dialect.since("2.1.70"):
        t.title("Stronger tea", ai=True)
        t.last_prompt(prompt)
    if t.dialect.since("2.1.197"):
        t.state("mode", mode="normal")
    if t.dialect.since("2.1.325"):
        _request_log(t)
        t.state("permission-mode", permissionMode="default")
        t.tools_used(sorted({call.name for call in t.calls.values()}))
        t.state("pr-link", prNumber=7, prUrl="https://example.invalid/tea/pull/7", prRepository="tea/pot")
        t.cost_state(total_cost=0.31, models={t.model: {"inputTokens": 90, "outputTokens": 2_100, "costUSD": 0.31}})


def _request_log(t: TranscriptBuilder) -> None:
    """Write the API requests as a delta log: a shape, messages by hash, and the request that answers refer to."""
    reference = next(row["requestRef"] for row in t.entries if "requestRef" in row)
    message = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    digest = hashlib.sha256(encode_line(message)).hexdigest()
    shape = {"system": [{"type": "text", "text": "You help with tea."}], "tools": []}
    moment = {"timestamp": timestamp(t.now), "version": t.version}
    t.state("api-request-shape", shapeHash="5ba9e", shape=shape, **moment)
    t.state("api-request-blob", hash=digest, message=message)
    parameters = {"model": t.model, "max_tokens": 32_000, "betas": []}
    log = {"id": reference, "querySource": "repl_main_thread", "shapeHash": "5ba9e", "params": parameters}
    t.state("api-request", **log, **moment, keep=0, tail=[digest], cacheControl=[], requestDigest="d1")
