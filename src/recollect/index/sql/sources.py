"""Define how each table in the schema `raw` is selected from the catalogue.

Rows are transferred as CSV that SQLite itself writes, because making 300,000 Python rows would take four times as long. So
each column defines how it is written and how it is read again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: Kinds of columns: below, how SQLite writes each, how DuckDB reads it from CSV, and how DuckDB stores it.
NUMBER, TEXT, LONG, UUID, TIME, STRING, FLAG, REAL = "number", "text", "long", "uuid", "time", "string", "flag", "real"
_WRITTEN: Final = {
    TEXT: "'\"'||replace({0},'\"','\"\"')||'\"'",  # always quoted
    UUID: "CASE typeof({0}) WHEN 'blob' THEN '~'||hex({0}) ELSE '\"'||replace({0},'\"','\"\"')||'\"' END",
    # A line of CSV has a maximum length. Only long texts are cut, because SQLite's substr() stops at a NUL.
    LONG: "'\"'||replace(iif(octet_length({0}) > 4000000, substr({0}, 1, 1000000), {0}),'\"','\"\"')||'\"'",
}
_TYPES: Final = {NUMBER: "BIGINT", TIME: "TIMESTAMPTZ", FLAG: "BOOLEAN", REAL: "DOUBLE"}
_READ: Final = {TEXT: "VARCHAR", LONG: "VARCHAR", UUID: "VARCHAR", REAL: "DOUBLE"}
_KEPT: Final = {
    UUID: "CASE WHEN starts_with(c.{0}, '~') AND length(c.{0}) = 33 THEN (c.{0}[2:])::UUID::VARCHAR ELSE c.{0} END",
    # A time outside of the calendar would make the whole load fail.
    TIME: "CASE WHEN c.{0} BETWEEN -62135596800000000 AND 253402300799999999 THEN make_timestamptz(c.{0}) END",
    FLAG: "c.{0} <> 0",
}


@dataclass(frozen=True, slots=True)
class RawColumn:
    name: str
    kind: str
    expression: str

    def written(self) -> str:
        return _WRITTEN.get(self.kind, "{0}").format(self.expression)

    def read(self) -> str:
        return _READ.get(self.kind, "BIGINT")

    def kept(self) -> str:
        if self.kind == STRING:
            return f"(SELECT s.text FROM strings s WHERE s.id = c.{self.name})"
        return _KEPT.get(self.kind, "c.{0}").format(self.name)


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table of the schema `raw`.

    `source` contains `{files}` as the placeholder for the condition on files. A `whole` table is refilled each time.
    """

    name: str
    source: str
    columns: tuple[RawColumn, ...]
    whole: bool = False
    parents: bool = False
    """Whether `parent` is stored as the parent's entry id if both are in one file, which takes a third of the space."""

    def create(self) -> str:
        kinds = [f"{_quoted(column.name)} {_TYPES.get(column.kind, 'VARCHAR')}" for column in self.columns]
        if self.parents:
            kinds.append("parent_id BIGINT")
        return f"({', '.join(kinds)})"

    def select(self, files: str) -> str:
        """Return the SELECT for SQLite that gives one CSV line per row, as bytes."""
        body = ",',',".join(column.written() for column in self.columns)
        return f"SELECT CAST(concat({body},char(10)) AS BLOB) FROM {self.source.format(files=files)}"

    def load(self, path: str) -> str:
        """Return the SELECT for DuckDB that reads these lines from a file."""
        kept = ", ".join(f"{column.kept()} AS {_quoted(column.name)}" for column in self.columns)
        read = ", ".join(f"'{column.name}': '{column.read()}'" for column in self.columns)
        quoted = path.replace("'", "''")
        select = (
            f"SELECT {kept} FROM read_csv('{quoted}', columns = {{{read}}}, header = false, auto_detect = false, "
            "delim = ',', quote = '\"', escape = '\"', new_line = '\\n', nullstr = '', allow_quoted_nulls = false, "
            "max_line_size = 16777216, strict_mode = true) c"
        )
        return _PARENTS.format(select=select) if self.parents else select


_PARENTS: Final = (
    "WITH loaded AS MATERIALIZED ({select}) SELECT l.* REPLACE (CASE WHEN p.entry_id IS NULL THEN l.parent END AS parent), "
    "p.entry_id AS parent_id FROM loaded l LEFT JOIN (SELECT file_id, uuid, min(entry_id) AS entry_id FROM loaded "
    "WHERE uuid IS NOT NULL GROUP BY file_id, uuid) p ON p.file_id = l.file_id AND p.uuid = l.parent ORDER BY l.entry_id"
)


def _quoted(name: str) -> str:
    return f'"{name}"'


def _columns(text: str) -> tuple[RawColumn, ...]:
    """Parse columns from lines of `name | kind | expression`; an empty expression means `t.name`."""
    rows = [[part.strip() for part in line.split("|", 2)] for line in text.strip().splitlines()]
    return tuple(RawColumn(name, kind, expression or f"t.{name}") for name, kind, expression in rows)


#: The main transcript of the session to which a file belongs, preferably the one in the file's own project folder.
_MAIN_FILE: Final = (
    "(SELECT s.file_id FROM sessions s JOIN files g ON g.id = s.file_id WHERE s.session_id = t.session_id "
    "AND g.home_id = t.home_id ORDER BY g.folder IS t.folder DESC, g.id LIMIT 1)"
)

SOURCES: Final[tuple[RawTable, ...]] = (
    RawTable(
        "files",
        f"files t JOIN homes h ON h.id = t.home_id LEFT JOIN sessions m ON m.file_id = {_MAIN_FILE} WHERE t.id IN {{files}}",
        _columns("""
            file_id | number | t.id
            change | number |
            home | text | h.path
            path | text |
            kind | text |
            session_id | text |
            subagent_id | text |
            workflow | text |
            project | text | m.project
            repository | text | m.repository
        """), whole=True,
    ),
    RawTable(
        "sessions",
        "sessions t LEFT JOIN files f ON f.id = t.file_id LEFT JOIN "
        "(SELECT g.home_id, g.session_id, count(DISTINCT g.subagent_id) AS own FROM files g WHERE g.kind = 'subagent' "
        "GROUP BY 1, 2) a ON a.home_id = f.home_id AND a.session_id = t.session_id "
        "WHERE t.file_id IN {files}",
        _columns("""
            file_id | number |
            session_id | text |
            title | text |
            first_prompt | text |
            last_prompt | text |
            created | time |
            modified | time |
            git_branch | text |
            model | text |
            version | text |
            tag | text |
            pr_url | text |
            lines | number |
            messages | number |
            prompts | number |
            subagents | number | t.subagents + coalesce(a.own, 0)
            bytes | number |
            damaged | number |
            reachable | real |
        """), whole=True,
    ),
    RawTable(
        "entries", "entries t WHERE +t.file_id IN {files}",
        _columns("""
            entry_id | number | t.id
            file_id | number |
            line | number |
            part | number |
            offset | number |
            length | number |
            type | text |
            subtype | text |
            uuid | uuid |
            parent | uuid |
            time | time |
            role | text |
            subagent_id | text |
            model | string | t.model_id
            message_id | text |
            git_branch | string | t.branch_id
            cwd | string | t.cwd_id
            version | string | t.version_id
            status | text |
            flags | number |
        """), parents=True,
    ),
    RawTable(
        "tool_calls", "tool_calls t LEFT JOIN entries e ON e.id = t.entry_id WHERE t.file_id IN {files}",
        _columns("""
            file_id | number |
            tool_use_id | text |
            name | text |
            target | text |
            started | time |
            ended | time |
            is_error | flag |
            input_bytes | number |
            output_bytes | number |
            subagent_id | text |
            started_subagent | text |
            line | number | e.line
        """),
    ),
    RawTable(
        "subagents", "subagents t WHERE t.file_id IN {files}",
        _columns("""
            file_id | number |
            session_id | text |
            subagent_id | text |
            kind | text |
            description | text |
            prompt | text |
            started | time |
            ended | time |
            messages | number |
            entries | number |
            model | text |
            tool_use_id | text |
            parent_subagent | text |
        """), whole=True,
    ),
    RawTable(
        "prompts", "prompts t WHERE t.file_id IN {files}",
        _columns("""
            file_id | number |
            line | number |
            time | time |
            project | text |
            session_id | text |
            text | long |
        """),
    ),
    RawTable(
        "tasks", "tasks t WHERE t.file_id IN {files}",
        _columns("""
            file_id | number |
            session_id | text |
            source | text |
            position | number |
            task_id | text |
            subject | long |
            description | long |
            status | text |
            owner | text |
            subagent_id | text |
            modified | time |
        """),
    ),
    RawTable(
        "file_changes",
        "file_changes t LEFT JOIN tool_calls c ON c.file_id = t.file_id AND c.tool_use_id = t.tool_use_id "
        "LEFT JOIN entries e ON e.id = t.entry_id WHERE t.file_id IN {files}",
        _columns("""
            file_id | number |
            time | time |
            file | text | t.path
            tool | text | c.name
            tool_use_id | text |
            is_new | flag | t.created
            lines_added | number |
            lines_removed | number |
            subagent_id | text | e.subagent_id
            line | number | e.line
        """),
    ),
    RawTable(
        "damage", "damage t WHERE t.file_id IN {files}",
        _columns("""
            file_id | number |
            line | number |
            offset | number |
            length | number |
            kind | text |
            detail | text |
        """),
    ),
    RawTable(
        "calls", "api_calls t WHERE t.file_id IN {files}",
        _columns("""
            file_id | number |
            line | number |
            part | number |
            message_id | text |
            request_id | text |
            model | string | t.model_id
            time | time |
            input | number |
            output | number |
            cache_write_5m | number |
            cache_write_1h | number |
            cache_read | number |
            thinking | number |
            web_searches | number |
            service_tier | string | t.tier_id
            speed | string | t.speed_id
            geo | string | t.geo_id
            stop_reason | string | t.stop_id
            subagent_id | text |
            git_branch | string | t.branch_id
            cwd | string | t.cwd_id
            session_id | text |
            flags | number |
            cost | number |
        """),
    ),
    RawTable(
        "shared", "temp.asked_shared t",
        _columns("""
            file_id | number |
            line | number |
            part | number |
            counted | flag |
            session_id | text |
            copies | number |
            input | number |
            output | number |
            cache_write_5m | number |
            cache_write_1h | number |
            cache_read | number |
            thinking | number |
            web_searches | number |
            flags | number |
            cost | number |
        """), whole=True,
    ),
)  # fmt: skip

STRINGS: Final = RawTable("strings", "strings t", _columns("id | number |\ntext | text |"), whole=True)

#: The total cost of the responses of each session.
SESSION_COSTS: Final = """CREATE OR REPLACE TABLE raw.session_costs AS
    SELECT home, session_id, try_cast(sum(cost_micro_usd) AS BIGINT) AS cost FROM
    (SELECT f.home, coalesce(s.session_id, r.session_id, f.session_id) AS session_id, coalesce(s.cost, r.cost) AS cost_micro_usd
     FROM raw.calls r LEFT JOIN raw.shared s ON s.file_id = r.file_id AND s.line = r.line AND s.part = r.part
     JOIN raw.files f ON f.file_id = r.file_id WHERE s.counted IS NULL OR s.counted) GROUP BY ALL"""
