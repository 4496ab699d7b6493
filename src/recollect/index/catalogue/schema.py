"""Define the tables of the catalogue, column by column. There is no migration: with another schema it is rebuilt.

Rows belong to a file by `file_id`: a file that was rewritten or deleted loses its rows; a rewritten one is indexed again.
Times are whole microseconds since 1970 in UTC, or NULL. A `uuid` is a BLOB of 16 bytes if it is a UUID in its usual form,
else TEXT (Claude Code accepts any text): `stored_uuid` and `shown_uuid` convert.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Final

from ...format.path_text import UUID

SCHEMA_VERSION: Final = 7

#: What changed from one version of the schema to the next.
HISTORY: Final[dict[int, str]] = {
    1: "the first one",
    2: "the word index finds entries by their number; calls are packed by file",
    3: "packs of calls are MessagePack; the bytes before a place are known again by CRC-32",
    4: "calls know the line of their output, and subagents inside the main file; before 1.0.30 there are no lower bounds",
    5: "lines of a call that lack its model are joined with those that name it; subagents' lines without any id stay apart",
    6: "files are told apart by the time of their last change, too: a title keeps the other one",
    7: "API calls are ordinary rows with their cost; copies of a response in its session's family are counted once",
}


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    doc: str


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    doc: str
    columns: tuple[Column, ...]
    constraint: str = ""
    """Table constraints: what follows the columns in CREATE TABLE."""
    rowid: bool = True
    indexes: tuple[str, ...] = ()
    """For each index of the table, its columns separated by commas."""

    def statements(self) -> list[str]:
        body = [f"{column.name} {column.type}".rstrip() for column in self.columns]
        if self.constraint:
            body.append(self.constraint)
        made = [f"CREATE TABLE {self.name} ({', '.join(body)}){'' if self.rowid else ' WITHOUT ROWID'}"]
        for columns in self.indexes:
            name = re.sub(r"\W+", "_", columns)
            made.append(f"CREATE INDEX {self.name}_by_{name} ON {self.name}({columns})")
        return made


def _columns(text: str) -> tuple[Column, ...]:
    """Parse columns from lines of `name | type | meaning`."""
    rows = [[part.strip() for part in line.split("|", 2)] for line in text.strip().splitlines()]
    return tuple(Column(name, kind, doc) for name, kind, doc in rows)


TABLES: Final[tuple[Table, ...]] = (
    Table(
        "notes", "Small facts about the index itself.",
        _columns("""
            name | TEXT PRIMARY KEY | what: `last_entry` (highest entry id ever given), `words_mark`, `change`
            value | | its value
        """), rowid=False,
    ),
    Table(
        "homes", "The Claude homes in the catalogue.",
        _columns("""
            id | INTEGER PRIMARY KEY | number of the home
            path | TEXT UNIQUE NOT NULL | its folder, links resolved
        """),
    ),
    Table(
        "files", "Every file that was taken in.",
        _columns("""
            id | INTEGER PRIMARY KEY AUTOINCREMENT | number of the file; kept when it grows or is renamed, never given again
            home_id | INTEGER NOT NULL | the home
            path | TEXT NOT NULL | path below the home, with `/`
            kind | TEXT NOT NULL | session, subagent, subagent_meta, title, history, task or todo
            session_id | TEXT | the session, by the file's name; of subagents beside sessions by their lines
            subagent_id | TEXT | the subagent
            folder | TEXT | the project's folder
            workflow | TEXT | the workflow run of a subagent
            device | INTEGER | device number
            inode | INTEGER | inode number
            change | INTEGER NOT NULL DEFAULT 0 | number of the last sync that changed rows of this file
        """), constraint="UNIQUE(home_id, path)", indexes=("session_id",),
    ),
    Table(
        "progress", "How far each stage (calls, entries) has read each file.",
        _columns("""
            file_id | INTEGER NOT NULL | the file
            stage | TEXT NOT NULL | the stage
            size | INTEGER NOT NULL | size when it was read; -1 while only a part was; -2 after the file got another name
            mtime_ns | INTEGER NOT NULL | time when it was read
            ctime_ns | INTEGER NOT NULL | time of its last change, of bytes or of names and permissions, when it was read
            inode | INTEGER NOT NULL | inode when it was read
            offset | INTEGER NOT NULL | end of the last line taken in
            lines | INTEGER NOT NULL | how many lines those are
            head_hash | INTEGER NOT NULL | of the first 4 KiB below `offset`
            tail_hash | INTEGER NOT NULL | of the last 4 KiB before `offset`
        """), constraint="PRIMARY KEY(file_id, stage)", rowid=False,
    ),
    Table(
        "sessions", "One row per main transcript. Numbers are of that file alone, subagents' own files not counted.",
        _columns("""
            file_id | INTEGER PRIMARY KEY | the main transcript
            session_id | TEXT NOT NULL | its id
            project | TEXT | working directory: `relocated` first, then the one that fits the folder's name, then the first
            repository | TEXT | the repository, where it ran in a git worktree of it
            title | TEXT | custom title, else Claude Code's own, else the old summary, else the first prompt
            custom_title | TEXT | given by the user
            ai_title | TEXT | given by Claude Code
            old_summary | TEXT | given by versions of Claude Code up to 1.0
            first_prompt | TEXT | the first thing that was typed (at most 2,000 characters)
            last_prompt | TEXT | the last one, as Claude Code noted it (at most 2,000 characters)
            first_command | TEXT | the first slash command, used where nothing was typed
            created | INTEGER | time of the first row that has one
            modified | INTEGER | time of the last row that has one
            version | TEXT | version of Claude Code that wrote the last row
            git_branch | TEXT | branch of the last row that names one
            tag | TEXT | tag
            subagent_name | TEXT | name of the subagent
            pr_url | TEXT | pull request
            cwds | TEXT | working directories in order of appearance, as a JSON list
            relocated | TEXT | where Claude Code says it was moved to
            worktree_of | TEXT | the repository, by Claude Code's own word
            lines | INTEGER NOT NULL DEFAULT 0 | complete lines
            entries | INTEGER NOT NULL DEFAULT 0 | objects on them
            messages | INTEGER NOT NULL DEFAULT 0 | user and assistant rows
            prompts | INTEGER NOT NULL DEFAULT 0 | rows in which a person said something
            subagents | INTEGER NOT NULL DEFAULT 0 | subagents inside the main file
            side_rows | INTEGER NOT NULL DEFAULT 0 | rows of subagents inside the main file
            main_rows | INTEGER NOT NULL DEFAULT 0 | other rows
            damaged | INTEGER NOT NULL DEFAULT 0 | places with damage
            bytes | INTEGER NOT NULL DEFAULT 0 | bytes taken in
            model | TEXT | model of the last response
            reachable | REAL | share of the messages that Claude Code still reaches, 0 to 1; NULL while unknown
            threaded | INTEGER NOT NULL DEFAULT 0 | 1 where the statuses of its entries are current
        """), indexes=("session_id",),
    ),
    Table(
        "entries", "Every object of every transcript, with the place of its bytes.",
        _columns("""
            id | INTEGER PRIMARY KEY | ascending in the order of taking in; an id is never given again
            file_id | INTEGER NOT NULL | the file
            line | INTEGER NOT NULL | line, from 1
            part | INTEGER NOT NULL | which object of the line, from 0; above 0 where several were glued together
            offset | INTEGER NOT NULL | where its bytes begin
            length | INTEGER NOT NULL | how many bytes
            type | TEXT | type of the entry
            subtype | TEXT | subtype of system rows, own type of attachments and progress
            uuid | | id of the row
            parent | | parent's id as it stands
            time | INTEGER | its time
            role | TEXT | who speaks: user, assistant, tool, system, title, or NULL for what nobody says
            subagent_id | TEXT | the subagent
            model_id | INTEGER | model (`strings`)
            message_id | TEXT | API message
            request_id | TEXT | API request
            branch_id | INTEGER | git branch (`strings`)
            cwd_id | INTEGER | working directory (`strings`)
            version_id | INTEGER | version of Claude Code (`strings`)
            status | TEXT | live, abandoned, subagent, precompact, bridged, unreachable; current where the session is threaded
            flags | INTEGER NOT NULL | bits, see `FLAGS`
        """), indexes=("file_id, line", "uuid"),
    ),
    Table(
        "damage", "What is not as it should be, with its place. Harmless kinds (blank lines, CRLF) are left out.",
        _columns("""
            file_id | INTEGER NOT NULL | the file
            line | INTEGER NOT NULL | line
            offset | INTEGER NOT NULL | where it begins
            length | INTEGER NOT NULL | how many bytes
            kind | TEXT NOT NULL | kind of damage
            detail | TEXT NOT NULL | in words
        """), indexes=("file_id",),
    ),
    Table(
        "tool_calls", "Tool calls by file, each with its result where one came.",
        _columns("""
            file_id | INTEGER NOT NULL | the file
            tool_use_id | TEXT NOT NULL | id of the call
            name | TEXT | tool; NULL for a result without a call
            entry_id | INTEGER | entry of the call
            result_entry_id | INTEGER | entry of the result
            started | INTEGER | time of the call
            ended | INTEGER | time of the result
            is_error | INTEGER | 1 where the result is an error
            input_bytes | INTEGER | size of the arguments
            output_bytes | INTEGER | size of the result's words
            target | TEXT | file, command, pattern, address or description it was about (at most 200 characters)
            subagent_id | TEXT | the subagent that made the call
            started_subagent | TEXT | the subagent that the call started
            subagent_kind | TEXT | what kind of subagent was asked for
            commits | INTEGER | 1 where its shell command makes a git commit
        """), constraint="PRIMARY KEY(file_id, tool_use_id)", rowid=False,
    ),
    Table(
        "subagent_runs", "Subagents by the file in which their rows stand.",
        _columns("""
            file_id | INTEGER NOT NULL | the subagent's own file, or the main one
            subagent_id | TEXT NOT NULL | the subagent; empty for rows that name none
            started | INTEGER | time of its first row
            ended | INTEGER | time of its last row
            messages | INTEGER NOT NULL | user and assistant rows
            entries | INTEGER NOT NULL | all rows
            prompt | TEXT | what it was asked (at most 200 characters)
        """), constraint="PRIMARY KEY(file_id, subagent_id)", rowid=False,
    ),
    Table(
        "subagent_notes", "What `agent-<id>.meta.json` says of a subagent.",
        _columns("""
            file_id | INTEGER PRIMARY KEY | the note's file
            session_id | TEXT | session
            subagent_id | TEXT | subagent
            kind | TEXT | what kind of subagent
            description | TEXT | what it is for
            tool_use_id | TEXT | the call that started it
            parent_subagent | TEXT | the subagent that made that call
            model | TEXT | model it was given
        """),
    ),
    Table(
        "prompts", "What was typed into the terminal, from history.jsonl.",
        _columns("""
            file_id | INTEGER NOT NULL | the history file
            line | INTEGER NOT NULL | line
            part | INTEGER NOT NULL | which object of the line
            time | INTEGER | when
            project | TEXT | working directory
            session_id | TEXT | session
            text | TEXT | the words
        """), constraint="PRIMARY KEY(file_id, line, part)", rowid=False,
    ),
    Table(
        "tasks", "Tasks (tasks/) and todos (todos/).",
        _columns("""
            file_id | INTEGER NOT NULL | the file
            position | INTEGER NOT NULL | place in the list, from 1
            source | TEXT NOT NULL | task or todo
            session_id | TEXT | session
            subagent_id | TEXT | subagent
            task_id | TEXT | its id
            subject | TEXT | what is to be done
            description | TEXT | in more words
            status | TEXT | pending, in_progress, completed, ...
            owner | TEXT | who has it
            modified | INTEGER | when the file was written
        """), constraint="PRIMARY KEY(file_id, position)", rowid=False,
    ),
    Table(
        "titles", "What `custom-title.json` beside a session says.",
        _columns("""
            file_id | INTEGER PRIMARY KEY | the side file
            session_id | TEXT | session
            title | TEXT | the title
        """),
    ),
    Table(
        "file_changes", "Changes of files by tools, as their results tell them.",
        _columns("""
            file_id | INTEGER NOT NULL | the transcript
            entry_id | INTEGER NOT NULL | entry of the result
            time | INTEGER | when
            path | TEXT NOT NULL | the file that was changed
            tool_use_id | TEXT | the call (its tool: `tool_calls.name`)
            created | INTEGER NOT NULL | 1 where the file is new
            lines_added | INTEGER | lines that came
            lines_removed | INTEGER | lines that went
        """), indexes=("file_id",),
    ),
    Table(
        "strings", "Texts that stand in many rows, once.",
        _columns("""
            id | INTEGER PRIMARY KEY | number
            text | TEXT UNIQUE NOT NULL | the text
        """),
    ),
    Table(
        "words_stale", "Files whose words must go from the word index before anything else is added.",
        _columns("""
            file_id | INTEGER PRIMARY KEY | the file
        """),
    ),
    Table(
        "api_calls", "API calls by file, one row each: the largest of each count over the lines of a call.",
        _columns("""
            file_id | INTEGER NOT NULL | the file
            line | INTEGER NOT NULL | first line of the call
            part | INTEGER NOT NULL | which of the calls that begin on that line, from 0
            message_id | TEXT NOT NULL | API message; `#advisor` behind it for what an advisor model used
            request_id | TEXT NOT NULL | API request; empty where Claude Code wrote none
            model_id | INTEGER NOT NULL | model (`strings`)
            time | INTEGER | when
            input | INTEGER NOT NULL | input tokens
            output | INTEGER NOT NULL | output tokens
            cache_write_5m | INTEGER NOT NULL | tokens written to the 5-minute cache
            cache_write_1h | INTEGER NOT NULL | tokens written to the 1-hour cache
            cache_read | INTEGER NOT NULL | tokens read from the cache
            thinking | INTEGER NOT NULL | thinking tokens
            web_searches | INTEGER NOT NULL | searches
            tier_id | INTEGER | service tier (`strings`)
            speed_id | INTEGER | speed (`strings`)
            geo_id | INTEGER | place of the inference (`strings`)
            stop_id | INTEGER | why it ended (`strings`)
            subagent_id | TEXT | subagent, where it is not the one that the file belongs to
            branch_id | INTEGER | git branch (`strings`)
            cwd_id | INTEGER | working directory (`strings`)
            session_id | TEXT | session that made the request, where a copied line names it
            flags | INTEGER NOT NULL | bits, see `CALL_FLAGS`
            output_line | INTEGER NOT NULL | the line with the largest output
            cost | INTEGER | micro-dollars by the price table noted as `prices`; NULL where the model has no price
        """), constraint="PRIMARY KEY(file_id, line, part)", rowid=False, indexes=("message_id", "time"),
    ),
    Table(
        "shared_calls", "Rows of `api_calls` that are one call with others of the same home, and which of them counts.",
        _columns("""
            file_id | INTEGER NOT NULL | the row in `api_calls`: its file
            line | INTEGER NOT NULL | its line
            part | INTEGER NOT NULL | its part
            counted | INTEGER NOT NULL | 1 for the one that counts, with what follows; 0 for its copies
            session_id | TEXT | session that made the request, where one of the copies names it
            copies | INTEGER NOT NULL | how many rows there are
            input | INTEGER | input tokens: here and below the largest of all copies
            output | INTEGER | output tokens
            cache_write_5m | INTEGER | tokens written to the 5-minute cache
            cache_write_1h | INTEGER | tokens written to the 1-hour cache
            cache_read | INTEGER | tokens read from the cache
            thinking | INTEGER | thinking tokens
            web_searches | INTEGER | searches
            flags | INTEGER | bits, see `CALL_FLAGS`
            cost | INTEGER | micro-dollars
        """), constraint="PRIMARY KEY(file_id, line, part)", rowid=False,
    ),
    Table(
        "call_files", "When each file was begun: tells an original from the copy that a fork made of it.",
        _columns("""
            file_id | INTEGER PRIMARY KEY | the file
            begun | INTEGER | first time that stands in it, whatever line that is on
        """),
    ),
    Table(
        "cost_states", "Claude Code's own count of tokens and money, as it last wrote it (since 2.1.325).",
        _columns("""
            file_id | INTEGER PRIMARY KEY | the transcript
            line_offset | INTEGER NOT NULL | where the line begins
            value | TEXT NOT NULL | the line, as JSON
        """),
    ),
)  # fmt: skip

VIEWS: Final[tuple[str, ...]] = (
    # Subagents with all their known facts, whichever version of Claude Code wrote them.
    """CREATE VIEW subagents AS
    SELECT r.file_id, coalesce(n.session_id, f.session_id) AS session_id, r.subagent_id,
           coalesce(n.kind, c.subagent_kind) AS kind, coalesce(n.description, c.target) AS description,
           coalesce(n.tool_use_id, c.tool_use_id) AS tool_use_id, n.parent_subagent, n.model, f.workflow,
           r.started, r.ended, r.messages, r.entries, r.prompt
    FROM subagent_runs r JOIN files f ON f.id = r.file_id
    LEFT JOIN subagent_notes n ON n.subagent_id = r.subagent_id AND n.session_id = f.session_id
    LEFT JOIN (SELECT t.started_subagent, g.session_id, min(t.tool_use_id) AS tool_use_id,
                      min(t.subagent_kind) AS subagent_kind, min(t.target) AS target
               FROM tool_calls t JOIN files g ON g.id = t.file_id
               WHERE t.started_subagent IS NOT NULL GROUP BY 1, 2) c
      ON c.started_subagent = r.subagent_id AND c.session_id = f.session_id""",
    # Every API call of a home, counted once.
    """CREATE VIEW counted_calls AS
    SELECT a.file_id, a.line, a.part, a.message_id, a.request_id, a.model_id, a.time,
           coalesce(s.input, a.input) AS input, coalesce(s.output, a.output) AS output,
           coalesce(s.cache_write_5m, a.cache_write_5m) AS cache_write_5m,
           coalesce(s.cache_write_1h, a.cache_write_1h) AS cache_write_1h,
           coalesce(s.cache_read, a.cache_read) AS cache_read, coalesce(s.thinking, a.thinking) AS thinking,
           coalesce(s.web_searches, a.web_searches) AS web_searches, a.tier_id, a.speed_id, a.geo_id, a.stop_id, a.subagent_id,
           a.branch_id, a.cwd_id, coalesce(s.session_id, a.session_id) AS session_id, coalesce(s.flags, a.flags) AS flags,
           a.output_line, coalesce(s.cost, a.cost) AS cost, coalesce(s.copies, 1) AS copies
    FROM api_calls a LEFT JOIN shared_calls s ON s.file_id = a.file_id AND s.line = a.line AND s.part = a.part
    WHERE s.counted IS NOT 0""",
)

#: Which tables hold the rows of a stage; all have `file_id`.
STAGE_TABLES: Final[dict[str, tuple[str, ...]]] = {
    "calls": ("api_calls", "shared_calls", "call_files", "cost_states"),
    "entries": (
        "sessions", "entries", "damage", "tool_calls", "subagent_runs", "subagent_notes", "prompts", "tasks", "titles",
        "file_changes",
    ),
}  # fmt: skip

#: Which kinds of files a stage reads.
STAGE_KINDS: Final[dict[str, frozenset[str]]] = {
    "calls": frozenset({"session", "subagent"}),
    "entries": frozenset({"session", "subagent", "subagent_meta", "title", "history", "task", "todo"}),
}

#: Bits of the flags of API calls.
CALL_FLAGS: Final[dict[str, int]] = {
    "lower_bound": 1,
    "odd": 2,
    "progress": 4,
    "advisor": 8,
    "copied": 16,
    "partial": 32,
    "zoneless": 64,
}

#: Bits of `entries.flags`.
FLAGS: Final[dict[str, int]] = {
    "code": 1,
    "image": 2,
    "error": 4,
    "thinking": 8,
    "sidechain": 16,
    "meta": 32,
    "compact_summary": 64,
    "skipped_by_client": 128,
    "prompt": 256,
    "tool_use": 512,
    "tool_result": 1024,
    "text": 2048,
}


def statements() -> list[str]:
    return [statement for table in TABLES for statement in table.statements()] + list(VIEWS)


def fingerprint() -> int:
    """Return the `user_version` that marks a catalogue of this schema."""
    return zlib.crc32("\n".join((str(SCHEMA_VERSION), "checked pages", *statements())).encode()) & 0x7FFFFFFF


def stored_uuid(uuid: str | None) -> bytes | str | None:
    """Convert a uuid to the form in which the catalogue stores it."""
    if uuid is not None and len(uuid) == 36 and UUID.fullmatch(uuid) is not None:
        return bytes.fromhex(uuid.replace("-", ""))
    return uuid


def shown_uuid(value: bytes | str | None) -> str | None:
    """Convert a stored uuid back to text."""
    if isinstance(value, bytes):
        digits = value.hex()
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
    return value
