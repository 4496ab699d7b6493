"""A home with a project that has left a trace in every place the client knows, and a neighbour that must not be touched."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.edit.move import MoveResult, plan_move
from recollect.format.file_history import hash_of_path
from recollect.format.path_text import project_key
from recollect.journal.changes import Journal
from recollect.store.home import Home
from recollect.testing import HomeBuilder, ToolCall, TranscriptBuilder, uuid_from
from recollect.testing.encoding import encode_line
from recollect.testing.toolcalls import bash, edit, read, todo

OLD = "/w/old/app"
NEW = "/w/new place/äpp"
NEIGHBOUR = "/w/old/apple"
"""Its path begins with the old one, and it is another project."""

Tree = dict[str, tuple[bytes, int] | str]


class Bare:
    """A small home of one's own."""

    def __init__(self, builder: HomeBuilder) -> None:
        self.home = Home(builder.write())
        self.journal = Journal(self.home.root.parent / "data")


@dataclass
class Scene:
    home: Home
    builder: HomeBuilder
    journal: Journal
    main: TranscriptBuilder
    plain: TranscriptBuilder
    below: TranscriptBuilder
    worktree: TranscriptBuilder
    early: TranscriptBuilder
    neighbour: TranscriptBuilder

    def folder(self, path: str) -> Path:
        return self.home.projects / project_key(path)

    def path(self, session: TranscriptBuilder, project: str) -> Path:
        return self.folder(project) / f"{session.session_id}.jsonl"


def carry_out(scene: Scene | Bare, old: str = OLD, new: str = NEW, **options: Any) -> MoveResult:
    """Move, at once."""
    change, result = plan_move(scene.journal, scene.home, old, new, **options)
    with change:
        change.commit()
    return result


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def tree(*roots: Path) -> Tree:
    """Every file with its bytes and time, every link with its target, every empty folder."""
    found: Tree = {}
    for root in roots:
        for folder, folders, files in os.walk(root):
            for name in [*files, *(item for item in folders if os.path.islink(os.path.join(folder, item)))]:
                path = Path(folder, name)
                if path.is_symlink():
                    found[str(path)] = os.readlink(path)
                else:
                    found[str(path)] = (path.read_bytes(), path.stat().st_mtime_ns)
            if not files and not folders:
                found[folder] = "empty folder"
    return found


def persisted(path: str, *, id: str) -> ToolCall:
    """A call whose output was too long for the transcript."""
    text = f"<persisted-output>\nOutput too large (9KB). Full output saved to: {path}\n\nPreview (first 2KB):\n1\n2\n"
    structured = {"stdout": "1\n2\n", "stderr": "", "persistedOutputPath": path, "persistedOutputSize": 9000}
    return ToolCall("Bash", {"command": "seq 9999"}, id, text, structured)


def everything(root: Path, data: Path) -> Scene:
    """Builds the home at `root`; the journal keeps its data in `data`."""
    home = HomeBuilder(root)
    main = home.session(OLD, session_id=uuid_from("main"), modified="2026-03-02T12:00:00Z")
    output = home.tool_output(main, "b1k9s8acx", "1\n2\n3\n")
    prompt = main.user(f'look at {OLD}/a.py and say "{output}"')
    main.file_history_snapshot(prompt, {})
    answer = main.call(edit(f"{OLD}/a.py", "x", "y", original="x"))
    main.file_history_delta(answer, prompt, f"{OLD}/a.py", 1)
    main.call(persisted(output, id="toolu_long"))
    main.call(bash(f"ls {OLD}", f"{OLD}/a.py\n"))
    subagent = main.subagent("look into it")
    subagent.call(read(f"{OLD}/b.py", "b"))
    subagent.call(persisted(home.tool_output(main, "b2", "long\n"), id="toolu_subagent"))
    subagent.finish("done")
    second = main.user("go on")
    main.file_history_snapshot(second, {f"{OLD}/a.py": 2, f"{NEIGHBOUR}/c.py": 1})
    main.state("content-replacement", replacements=[{"toolUseId": "t", "replacement": _replacement(output)}])
    main.state("api-request-blob", hash="0" * 64, message={"content": _replacement(output)})
    main.assistant("ready")
    main.title("Old app")

    plain = home.session(OLD, session_id=uuid_from("plain"), modified="2026-03-02T11:00:00Z")
    plain.user("hello"), plain.assistant("hi")
    below = home.session(f"{OLD}/sub dir", session_id=uuid_from("below"), modified="2026-03-01T11:00:00Z")
    below.user("below"), below.assistant("yes")
    tree_path = f"{OLD}/.claude/worktrees/wt"
    worktree = home.session(tree_path, session_id=uuid_from("worktree"), modified="2026-03-01T10:00:00Z")
    worktree.user("in a worktree"), worktree.assistant("yes")
    state = {"originalCwd": OLD, "worktreePath": tree_path, "worktreeName": "wt", "originalHeadCommit": "0" * 40}
    worktree.state("worktree-state", worktreeSession=state)
    early = home.session(OLD, session_id=uuid_from("early"), version="2.0.77", modified="2026-01-01T10:00:00Z")
    early.user("early"), early.subagent("beside").finish("done"), early.assistant("yes")
    neighbour = home.session(NEIGHBOUR, session_id=uuid_from("neighbour"), modified="2026-03-02T10:00:00Z")
    neighbour.user(f"not {OLD}"), neighbour.assistant("no")

    _side_files(home, main, early, neighbour)
    home.write()
    return Scene(Home(root), home, Journal(data), main, plain, below, worktree, early, neighbour)


def _replacement(output: str) -> str:
    return f"<persisted-output>\nOutput too large (1KB). Full output saved to: {output}\n\nPreview"


def _side_files(
    home: HomeBuilder, main: TranscriptBuilder, early: TranscriptBuilder, neighbour: TranscriptBuilder
) -> None:
    sid = main.session_id
    home.backup(sid, f"{OLD}/a.py", 1, "x")
    home.backup(sid, f"{OLD}/a.py", 2, "y")
    home.backup(sid, f"{NEIGHBOUR}/c.py", 1, "c")
    home.backup(neighbour.session_id, f"{NEIGHBOUR}/c.py", 1, "c")
    home.todos(sid, [todo("one")], subagent=sid)
    home.todos(sid, [todo("two")], subagent="a1b2c3d")
    home.todos(early.session_id, [todo("old")])
    home.todos(neighbour.session_id, [todo("other")], subagent=neighbour.session_id)
    home.task(sid, 1, "a task")
    home.plan("a-plan", f"# Plan for {OLD}\n")
    home.memory(OLD, f"# Memory of {OLD}\n")
    home.custom_title_file(OLD, sid, "Old app")
    home.session_env(sid)
    home.debug_log(sid)
    home.file(f"image-cache/{sid}/1.png", b"png")
    home.file(f"usage-data/session-meta/{sid}.json", b"{}")
    home.sessions_index(OLD, [home.index_entry(early), home.index_entry(main)])
    home.history(f"look at {OLD}", OLD, sid, pasted={1: "some text"})
    _long_paste(home, OLD, sid, "aaaa1111", "only here\n")
    _long_paste(home, OLD, sid, "bbbb2222", "shared\n")
    _long_paste(home, NEIGHBOUR, neighbour.session_id, "bbbb2222", "shared\n")
    home.history("below", f"{OLD}/sub dir")
    home.history("other", NEIGHBOUR, neighbour.session_id)
    home.file("history.jsonl", home.files["history.jsonl"].content + b'{"project": "/w/old/app", broken\n')
    home.global_config(
        {
            OLD: home.project_config(sid, allowedTools=["Bash(ls:*)"], unknownField={"deep": [1, 2]}),
            f"{OLD}/sub dir": home.project_config(),
            NEIGHBOUR: home.project_config(neighbour.session_id),
        },
        githubRepoPaths={"w/app": [OLD, "/elsewhere"]},
    )
    home.settings({"permissions": {"additionalDirectories": [f"{OLD}/data"]}})
    plugins: dict[str, Any] = {"x@m": [{"scope": "project", "projectPath": OLD, "installPath": "/p"}]}
    home.json("plugins/installed_plugins.json", {"version": 2, "plugins": plugins})
    home.file(f"projects/{_connector(OLD)}/connector-downloads/a.pdf", b"pdf")
    home.credentials()
    home.session_key(4242)
    home.statsig()
    home.shell_snapshot()


def _long_paste(home: HomeBuilder, project: str, session: str, name: str, text: str) -> None:
    paste = {"id": 1, "type": "text", "contentHash": name}
    entry = {"display": "[Pasted text #1]", "pastedContents": {"1": paste}, "timestamp": 1, "project": project}
    before = home.files["history.jsonl"].content
    home.file("history.jsonl", before + encode_line({**entry, "sessionId": session}) + b"\n")
    home.file(f"paste-cache/{name}.txt", text)


def _connector(path: str) -> str:
    return f"{project_key(path)}.{hash_of_path(path)}"
