"""Print-mode runs of the client, in groups: the scenes of a group follow each other, the groups are independent."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.compat import scenarios

NAMESPACE = uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
ALLOW = (
    "--allowedTools",
    "Bash,Read,Write,Edit,NotebookEdit,Task,Agent,TodoWrite,TaskCreate,TaskUpdate,TaskList,Skill,mcp__fake__echo,"
    "EnterWorktree,ExitWorktree",
)


def session_id(name: str) -> str:
    return str(uuid.uuid5(NAMESPACE, name))


@dataclass(frozen=True)
class Scene:
    """One ``claude -p`` run. ``resumes`` names the scene whose session it goes on with."""

    name: str
    prompt: str
    arguments: tuple[str, ...] = ()
    resumes: str = ""
    stdin: str | None = None
    extra: Mapping[str, str] = field(default_factory=dict)
    interrupt_after: float | None = None
    subfolder: str = ""

    def command_line(self) -> list[str]:
        if self.resumes:
            which = ["--resume", session_id(self.resumes)]
        elif "--continue" in self.arguments:
            which = []
        else:
            which = ["--session-id", session_id(self.name)]
        return [*which, "--output-format", "stream-json", "--verbose", *self.arguments]


def user_line(content: object) -> str:
    message = {"role": "user", "content": content}
    return json.dumps({"type": "user", "message": message, "parent_tool_use_id": None, "session_id": ""}) + "\n"


PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": scenarios.PNG_1PX}}
STREAM_IN = ("--input-format", "stream-json")

CORE: dict[str, list[Scene]] = {
    "talk": [
        Scene("plain", "Say hello [fake:hello]"),
        Scene("thinking", "Think [fake:thinking]"),
        Scene("slash-custom", "/shout louder", ALLOW),
        Scene("image-in", "", STREAM_IN, stdin=user_line([{"type": "text", "text": "Look [fake:hello]"}, PICTURE])),
    ],
    "errors": [
        Scene("error400", "Fail [fake:error400]"),
        Scene("error400-again", "And now [fake:second]", resumes="error400"),
        Scene("error529", "Overload [fake:error529]"),
    ],
    "tools": [
        Scene("files", "Write a file [fake:files]", ALLOW),
        Scene("parallel", "Do three things [fake:parallel]", ALLOW),
        Scene("parallel2", "Do more things [fake:parallel2]", ALLOW),
        Scene("bigoutput", "Count [fake:bigoutput]", ALLOW),
        Scene("slowsplit", "Slowly [fake:slowsplit]", ALLOW),
        Scene("todo", "Plan the work [fake:todo]", ALLOW),
    ],
    "subagents": [
        Scene("subagent", "Delegate [fake:subagent]", ALLOW),
        Scene("agents2", "Delegate twice [fake:agents2]", ALLOW),
    ],
    "turns": [
        Scene("turn1", "First turn [fake:hello]"),
        Scene("turn2", "Second turn [fake:second]", resumes="turn1"),
        Scene("turn3", "Third turn [fake:third]", ("--continue",)),
        Scene("turn4-fork", "Forked turn [fake:third]", ("--fork-session",), resumes="turn1"),
    ],
    "compact": [
        Scene("compact1", "Talk before compaction [fake:files]", ALLOW),
        Scene("compact2", "/compact keep the file names", resumes="compact1"),
        Scene("compact3", "After compaction [fake:second]", resumes="compact1"),
        Scene("compact4", "/compact", resumes="compact1"),
        Scene("compact5", "After the second compaction [fake:parallel]", ALLOW, resumes="compact1"),
    ],
}

HOOK = {"type": "command", "command": "cat >/dev/null; echo hook-ran"}
HOOK_EVENTS = ("SessionStart", "SessionEnd", "Stop", "SubagentStop", "UserPromptSubmit", "PreToolUse", "PostToolUse")
HOOKS = json.dumps({"hooks": {event: [{"hooks": [HOOK]}] for event in HOOK_EVENTS}})

MORE: dict[str, list[Scene]] = {
    "words": [
        Scene("redacted", "Hidden thought [fake:redacted]"),
        Scene("twotexts", "Two texts [fake:twotexts]"),
        Scene("unicode", "Grüße 世界 🌍 \u2028 [fake:unicode]"),
        Scene("websearch", "Search [fake:websearch]"),
        Scene("named", "A named session [fake:hello]", ("--name", "My named session")),
        Scene("two-prompts", "", STREAM_IN, stdin=user_line("One [fake:hello]") + user_line("Two [fake:second]")),
    ],
    "more-tools": [
        Scene("toolerror", "Fail twice [fake:toolerror]", ALLOW),
        Scene("badtool", "Wrong tool [fake:badtool]"),
        Scene("denied", "Not allowed [fake:denied]"),
        Scene("image-read", "Read an image [fake:image]", ALLOW),
        Scene("background", "In the background [fake:background]", ALLOW),
        Scene("skill", "Use the skill [fake:skill]", ALLOW),
        Scene("mcp", "Use MCP [fake:mcp]", ("--mcp-config", "mcp.json", *ALLOW)),
        Scene(
            "tasks",
            "Plan the work [fake:tasks]",
            ALLOW,
            extra={"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1", "CLAUDE_CODE_ENABLE_TASKS": "1"},
        ),
    ],
    "more-agents": [
        Scene("nested", "Delegate down [fake:nested]", ALLOW),
        Scene("agentbg", "Delegate aside [fake:agentbg]", ALLOW),
        Scene("agentcustom", "Delegate to helper [fake:agentcustom]", ALLOW),
        Scene("agentfork", "Delegate to a fork [fake:agentfork]", ALLOW, extra={"CLAUDE_CODE_FORK_SUBAGENT": "1"}),
    ],
    "worktrees": [
        Scene("worktree", "In a worktree [fake:files]", ("--worktree", "wt1", *ALLOW)),
        Scene("enterworktree", "Enter a worktree [fake:enterworktree]", ALLOW),
        Scene("plan", "Plan it [fake:plan]", ("--permission-mode", "plan", *ALLOW)),
        Scene("subfolder", "In a folder of the repository [fake:hello]", subfolder="sub/ordner mit ä🌍"),
    ],
    "more-errors": [
        Scene("midfail", "Fail midway [fake:midfail]", ALLOW),
        Scene("midfail-again", "Go on [fake:second]", resumes="midfail"),
        Scene("toolong", "Too long [fake:toolong]"),
        Scene("maxtokens", "Cut off [fake:maxtokens]"),
        Scene("refusal", "Refuse [fake:refusal]"),
        Scene("empty", "Say nothing [fake:empty]"),
        Scene("drop", "Drop the line [fake:drop]"),
    ],
    "interrupted": [
        Scene("interrupt-tool", "Slow tool [fake:slowtool]", ALLOW, interrupt_after=4.0),
        Scene("interrupt-resume", "After the interruption [fake:second]", resumes="interrupt-tool"),
    ],
    "autocompact": [
        Scene("autocompact1", "Fill the context [fake:full]"),
        Scene("autocompact2", "Goes over [fake:second]", resumes="autocompact1"),
        Scene("autocompact3", "Afterwards [fake:third]", resumes="autocompact1"),
    ],
    "hooked": [
        Scene("hooks", "With hooks [fake:files]", ("--settings", HOOKS, *ALLOW)),
        Scene("hooks-agent", "With hooks and a subagent [fake:subagent]", ("--settings", HOOKS, *ALLOW)),
    ],
    "checkpoints": [
        Scene(
            "checkpointing",
            "Write a file [fake:files]",
            ALLOW,
            extra={"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"},
        ),
        Scene("slash-context", "/context"),
    ],
}
