"""Build files that belong to sessions but lie beside their transcripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from recollect.format.project_key import project_key
from recollect.testing.configfiles import ConfigFiles
from recollect.testing.encoding import encode_file, encode_line
from recollect.testing.identifiers import hex_id, milliseconds, parse_time
from recollect.testing.statelines import backup_name


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
