"""Define the tables for SQL queries, column by column. `docs/reference/sql.md` is generated from this module.

They are views over a few tables in the schema `raw`, which `refresh` fills from the catalogue. What many rows share
(session, project, home) is stored once in `raw.files` and joined by the id of the file.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final

from ..catalogue.schema import FLAGS


@dataclass(frozen=True, slots=True)
class SqlColumn:
    name: str
    type: str
    expression: str
    doc: str


@dataclass(frozen=True, slots=True)
class SqlTable:
    """A documented table: a view over `source`."""

    name: str
    doc: str
    source: str
    columns: tuple[SqlColumn, ...]

    def statement(self) -> str:
        body = ", ".join(f"({column.expression})::{column.type} AS {column.name}" for column in self.columns)
        return f"CREATE VIEW {self.name} AS SELECT {body} FROM {self.source}"


def _columns(text: str) -> tuple[SqlColumn, ...]:
    """Parse columns from lines of `name | type | expression | meaning`; an empty expression means the column's name."""
    rows = [[part.strip() for part in line.split(" | ", 3)] for line in text.strip().splitlines()]
    return tuple(SqlColumn(name, kind, expression or name, doc) for name, kind, expression, doc in rows)


_WITH_FILE: Final = "LEFT JOIN raw.files f ON f.file_id = r.file_id"


def _flag(name: str) -> str:
    return f"r.flags & {FLAGS[name]} <> 0"


_KIND: Final = (
    f"CASE WHEN {_flag('compact_summary')} THEN 'summary' WHEN r.type = 'assistant' THEN 'answer' "
    f"WHEN {_flag('tool_result')} THEN 'tool_result' WHEN {_flag('prompt')} THEN 'prompt' ELSE 'other' END"
)
_PARENT: Final = "coalesce(r.parent, (SELECT p.uuid FROM raw.entries p WHERE p.entry_id = r.parent_id))"

TABLES: Final[tuple[SqlTable, ...]] = (
    SqlTable(
        "sessions", "One row per session: its main transcript.",
        "raw.sessions r LEFT JOIN raw.files f ON f.file_id = r.file_id "
        "LEFT JOIN raw.session_costs c ON c.home = f.home AND c.session_id = r.session_id",
        _columns("""
            session_id | VARCHAR | r.session_id | id of the session
            project | VARCHAR | f.project | working directory
            repository | VARCHAR | coalesce(f.repository, f.project) | of a git worktree its repository, else the project
            title | VARCHAR | r.title | title given by the user, else by Claude Code, else the first prompt
            first_prompt | VARCHAR | r.first_prompt | the first thing that was typed (at most 2,000 characters)
            last_prompt | VARCHAR | r.last_prompt | the last one, as Claude Code noted it
            created | TIMESTAMPTZ | r.created | time of the first row
            modified | TIMESTAMPTZ | r.modified | time of the last row
            git_branch | VARCHAR | r.git_branch | git branch of the last row
            model | VARCHAR | r.model | model of the last response
            version | VARCHAR | r.version | Claude Code that wrote the last row
            tag | VARCHAR | r.tag | tag
            pr_url | VARCHAR | r.pr_url | pull request
            lines | INTEGER | r.lines | complete lines of the main transcript
            messages | INTEGER | r.messages | user and assistant rows of the main transcript
            prompts | INTEGER | r.prompts | rows in which a person said something
            subagents | INTEGER | r.subagents | subagents
            bytes | BIGINT | r.bytes | size of those lines
            damaged | INTEGER | r.damaged | places with damage in it
            reachable | DOUBLE | r.reachable | share of the messages that Claude Code still reaches on resume, 0 to 1
            home | VARCHAR | f.home | the Claude home
            path | VARCHAR | f.path | path of the main transcript below the home
            cost_micro_usd | BIGINT | c.cost | cost of its responses, subagents included: micro-dollars, exact
        """),
    ),
    SqlTable(
        "messages",
        "One row per user or assistant row of a transcript, subagents' and abandoned branches included. An answer is "
        "several rows with one `message_id`; tokens are in `responses`.",
        f"raw.entries r {_WITH_FILE} WHERE r.type IN ('user', 'assistant')",
        _columns(f"""
            session_id | VARCHAR | f.session_id | the session
            uuid | VARCHAR | r.uuid | id of the row
            entry_id | BIGINT | r.entry_id | its number in `entries`
            parent_id | BIGINT | r.parent_id | number of the entry before it, which it answers; NULL where that is not in the file
            time | TIMESTAMPTZ | r.time | when
            role | VARCHAR | r.type | user or assistant, as the API sees it
            kind | VARCHAR | {_KIND} | prompt (of a person), answer (of the model), tool_result, summary (compaction) or other
            status | VARCHAR | r.status | live, abandoned, subagent, precompact, ...: what resuming does with it
            subagent_id | VARCHAR | coalesce(r.subagent_id, f.subagent_id) | the subagent; NULL in the main conversation
            model | VARCHAR | r.model | model of an answer
            message_id | VARCHAR | r.message_id | id of the API's message: `responses` has its tokens
            has_code | BOOLEAN | {_flag("code")} | it has a block of code
            has_image | BOOLEAN | {_flag("image")} | it has a picture
            has_thinking | BOOLEAN | {_flag("thinking")} | it has thinking
            has_error | BOOLEAN | {_flag("error")} | it tells of an error
            git_branch | VARCHAR | r.git_branch | git branch
            cwd | VARCHAR | r.cwd | working directory of the row
            project | VARCHAR | f.project | project of the session
            version | VARCHAR | r.version | version of Claude Code
            bytes | BIGINT | r.length | size of the row
            line | INTEGER | r.line | its line in the file
            path | VARCHAR | f.path | the file, below the home
        """),
    ),
    SqlTable(
        "responses",
        "One row per answer of the API, counted once however many rows, files and copies it stands in. Each number is the "
        "largest that was written for it; session, time and place are those of its first appearance.",
        "raw.calls r LEFT JOIN raw.shared s ON s.file_id = r.file_id AND s.line = r.line AND s.part = r.part "
        "LEFT JOIN raw.files f ON f.file_id = r.file_id WHERE s.counted IS NULL OR s.counted",
        _columns("""
            session_id | VARCHAR | coalesce(s.session_id, r.session_id, f.session_id) | the session that asked for it
            message_id | VARCHAR | r.message_id | id of the API's message; of an advisor model with `#advisor` behind it
            request_id | VARCHAR | r.request_id | id of the API's request; empty where Claude Code wrote none
            time | TIMESTAMPTZ | r.time | when
            model | VARCHAR | r.model | model
            input_tokens | BIGINT | coalesce(s.input, r.input) | input tokens that the cache had no part in
            output_tokens | BIGINT | coalesce(s.output, r.output) | output tokens
            cache_write_5m_tokens | BIGINT | coalesce(s.cache_write_5m, r.cache_write_5m) | written to the cache for five minutes
            cache_write_1h_tokens | BIGINT | coalesce(s.cache_write_1h, r.cache_write_1h) | written to the cache for an hour
            cache_read_tokens | BIGINT | coalesce(s.cache_read, r.cache_read) | read from the cache
            thinking_tokens | BIGINT | coalesce(s.thinking, r.thinking) | thinking, where it is told; part of the output tokens
            web_searches | INTEGER | coalesce(s.web_searches, r.web_searches) | searches that the server made
            lower_bound | BOOLEAN | coalesce(s.flags, r.flags) & 1 <> 0 | only a placeholder: the output is at least this
            stop_reason | VARCHAR | r.stop_reason | why it ended
            service_tier | VARCHAR | r.service_tier | service tier
            speed | VARCHAR | r.speed | speed, where it was chosen
            geo | VARCHAR | r.geo | place of the inference, where it is told
            subagent_id | VARCHAR | coalesce(r.subagent_id, f.subagent_id) | the subagent; NULL in the main conversation
            git_branch | VARCHAR | r.git_branch | git branch
            cwd | VARCHAR | r.cwd | working directory
            project | VARCHAR | f.project | project of the session
            copies | INTEGER | coalesce(s.copies, 1) | in how many files it stands
            line | INTEGER | r.line | first line of it in the file
            path | VARCHAR | f.path | the file, below the home
            cost_micro_usd | BIGINT | coalesce(s.cost, r.cost) | micro-dollars, exact; NULL where its model has no price
        """),
    ),
    SqlTable(
        "tool_calls",
        "One row per tool call and file, with its result. A forked session holds copies of calls: count(DISTINCT tool_use_id) "
        "counts each once.",
        f"raw.tool_calls r {_WITH_FILE}",
        _columns("""
            session_id | VARCHAR | f.session_id | the session
            tool_use_id | VARCHAR | r.tool_use_id | id of the call
            name | VARCHAR | r.name | the tool; NULL for a result without a call
            target | VARCHAR | r.target | file, command, pattern or address it was about (at most 200 characters)
            started | TIMESTAMPTZ | r.started | time of the call
            ended | TIMESTAMPTZ | r.ended | time of the result; NULL where none came
            seconds | DOUBLE | epoch_us(r.ended - r.started) / 1e6 | between the two
            is_error | BOOLEAN | r.is_error | the result is an error; NULL where none came
            input_bytes | BIGINT | r.input_bytes | size of the arguments
            output_bytes | BIGINT | r.output_bytes | size of the result's words
            subagent_id | VARCHAR | coalesce(r.subagent_id, f.subagent_id) | the subagent that made it; NULL in the main thread
            started_subagent | VARCHAR | r.started_subagent | the subagent that it started
            project | VARCHAR | f.project | project of the session
            line | INTEGER | r.line | line of the call in the file
            path | VARCHAR | f.path | the file, below the home
        """),
    ),
    SqlTable(
        "subagents", "One row per subagent and file in which it has rows.",
        f"raw.subagents r {_WITH_FILE}",
        _columns("""
            session_id | VARCHAR | coalesce(r.session_id, f.session_id) | the session
            subagent_id | VARCHAR | r.subagent_id | the subagent; empty where the rows name none
            kind | VARCHAR | r.kind | what kind of subagent
            description | VARCHAR | r.description | what it is for, in a few words
            prompt | VARCHAR | r.prompt | what it was asked (at most 200 characters)
            started | TIMESTAMPTZ | r.started | time of its first row
            ended | TIMESTAMPTZ | r.ended | time of its last row
            messages | INTEGER | r.messages | user and assistant rows
            entries | INTEGER | r.entries | all rows
            model | VARCHAR | r.model | model it was given
            tool_use_id | VARCHAR | r.tool_use_id | the tool call that started it
            parent_subagent | VARCHAR | r.parent_subagent | the subagent that made that call
            workflow | VARCHAR | f.workflow | the workflow run it belongs to
            project | VARCHAR | f.project | project of the session
            path | VARCHAR | f.path | the file, below the home
        """),
    ),
    SqlTable(
        "entries", "Every object of every transcript, whatever its type, with the place of its bytes.",
        f"raw.entries r {_WITH_FILE}",
        _columns(f"""
            entry_id | BIGINT | r.entry_id | number in the index, ascending within a file
            session_id | VARCHAR | f.session_id | the session
            type | VARCHAR | r.type | type of the entry
            subtype | VARCHAR | r.subtype | subtype of system rows, own type of attachments and progress
            role | VARCHAR | r.role | who speaks: user, assistant, tool, system, title; NULL for what nobody says
            uuid | VARCHAR | r.uuid | id of the row
            parent_uuid | VARCHAR | {_PARENT} | id of the row before it
            parent_id | BIGINT | r.parent_id | its number; NULL where it is not in the file
            time | TIMESTAMPTZ | r.time | when
            status | VARCHAR | r.status | what resuming does with the row (see the page on statuses)
            subagent_id | VARCHAR | coalesce(r.subagent_id, f.subagent_id) | the subagent
            is_sidechain | BOOLEAN | {_flag("sidechain")} | marked as a subagent's
            is_meta | BOOLEAN | {_flag("meta")} | marked as a note of Claude Code
            model | VARCHAR | r.model | model
            message_id | VARCHAR | r.message_id | id of the API's message
            git_branch | VARCHAR | r.git_branch | git branch
            cwd | VARCHAR | r.cwd | working directory of the row
            project | VARCHAR | f.project | project of the session
            version | VARCHAR | r.version | version of Claude Code
            line | INTEGER | r.line | its line in the file, from 1
            part | INTEGER | r.part | which object of the line, from 0; above 0 where several were glued together
            byte_offset | BIGINT | r."offset" | where its bytes begin
            bytes | BIGINT | r.length | how many there are
            home | VARCHAR | f.home | the Claude home
            path | VARCHAR | f.path | the file, below the home
        """),
    ),
    SqlTable(
        "prompts", "What was typed into the terminal, from history.jsonl.",
        f"raw.prompts r {_WITH_FILE}",
        _columns("""
            time | TIMESTAMPTZ | r.time | when
            project | VARCHAR | r.project | working directory
            session_id | VARCHAR | r.session_id | the session; NULL in the lines of older versions
            text | VARCHAR | r.text | the words
            line | INTEGER | r.line | line in the history
            home | VARCHAR | f.home | the Claude home
        """),
    ),
    SqlTable(
        "tasks", "Tasks and to-do items.",
        f"raw.tasks r {_WITH_FILE}",
        _columns("""
            session_id | VARCHAR | coalesce(r.session_id, f.session_id) | the session, or the name of a task list
            source | VARCHAR | r.source | task (the folder tasks/) or todo (the folder todos/)
            position | INTEGER | r.position | place in the list, from 1
            task_id | VARCHAR | r.task_id | its id
            subject | VARCHAR | r.subject | what is to be done
            description | VARCHAR | r.description | in more words
            status | VARCHAR | r.status | pending, in_progress, completed, ...
            owner | VARCHAR | r.owner | who has it
            subagent_id | VARCHAR | r.subagent_id | the subagent whose list it is
            modified | TIMESTAMPTZ | r.modified | when its file was written
            path | VARCHAR | f.path | the file, below the home
        """),
    ),
    SqlTable(
        "file_changes", "Changes of files by tools, as the results of the tools tell them.",
        f"raw.file_changes r {_WITH_FILE}",
        _columns("""
            session_id | VARCHAR | f.session_id | the session
            time | TIMESTAMPTZ | r.time | when
            file | VARCHAR | r.file | the file that was changed
            tool | VARCHAR | r.tool | the tool
            tool_use_id | VARCHAR | r.tool_use_id | id of the call
            is_new | BOOLEAN | r.is_new | the file was new
            lines_added | INTEGER | r.lines_added | lines that came
            lines_removed | INTEGER | r.lines_removed | lines that went
            subagent_id | VARCHAR | coalesce(r.subagent_id, f.subagent_id) | the subagent; NULL in the main conversation
            project | VARCHAR | f.project | project of the session
            line | INTEGER | r.line | line of the result in the transcript
            path | VARCHAR | f.path | the transcript, below the home
        """),
    ),
    SqlTable(
        "projects", "One row per project: a working directory with its sessions.",
        "(SELECT f.project, any_value(f.repository) AS repository, count(*) AS sessions, sum(s.messages) AS messages, "
        "sum(s.prompts) AS prompts, sum(s.subagents) AS subagents, sum(s.bytes) AS bytes, "
        "min(s.created) AS created, max(s.modified) AS modified "
        "FROM raw.sessions s LEFT JOIN raw.files f ON f.file_id = s.file_id GROUP BY f.project) r",
        _columns("""
            project | VARCHAR | r.project | working directory; NULL for sessions that name none
            repository | VARCHAR | coalesce(r.repository, r.project) | the repository, for a git worktree of it; else the project
            sessions | INTEGER | r.sessions | sessions
            messages | BIGINT | r.messages | user and assistant rows
            prompts | BIGINT | r.prompts | rows in which a person said something
            subagents | BIGINT | r.subagents | subagents
            bytes | BIGINT | r.bytes | size of the main transcripts
            created | TIMESTAMPTZ | r.created | time of the first row
            modified | TIMESTAMPTZ | r.modified | time of the last row
        """),
    ),
    SqlTable(
        "damage", "What is not as it should be in the transcripts, with its place.",
        f"raw.damage r {_WITH_FILE}",
        _columns("""
            session_id | VARCHAR | f.session_id | the session
            kind | VARCHAR | r.kind | kind of damage (see the page on damage)
            detail | VARCHAR | r.detail | in words
            line | INTEGER | r.line | line
            byte_offset | BIGINT | r."offset" | where it begins
            bytes | BIGINT | r.length | how many bytes
            home | VARCHAR | f.home | the Claude home
            path | VARCHAR | f.path | the file, below the home
        """),
    ),
)  # fmt: skip


def names() -> dict[str, list[str]]:
    """Return the names of tables and their columns, for completion."""
    return {table.name: [column.name for column in table.columns] for table in TABLES}


def version_of(statements: list[str]) -> int:
    """Return a checksum of the definitions; a database made with another version is not used."""
    return zlib.crc32("\n".join(statements).encode())
