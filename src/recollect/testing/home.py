"""Build a whole Claude home: project folders with transcripts and subagents, and everything beside them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect.format.project_key import project_key
from recollect.testing.encoding import encode_file
from recollect.testing.identifiers import DEFAULT_START, milliseconds, parse_time, timestamp, uuid_from
from recollect.testing.sidefiles import SideFiles
from recollect.testing.transcript import SubagentBuilder, TranscriptBuilder


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
