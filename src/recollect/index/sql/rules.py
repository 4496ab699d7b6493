"""Allow only queries that are one SELECT over tables, judged by the syntax tree before anything is bound or run.

A SELECT of DuckDB can do more than read: `enable_logging()` is a table function, an INSERT may be part of a WITH, `query()`
runs text. So node types and table functions are allowed by name, and all others are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import duckdb

#: Table functions that only generate or unpack rows, or describe tables.
TABLE_FUNCTIONS: Final = frozenset({
    "range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree", "histogram", "histogram_values",
    "summary", "generate_subscripts", "regexp_split_to_table", "icu_calendar_names", "pg_timezone_names",
    "duckdb_columns", "duckdb_functions", "duckdb_keywords", "duckdb_tables", "duckdb_types", "duckdb_views",
    "pragma_show", "pragma_table_info", "pragma_version",
})  # fmt: skip
#: Functions that run or plan text, read settings, write logs, or interpret raw bytes as internal states.
REFUSED_FUNCTIONS: Final = frozenset({
    "json_serialize_plan", "json_deserialize_sql", "current_setting", "getvariable", "getenv", "write_log", "nextval",
    "setval", "currval", "to_aggregate_state", "combine", "finalize", "variant_bytes_to_variant", "parse_duckdb_log_message",
    "sql_auto_complete", "which_secret", "index_key", "get_block_size",
})  # fmt: skip
_QUERIES: Final = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
_TABLES: Final = frozenset({
    "BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST", "CTE", "EMPTY", "EMPTY_FROM", "PIVOT", "SHOW_REF",
    "COLUMN_DATA", "INVALID",
})  # fmt: skip


class Refusal(NamedTuple):
    """Why a query is refused, with the byte offset of the refused part."""

    reason: str
    position: int | None


def the_question(connection: duckdb.DuckDBPyConnection, text: str) -> duckdb.Statement | Refusal:
    """Parse a text that must be one allowed SELECT; else return why it may not run. Raises DuckDB's syntax errors."""
    statements = connection.extract_statements(text)
    if len(statements) != 1 or _type_of(statements[0]) != "SELECT":
        return Refusal(_not_one_question(statements), None)
    found = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [text]).fetchone()
    tree = json.loads(found[0]) if found else {}
    if tree.get("error") is not False:
        return Refusal(str(tree.get("error_message", "only SELECT is allowed")), None)
    return refusal(tree) or statements[0]


def _type_of(statement: duckdb.Statement) -> str:
    try:
        return str(statement.type.name)
    except Exception:  # a statement type that is missing in the enumeration of DuckDB's Python package
        return "this statement"


def _not_one_question(statements: Sequence[duckdb.Statement]) -> str:
    if not statements:
        return "there is no question"
    if len(statements) > 1:
        return f"only one statement at a time is allowed, these are {len(statements)}"
    name = _type_of(statements[0])
    if name == "MULTI":
        return "PIVOT is allowed only with the values named: PIVOT ... ON column IN ('a', 'b')"
    return f"only SELECT is allowed, not {name.replace('_', ' ')}"


def refusal(tree: Any) -> Refusal | None:
    """Return the first part of a tree of `json_serialize_sql` that is not allowed; None if the query may run."""
    for node in _nodes(tree):
        kind = node.get("type")
        where = node.get("query_location")
        position = where if isinstance(where, int) and where < 1 << 62 else None
        if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _QUERIES:
            return Refusal(f"only SELECT is allowed, not {_words(kind)}", position)
        if "class" not in node and "sample" in node and "alias" in node and kind not in _TABLES:
            return Refusal(f"{_words(kind)} is not allowed", position)
        if kind == "TABLE_FUNCTION":
            function = node.get("function")
            name = str(function.get("function_name") if isinstance(function, dict) else function).lower()
            if name not in TABLE_FUNCTIONS:
                return Refusal(f"the table function {name}() is not allowed", position)
        elif isinstance(called := node.get("function_name"), str) and _is_refused(called.lower()):
            return Refusal(f"the function {called.lower()}() is not allowed", position)
    return None


def _is_refused(function: str) -> bool:
    return function in REFUSED_FUNCTIONS or function.startswith("__")


def _words(kind: object) -> str:
    return str(kind).removesuffix("_NODE").removesuffix("_QUERY").replace("_", " ")


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of the tree. Not recursive: queries may be nested deeply."""
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
