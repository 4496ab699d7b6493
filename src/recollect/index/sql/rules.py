"""What a question may be: one SELECT over tables. Decided on its syntax tree, before anything is bound or run.

A SELECT of DuckDB can do more than ask: `enable_logging()` is a table function, an INSERT may stand in a WITH, `query()` runs
text. So kinds of nodes and table functions are let through by name, and all others are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import duckdb

#: Table functions that only make or unpack rows, or tell of tables.
TABLE_FUNCTIONS: Final = frozenset({
    "range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree", "histogram", "histogram_values",
    "summary", "generate_subscripts", "regexp_split_to_table", "icu_calendar_names", "pg_timezone_names",
    "duckdb_columns", "duckdb_functions", "duckdb_keywords", "duckdb_tables", "duckdb_types", "duckdb_views",
    "pragma_show", "pragma_table_info", "pragma_version",
})  # fmt: skip
#: Functions that run or plan text, read settings, write logs, or take raw bytes for inner states.
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
    """Why a question is refused, and where in it (a byte offset) that stands."""

    reason: str
    position: int | None


def the_question(connection: duckdb.DuckDBPyConnection, text: str) -> duckdb.Statement | Refusal:
    """The one SELECT that a text is, or why it may not run. Raises DuckDB's error for what it cannot read."""
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
    except Exception:  # a kind of statement that Python's enumeration does not know yet
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
    """The first thing in the tree of `json_serialize_sql` that is not allowed; None for a question that may run."""
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
    """Every object of the tree, without recursion: questions may be nested deeply."""
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
