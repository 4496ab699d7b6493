"""The page of what exports hold: formats, the JSON of `--format json`, the columns of tables. Made from the code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recollect.export.formats import FORMATS, Format
from recollect.export.json_document import VERSION, schema
from recollect.export.tables import MESSAGES, TOOL_CALLS, Table
from recollect.index.sql.tables import TABLES

_OWN = {
    "parent_uuid": "id of the row before it",
    "text": "the words of the message",
    "thinking": "thinking, with `--depth all`",
    "input": "the arguments, as JSON",
    "output": "the result's words",
}


def export_page() -> str:
    lines = [
        "# Exports, field by field",
        "",
        "What `recollect export` writes for programs. The [guide](../guide/export.md) says how to ask for it.",
        "",
        "| format | ending | media type | depth | redacted | sessions in a file |",
        "|---|---|---|---|---|---|",
        *map(_format, FORMATS.values()),
        "",
        "Depth and redaction are those without another choice.",
        "",
        "## JSON",
        "",
        f'One object with `"recollect_export": {VERSION}`. The number rises when a field changes its meaning or goes away;',
        "fields may be added. Times are UTC, costs are whole micro-dollars. Half of a surrogate pair, which no JSON can hold, is",
        "U+FFFD; NaN and infinities are texts. `jsonl` has the bytes.",
        "",
    ]
    found: dict[str, Any] = schema()["$defs"]
    for name in sorted(found, key=lambda name: (name != "Exported", list(found).index(name))):
        lines += [*_shape(name, found[name]), ""]
    lines += ["## Tables", "", "Columns as [`recollect sql`](sql.md) names them, and the text.", ""]
    for table in (MESSAGES, TOOL_CALLS):
        lines += [*_table(table), ""]
    return "\n".join(lines).rstrip() + "\n"


def _format(item: Format) -> str:
    many = "several" if item.holds_many else "one"
    return f"| `{item.name}` | `{item.suffix}` | `{item.media_type}` | {item.depth} | {item.redact} | {many} |"


def _shape(name: str, shape: dict[str, Any]) -> Iterator[str]:
    yield f"### {name}"
    yield ""
    yield shape.get("description", "").replace("\n", " ")
    yield ""
    yield "| field | type |"
    yield "|---|---|"
    for field, kind in shape["properties"].items():
        yield f"| `{field}` | {_kind(kind)} |"


def _kind(kind: dict[str, Any]) -> str:
    if "anyOf" in kind:
        return " or ".join(_kind(item) for item in kind["anyOf"])
    if "$ref" in kind:
        name = kind["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if kind.get("type") == "array":
        return f"list of {_kind(kind.get('items', {}))}"
    if kind.get("type") == "object":
        return "object"
    return str(kind.get("type", "anything"))


def _table(table: Table) -> Iterator[str]:
    documented = {column.name: column.doc for item in TABLES if item.name == table.name for column in item.columns}
    yield f"### {table.name}"
    yield ""
    yield "| column | type | |"
    yield "|---|---|---|"
    for name, kind in table.columns.items():
        yield f"| `{name}` | {kind} | {documented.get(name) or _OWN[name]} |"
