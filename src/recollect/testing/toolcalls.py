"""Build tool calls with the results that Claude Code would record for them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

ResultContent = str | list[dict[str, Any]]


@dataclass(frozen=True)
class ToolCall:
    """A tool call and, if it was answered, its result.

    `content` is what the model sees, `structured` is Claude Code's `toolUseResult` (None: none is written; an error's is its
    text, as Claude Code does it). `id` is given by the builder unless it is set.
    """

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None
    content: ResultContent | None = None
    structured: Any = None
    is_error: bool = False


def bash(command: str, stdout: str = "", stderr: str = "", *, description: str = "", id: str | None = None) -> ToolCall:
    arguments = {"command": command, **({"description": description} if description else {})}
    structured = {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False}
    return ToolCall("Bash", arguments, id, "\n".join(part for part in (stdout, stderr) if part), structured)


def failed(name: str, arguments: Mapping[str, Any], message: str, *, id: str | None = None) -> ToolCall:
    """Build a call that ended in an error; its structured result is a text."""
    return ToolCall(name, arguments, id, message, f"Error: {message}", True)


def read(path: str, content: str, *, id: str | None = None) -> ToolCall:
    lines = content.splitlines() or [""]
    numbered = "\n".join(f"{number:>6}→{line}" for number, line in enumerate(lines, 1))
    file = {"filePath": path, "content": content, "numLines": len(lines), "startLine": 1, "totalLines": len(lines)}
    return ToolCall("Read", {"file_path": path}, id, numbered, {"type": "text", "file": file})


def write(path: str, content: str, *, original: str | None = None, id: str | None = None) -> ToolCall:
    structured = {
        "type": "create" if original is None else "update",
        "filePath": path,
        "content": content,
        "structuredPatch": [] if original is None else structured_patch(original, content),
        "originalFile": original,
    }
    verb = "created" if original is None else "updated"
    message = f"File {verb} successfully at: {path}"
    return ToolCall("Write", {"file_path": path, "content": content}, id, message, structured)


def edit(path: str, old: str, new: str, *, original: str, id: str | None = None) -> ToolCall:
    structured = {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": original,
        "structuredPatch": structured_patch(original, original.replace(old, new, 1)),
        "userModified": False,
        "replaceAll": False,
    }
    arguments = {"file_path": path, "old_string": old, "new_string": new}
    return ToolCall("Edit", arguments, id, f"The file {path} has been updated.", structured)


def grep(pattern: str, files: Sequence[str], *, id: str | None = None) -> ToolCall:
    content = f"Found {len(files)} files\n" + "\n".join(files) if files else "No files found"
    structured = {"mode": "files_with_matches", "filenames": list(files), "numFiles": len(files)}
    return ToolCall("Grep", {"pattern": pattern}, id, content, structured)


def todo_write(
    todos: Sequence[Mapping[str, str]], old: Sequence[Mapping[str, str]] = (), *, id: str | None = None
) -> ToolCall:
    structured = {"oldTodos": [dict(todo) for todo in old], "newTodos": [dict(todo) for todo in todos]}
    return ToolCall("TodoWrite", {"todos": structured["newTodos"]}, id, "Todos have been modified.", structured)


def task_create(number: int, subject: str, description: str = "", *, id: str | None = None) -> ToolCall:
    task = {"id": str(number), "subject": subject, "description": description}
    arguments = {"subject": subject, "description": description, "activeForm": subject}
    return ToolCall("TaskCreate", arguments, id, f"Task #{number} created: {subject}", {"task": task})


def mcp(server: str, tool: str, arguments: Mapping[str, Any], text: str, *, id: str | None = None) -> ToolCall:
    blocks = [{"type": "text", "text": text}]
    return ToolCall(f"mcp__{server}__{tool}", arguments, id, blocks, [dict(block) for block in blocks])


def todo(content: str, status: str = "pending", active_form: str | None = None) -> dict[str, str]:
    return {"content": content, "status": status, "activeForm": active_form or content}


def structured_patch(old: str, new: str) -> list[dict[str, Any]]:
    """Return hunks as Claude Code records them: counted from 1, each line with its mark."""
    before, after = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    hunks = []
    for group in matcher.get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                lines += [" " + line for line in before[old_from:old_to]]
                continue
            lines += ["-" + line for line in before[old_from:old_to]]
            lines += ["+" + line for line in after[new_from:new_to]]
        first, last = group[0], group[-1]
        hunks.append(
            {
                "oldStart": first[1] + 1,
                "oldLines": last[2] - first[1],
                "newStart": first[3] + 1,
                "newLines": last[4] - first[3],
                "lines": lines,
            }
        )
    return hunks
