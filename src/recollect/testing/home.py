"""Build a whole Claude home: project folders with transcripts and subagents, and everything beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ..format.path_text import project_key
from .configfiles import ConfigFiles
from .encoding import encode_file, encode_line
from .identifiers import DEFAULT_START, hex_id, milliseconds, parse_time, timestamp, uuid_from
from .statelines import backup_name
from .transcript import SubagentBuilder, TranscriptBuilder

# Build files that belong to sessions but lie beside their transcripts.


class SideFiles(ConfigFiles):
    """Todos, tasks, plans, prompts, backups, logs and caches."""

    def todos(self, session_id: str, todos: Sequence[Mapping[str, str]], *, subagent: str | None = None) -> str:
        """Stage a to-do list: `<session>.json` (up to 1.0.0), or with `subagent` `<session>-agent-<subagent>.json`.

        The session's own list has the session's id as `subagent`, a subagent's list the id of that subagent.
        """
        name = session_id if subagent is None else f"{session_id}-agent-{subagent}"
        return self.json(f"todos/{name}.json", [dict(todo) for todo in todos])

    def task(self, session_id: str, number: int, subject: str, status: str = "pending", **fields: Any) -> str:
        """Stage one task of a session's list, with the lock and the high-water mark beside it."""
        value = {
            "id": str(number),
            "subject": subject,
            "description": fields.pop("description", ""),
            "activeForm": fields.pop("activeForm", subject),
            "status": status,
            "blocks": fields.pop("blocks", []),
            "blockedBy": fields.pop("blockedBy", []),
        }
        folder = f"tasks/{session_id}"
        self.file(f"{folder}/.lock", b"")
        mark = self.files.get(f"{folder}/.highwatermark")
        highest = max(number, int(mark.content) if mark is not None else 0)
        self.file(f"{folder}/.highwatermark", str(highest))
        return self.json(f"{folder}/{number}.json", value | fields)

    def plan(self, slug: str, text: str) -> str:
        return self.file(f"plans/{slug}.md", text)

    def history(
        self,
        display: str,
        project: str,
        session_id: str | None = None,
        *,
        when: str | datetime | None = None,
        pasted: Mapping[int, str] | None = None,
    ) -> str:
        """Stage one typed prompt or slash command; `pasted` maps the number of a paste to its text."""
        moment = self.start if when is None else parse_time(when)
        entry: dict[str, Any] = {
            "display": display,
            "pastedContents": {
                str(number): {"id": number, "type": "text", "content": text} for number, text in (pasted or {}).items()
            },
            "timestamp": milliseconds(moment),
            "project": project,
        }
        if session_id is not None:
            entry["sessionId"] = session_id
        before = self.files.get("history.jsonl")
        return self.file("history.jsonl", (before.content if before is not None else b"") + encode_line(entry) + b"\n")

    def backup(self, session_id: str, path: str, version: int, content: str | bytes) -> str:
        """Stage a file as it was before an edit, under the name that the transcript's file-history lines give."""
        return self.file(f"file-history/{session_id}/{backup_name(path, version)}", content)

    def running(
        self, pid: int, session_id: str, cwd: str, *, version: str = "2.1.326", status: str = "idle", **fields: Any
    ) -> str:
        """Stage the entry that Claude Code keeps while it runs."""
        started = milliseconds(self.start)
        value = {
            "pid": pid,
            "sessionId": session_id,
            "cwd": cwd,
            "startedAt": started,
            "version": version,
            "kind": "interactive",
            "entrypoint": "cli",
            "status": status,
            "updatedAt": started,
            "statusUpdatedAt": started,
        }
        return self.file(f"sessions/{pid}.json", encode_line(value | fields))

    def session_env(
        self, session_id: str, name: str = "sessionstart-hook-0.sh", text: str = "export MOOD=calm\n"
    ) -> str:
        return self.file(f"session-env/{session_id}/{name}", text)

    def shell_snapshot(self, shell: str = "bash", text: str = "# Snapshot file\nalias ll='ls -l'\n") -> str:
        name = f"snapshot-{shell}-{milliseconds(self.start)}-{hex_id(6, 'shell')}.sh"
        return self.file(f"shell-snapshots/{name}", text)

    def debug_log(self, session_id: str, text: str = "[DEBUG] Loading settings\n", *, latest: bool = True) -> str:
        path = self.file(f"debug/{session_id}.txt", text)
        if latest:
            self.link("debug/latest", f"{session_id}.txt")
        return path

    def paste(self, text: str) -> str:
        return self.file(f"paste-cache/{hex_id(16, 'paste', text)}.txt", text)

    def memory(self, cwd: str, text: str, name: str = "MEMORY.md") -> str:
        return self.file(f"projects/{project_key(cwd)}/memory/{name}", text)

    def tool_result_file(self, cwd: str, session_id: str, name: str, text: str) -> str:
        """Stage output too long for the transcript; returns the absolute path for `persistedOutputPath`."""
        return self.file(f"projects/{project_key(cwd)}/{session_id}/tool-results/{name}.txt", text)

    def custom_title_file(self, cwd: str, session_id: str, title: str) -> str:
        return self.json(f"projects/{project_key(cwd)}/{session_id}/custom-title.json", {"customTitle": title})

    def sessions_index(self, cwd: str, entries: Sequence[Mapping[str, Any]]) -> str:
        """Stage the list that 2.0.77 to 2.1.20 kept. It was often out of date, so `entries` may be wrong."""
        value = {"version": 1, "entries": [dict(entry) for entry in entries]}
        return self.json(f"projects/{project_key(cwd)}/sessions-index.json", value)

    def stats_cache(self, days: Mapping[str, int] | None = None, model: str = "claude-opus-5") -> str:
        """Stage the counts per day that Claude Code shows in /stats; `days` maps a date to its messages."""
        counted = {self.start.strftime("%Y-%m-%d"): 12} if days is None else days
        value = {
            "version": 1,
            "lastComputedDate": max(counted),
            "dailyActivity": [
                {"date": day, "messageCount": count, "sessionCount": 1, "toolCallCount": count // 3}
                for day, count in counted.items()
            ],
            "dailyModelTokens": [{"date": day, "tokensByModel": {model: 90 * n}} for day, n in counted.items()],
            "modelUsage": {model: {"inputTokens": 100, "outputTokens": 900, "costUSD": 0}},
            "totalSessions": len(counted),
            "totalMessages": sum(counted.values()),
            "firstSessionDate": min(counted),
            "hourCounts": {"9": 2, "14": 1},
        }
        return self.file("stats-cache.json", encode_file(value))


@dataclass
class _PlacedSession:
    builder: TranscriptBuilder
    folder: str
    file_name: str
    modified: datetime | None
    content: bytes | None = None


class HomeBuilder(SideFiles):
    """A Claude home under `root`. Nothing is written before `write`; the same calls give the same bytes and times."""

    def __init__(self, root: str | Path, *, version: str = "2.1.326", start: str | datetime = DEFAULT_START) -> None:
        super().__init__(root, start)
        self.version = version
        self._sessions: dict[str, _PlacedSession] = {}

    def session(
        self,
        cwd: str = "/home/dev/project",
        *,
        session_id: str | None = None,
        version: str | None = None,
        git_branch: str = "main",
        start: str | datetime | None = None,
        modified: str | datetime | None = None,
        folder: str | None = None,
        file_name: str | None = None,
        **options: Any,
    ) -> TranscriptBuilder:
        """Add a session. Its folder follows from `cwd` unless given (so that two projects can share one).

        `modified` is the file's time, else that of its last row. Further `options` go to `TranscriptBuilder`.
        """
        session_id = session_id or uuid_from("session", len(self._sessions), cwd)
        builder = TranscriptBuilder(
            session_id, cwd, version or self.version, git_branch, self.start if start is None else start, **options
        )
        self._sessions[f"{folder or project_key(cwd)}/{file_name or session_id}"] = _PlacedSession(
            builder,
            folder or project_key(cwd),
            file_name or f"{session_id}.jsonl",
            None if modified is None else parse_time(modified),
        )
        return builder

    @property
    def sessions(self) -> list[TranscriptBuilder]:
        return [placed.builder for placed in self._sessions.values()]

    def session_path(self, builder: TranscriptBuilder) -> Path:
        """Return the path that the transcript of `builder` will have."""
        placed = self._placed(builder)
        return self.root / "projects" / placed.folder / placed.file_name

    def subagent_path(self, subagent: SubagentBuilder) -> Path | None:
        """Return the path that a subagent's transcript will have; None if its lines are in the main file."""
        main = subagent.parent_builder
        while isinstance(main, SubagentBuilder):
            main = main.parent_builder
        relative = self._subagent_file(self._placed(main), subagent)
        return None if relative is None else self.root / relative

    def damage(self, builder: TranscriptBuilder, content: bytes) -> None:
        """Write `content` in place of what the builder made."""
        self._placed(builder).content = content

    def tool_output(self, builder: TranscriptBuilder, name: str, text: str) -> str:
        """Stage a long output of one of the session's calls; returns the absolute path for `persistedOutputPath`."""
        placed = self._placed(builder)
        return self.file(f"projects/{placed.folder}/{builder.session_id}/tool-results/{name}.txt", text)

    def index_entry(self, builder: TranscriptBuilder) -> dict[str, Any]:
        """Return the session's entry for `sessions_index`."""
        prompts = [row for row in builder.entries if row["type"] == "user" and "toolUseResult" not in row]
        return {
            "sessionId": builder.session_id,
            "fullPath": str(self.session_path(builder)),
            "fileMtime": milliseconds(builder.now),
            "firstPrompt": prompts[0]["message"]["content"] if prompts else "No prompt",
            "messageCount": len(builder.thread),
            "created": timestamp(builder.start),
            "modified": timestamp(builder.now),
            "gitBranch": builder.git_branch,
            "projectPath": builder.cwd,
            "isSidechain": False,
        }

    def latest(self) -> datetime:
        return max([super().latest(), *(builder.now for builder in self.sessions)])

    def write(self) -> Path:
        for placed in self._sessions.values():
            self._stage_session(placed)
        return super().write()

    def _placed(self, builder: TranscriptBuilder) -> _PlacedSession:
        return next(placed for placed in self._sessions.values() if placed.builder is builder)

    def _stage_session(self, placed: _PlacedSession) -> None:
        builder = placed.builder
        content = builder.to_bytes() if placed.content is None else placed.content
        when = placed.modified or builder.now
        self.file(f"projects/{placed.folder}/{placed.file_name}", content, modified=when)
        for subagent in builder.all_subagents():
            path = self._subagent_file(placed, subagent)
            if path is None:
                continue
            self.file(path, subagent.to_bytes(), modified=subagent.now)
            if subagent.dialect.subagent_meta:
                meta = encode_file(subagent.meta())
                self.file(path.removesuffix(".jsonl") + ".meta.json", meta, modified=subagent.now)

    @staticmethod
    def _subagent_file(placed: _PlacedSession, subagent: SubagentBuilder) -> str | None:
        project = f"projects/{placed.folder}"
        name = f"agent-{subagent.subagent_id}.jsonl"
        if subagent.dialect.subagent_place == "inside":
            return None
        if subagent.dialect.subagent_place == "beside":
            return f"{project}/{name}"
        workflow = f"workflows/{subagent.workflow}/" if subagent.workflow is not None else ""
        return f"{project}/{placed.builder.session_id}/subagents/{workflow}{name}"
