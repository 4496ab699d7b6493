"""Schemas of the answers of the JSON interface: made from the shapes of the library, and a few of its own."""

from __future__ import annotations

import msgspec

from ..library import shapes
from ..library.side_files import TodoItem
from ..library.touched_files import FileRow
from .api_description import ANYTHING, Schema, integer, listed, nullable, record, text

_SHAPES = (
    shapes.SessionShape, shapes.SessionFacts, shapes.MessageShape, shapes.BranchShape, shapes.SubagentShape, shapes.ToolCallShape,
    shapes.ChangeShape, FileRow, TodoItem,
)  # fmt: skip
_schemas, COMPONENTS = msgspec.json.schema_components(_SHAPES, ref_template="#/components/schemas/{name}")
SESSION, FACTS, MESSAGE, BRANCH, SUBAGENT, CALL, CHANGE, FILE, TASK = _schemas
SESSION_WITH_FACTS: Schema = {"allOf": [SESSION, FACTS]}
FLAG = {"type": "boolean"}
DAMAGE = record({"kind": text(), "line": integer(1), "offset": integer(), "length": integer(), "detail": text()})
PLAN = {
    "type": "object",
    "properties": {
        "title": text(), "steps": listed(text()), "result": ANYTHING, "change": nullable("integer"), "dry_run": FLAG,
    },
    "required": ["title", "steps", "result", "change", "dry_run"],
}  # fmt: skip
