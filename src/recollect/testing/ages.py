"""Build a small complete home for each age of the format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recollect.testing.age_sessions import CWD, TODOS, continued_session, everyday_session, long_session, rare_session
from recollect.testing.dialect import Dialect
from recollect.testing.transcript import SubagentBuilder, TranscriptBuilder

from .home import HomeBuilder

ALL_AGES = (
    "0.2.126",
    "1.0.0",
    "1.0.30",
    "1.0.128",
    "2.0.26",
    "2.0.77",
    "2.1.9",
    "2.1.50",
    "2.1.80",
    "2.1.100",
    "2.1.250",
    "2.1.325",
    "2.1.326",
)
"""The versions of Claude Code that stand for the ages, oldest first."""


@dataclass(frozen=True)
class SubagentDescription:
    """A subagent; `path` is None if its rows are in the main file."""

    subagent_id: str
    tool_use_id: str
    subagent_type: str
    description: str
    depth: int
    rows: tuple[str, ...]
    path: Path | None
    parent_subagent_id: str | None


@dataclass(frozen=True)
class SessionDescription:
    """What a reader must find: `thread` is the rows that a resume sends, `lines` the number of lines of the main file."""

    session_id: str
    path: Path
    cwd: str
    git_branch: str
    thread: tuple[str, ...]
    lines: int
    subagents: tuple[SubagentDescription, ...]
    abandoned: tuple[str, ...]
    compactions: int


@dataclass(frozen=True)
class AgeDescription:
    """A built home: `everyday` and `long` exist in every age, `continued` if Claude Code of the age copies rows.

    `rare` holds what only 2.1.325 and later write, including a state line and an attachment of unknown kinds.
    """

    version: str
    root: Path
    everyday: SessionDescription
    long: SessionDescription
    continued: SessionDescription | None
    rare: SessionDescription | None
    running_pid: int | None

    @property
    def sessions(self) -> tuple[SessionDescription, ...]:
        every = (self.everyday, self.long, self.continued, self.rare)
        return tuple(session for session in every if session is not None)


def build_age(root: str | Path, version: str) -> AgeDescription:
    """Write the home of one age under `root` and describe it. Any version works; `ALL_AGES` are the landmarks."""
    home = HomeBuilder(root, version=version, start="2026-03-02T08:00:00Z")
    everyday = everyday_session(home)
    long, abandoned = long_session(home)
    continued = continued_session(home, everyday)
    rare = rare_session(home) if Dialect(version).since("2.1.325") else None
    running_pid = _side_files(home, everyday)
    home.write()
    return AgeDescription(
        version,
        home.root,
        _describe(home, everyday),
        _describe(home, long, abandoned),
        None if continued is None else _describe(home, continued),
        None if rare is None else _describe(home, rare),
        running_pid,
    )


def _side_files(home: HomeBuilder, everyday: TranscriptBuilder) -> int | None:
    dialect = Dialect(home.version)
    session = everyday.session_id
    projects = {CWD: home.project_config(session, mcp_servers={"kettle": {"command": "kettle", "args": ["--boil"]}})}
    home.global_config(projects, name=dialect.global_config_name)
    home.credentials()
    home.settings()
    if dialect.todo_naming == "session":
        home.todos(session, TODOS)
    elif dialect.todo_naming == "session-agent":
        home.todos(session, TODOS, subagent=session)
        subagent = everyday.subagents[0].subagent_id
        if dialect.subagent_place != "inside":
            home.todos(session, (), subagent=subagent)
    if dialect.until("2.0.26"):
        home.statsig()
    if dialect.since("1.0.60") and not dialect.since("2.1.50"):
        home.config_backup(".claude.json.backup")
    if dialect.since("1.0.128"):
        home.history("The tea is too weak.", CWD, session, when=everyday.start)
        home.folder("shell-snapshots")
    if dialect.since("2.0.26"):
        home.folder(f"session-env/{session}")
        if dialect.until("2.1.50"):
            home.debug_log(session)
    if dialect.since("2.0.77") and dialect.until("2.1.20"):
        home.sessions_index(CWD, [home.index_entry(everyday)])
    if dialect.since("2.1.50"):
        home.config_backup()
        home.folder("plans")
    if not dialect.since("2.1.100"):
        return None
    home.memory(CWD, "Tea is steeped for three minutes.\n")
    home.folder("sessions")
    return _newest_side_files(home, everyday) if dialect.since("2.1.325") else None


def _newest_side_files(home: HomeBuilder, everyday: TranscriptBuilder) -> int:
    session = everyday.session_id
    home.task(session, 1, "Write to the menu's author", "in_progress", owner="main", blocks=["2"])
    home.task(session, 2, "Print the menu", blockedBy=["1"])
    home.plan("patient-reading-otter", "# Plan\n\n1. Warm the pot.\n")
    home.custom_title_file(CWD, session, "Stronger tea")
    home.stats_cache()
    home.paste("a long recipe")
    home.ide_lock(40_123, CWD)
    home.file(".last-cleanup", "2026-03-02T08:00:00.000Z")
    pid = 4_000_001  # above the usual largest process id, so that no such process is running
    home.running(pid, session, CWD, name="Stronger tea")
    home.session_key(pid)
    return pid


def _describe(home: HomeBuilder, builder: TranscriptBuilder, abandoned: tuple[str, ...] = ()) -> SessionDescription:
    boundaries = [row for row in builder.entries if row.get("subtype") == "compact_boundary"]
    return SessionDescription(
        builder.session_id,
        home.session_path(builder),
        builder.cwd,
        builder.git_branch,
        tuple(builder.thread),
        len(builder.lines),
        tuple(_describe_subagent(home, subagent) for subagent in builder.all_subagents()),
        abandoned,
        len(boundaries),
    )


def _describe_subagent(home: HomeBuilder, subagent: SubagentBuilder) -> SubagentDescription:
    starter = subagent.parent_builder
    return SubagentDescription(
        subagent.subagent_id or "",
        subagent.tool_use_id,
        subagent.subagent_type,
        subagent.description,
        subagent.depth,
        tuple(subagent.row_uuids),
        home.subagent_path(subagent),
        starter.subagent_id if isinstance(starter, SubagentBuilder) else None,
    )
