"""Tool calls with their results, in the proportions of everyday work."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

from bench.generator.content import Json, Project, base64_noise, iso, tool_use_id
from bench.generator.words import SHELL_COMMANDS

# The client keeps larger outputs in a file beside the session and a preview in the transcript.
PERSIST_ABOVE = 30_000


@dataclass
class ToolCall:
    tool_use: str
    name: str
    arguments: Json
    content: object
    structured: object
    persisted: str | None = None
    todos: list[Json] | None = None


def draw_tool_call(rng: random.Random, project: Project, now: float, largest_result: int) -> ToolCall:
    tool_use = tool_use_id(rng)
    path, lines = rng.choice(project.files)
    kind = rng.random()
    if kind < 0.33:
        return _read(rng, tool_use, path, lines)
    if kind < 0.45:
        return _edit(rng, project, tool_use, path, lines)
    if kind < 0.72:
        return _bash(rng, project, tool_use, now)
    if kind < 0.82:
        return _grep(rng, project, tool_use)
    if kind < 0.87:
        return _write(rng, project, tool_use, path)
    if kind < 0.93:
        return _todo_write(rng, project, tool_use)
    if kind < 0.985:
        return _web_fetch(rng, project, tool_use)
    if kind < 0.9925:
        return _image(rng, project, tool_use, largest_result)
    return _mcp(rng, project, tool_use, largest_result)


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:6d}→{line}" for number, line in enumerate(lines, first))


def _read(rng: random.Random, tool_use: str, path: str, lines: list[str]) -> ToolCall:
    count = min(len(lines), rng.choice((40, 80, 150, 400, 2000)))
    start = rng.randrange(max(1, len(lines) - count + 1))
    part = lines[start : start + count]
    file = {
        "filePath": path,
        "content": "\n".join(part),
        "numLines": len(part),
        "startLine": start + 1,
        "totalLines": len(lines),
    }
    arguments = {"file_path": path, "offset": start, "limit": count}
    return ToolCall(tool_use, "Read", arguments, _numbered(part, start + 1), {"type": "text", "file": file})


def _edit(rng: random.Random, project: Project, tool_use: str, path: str, lines: list[str]) -> ToolCall:
    place = rng.randrange(len(lines))
    old = "\n".join(lines[place : place + rng.randint(1, 6)])
    new = "\n".join(project.code(rng, rng.randint(1, 8)))
    view = _numbered(lines[max(0, place - 4) : place + 8], max(1, place - 3))
    content = (
        f"The file {path} has been updated. "
        f"Here's the result of running `cat -n` on a snippet of the edited file:\n{view}"
    )
    patch = {
        "oldStart": place,
        "oldLines": 3,
        "newStart": place,
        "newLines": 5,
        "lines": ["-" + line for line in old.split("\n")] + ["+" + line for line in new.split("\n")],
    }
    structured = {
        "filePath": path,
        "oldString": old,
        "newString": new,
        "originalFile": "\n".join(lines) if rng.random() < 0.6 else None,
        "structuredPatch": [patch],
        "userModified": False,
        "replaceAll": False,
    }
    arguments = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
    return ToolCall(tool_use, "Edit", arguments, content, structured)


def _bash(rng: random.Random, project: Project, tool_use: str, now: float) -> ToolCall:
    def name() -> str:
        return rng.choice(project.identifiers)

    def words(count: int) -> str:
        return " ".join(project.vocabulary.sample(rng, count))

    command = rng.choice(SHELL_COMMANDS).format(a=name(), b=name())
    printed: list[str] = []
    for _ in range(min(4000, max(1, int(rng.lognormvariate(2.3, 1.1))))):
        kind = rng.random()
        if kind < 0.4:
            level = rng.choice(("INFO", "WARN", "DEBUG"))
            printed.append(
                f"{iso(now)} {level} {name()}.{name()} {words(6)} "
                f"dur={rng.randint(1, 900)}ms id={rng.getrandbits(48):012x}"
            )
        elif kind < 0.7:
            printed.append(
                f"tests/test_{name()}.py::test_{name()}_{name()} PASSED [{rng.randint(0, 100):3d}%]",
            )
        else:
            printed.append(f"src/{name()}/{name()}.py:{rng.randint(1, 900)}: \x1b[31m{words(7)}\x1b[0m")
    output = "\n".join(printed)
    content = output
    persisted = None
    if len(output) > PERSIST_ABOVE:
        persisted = output
        content = (
            f"<persisted-output>\nOutput too large ({len(output) // 1024}KB). Full output saved to: {tool_use}.txt\n\n"
            f"Preview (first 2KB):\n{output[:2000]}\n...\n</persisted-output>"
        )
        output = output[:PERSIST_ABOVE]
    arguments = {"command": command, "description": project.vocabulary.prose(rng, 6)}
    structured = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    return ToolCall(tool_use, "Bash", arguments, content, structured, persisted=persisted)


def _grep(rng: random.Random, project: Project, tool_use: str) -> ToolCall:
    hits = [f"{rng.choice(project.files)[0]}:{rng.randint(1, 400)}" for _ in range(rng.randint(1, 40))]
    content = "\n".join(hits)
    arguments = {"pattern": rng.choice(project.identifiers), "output_mode": "content"}
    structured: Json = {"mode": "content", "numFiles": len(hits), "filenames": [], "content": content}
    return ToolCall(tool_use, "Grep", arguments, content, structured)


def _write(rng: random.Random, project: Project, tool_use: str, path: str) -> ToolCall:
    body = "\n".join(project.code(rng, max(5, int(rng.lognormvariate(3.6, 0.9)))))
    structured: Json = {
        "type": "create",
        "filePath": path,
        "content": body,
        "structuredPatch": [],
        "originalFile": None,
    }
    arguments = {"file_path": path, "content": body}
    return ToolCall(tool_use, "Write", arguments, f"File created successfully at: {path}", structured)


def _todo_write(rng: random.Random, project: Project, tool_use: str) -> ToolCall:
    todos: list[Json] = [
        {
            "content": project.vocabulary.prose(rng, 8),
            "status": rng.choice(("pending", "in_progress", "completed")),
            "activeForm": project.vocabulary.prose(rng, 5),
        }
        for _ in range(rng.randint(2, 8))
    ]
    content = (
        "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress."
    )
    structured = {"oldTodos": todos[:-1], "newTodos": todos}
    return ToolCall(tool_use, "TodoWrite", {"todos": todos}, content, structured, todos=todos)


def _web_fetch(rng: random.Random, project: Project, tool_use: str) -> ToolCall:
    page = project.vocabulary.prose(rng, max(40, int(rng.lognormvariate(5.4, 0.8))))
    arguments = {
        "url": f"https://docs.example.com/{rng.choice(project.identifiers)}",
        "prompt": project.vocabulary.prose(rng, 10),
    }
    structured = {
        "bytes": len(page),
        "code": 200,
        "codeText": "OK",
        "result": page,
        "durationMs": rng.randint(300, 9000),
        "url": "https://docs.example.com/",
    }
    return ToolCall(tool_use, "WebFetch", arguments, page, structured)


def _image(rng: random.Random, project: Project, tool_use: str, largest_result: int) -> ToolCall:
    image = base64_noise(rng, min(1_400_000, largest_result // 3, int(rng.lognormvariate(11.2, 0.9))))
    block = {"type": "image", "source": {"type": "base64", "data": image, "media_type": "image/png"}}
    file = {"base64": image, "type": "image/png", "originalSize": len(image) * 3 // 4}
    arguments = {"file_path": f"{project.cwd}/shot.png"}
    return ToolCall(tool_use, "Read", arguments, [block], {"type": "image", "file": file})


def _mcp(rng: random.Random, project: Project, tool_use: str, largest_result: int) -> ToolCall:
    count = min(22_000, largest_result // 300, max(20, int(rng.lognormvariate(5.2, 1.5))))
    records = [
        {
            "id": rng.getrandbits(40),
            "title": " ".join(project.vocabulary.sample(rng, 6)),
            "state": rng.choice(("open", "closed")),
            "author": rng.choice(project.identifiers),
            "score": round(rng.random(), 4),
        }
        for _ in range(count)
    ]
    text = json.dumps(records, ensure_ascii=False)
    arguments = {"project": rng.choice(project.identifiers), "limit": count}
    answer = [{"type": "text", "text": text}]
    return ToolCall(tool_use, "mcp__tracker__list_issues", arguments, answer, answer)
