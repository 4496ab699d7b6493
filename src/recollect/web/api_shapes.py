"""Schemas of what the JSON interface answers: made from the shapes of the library, and a few of its own."""

from __future__ import annotations

import msgspec

from ..library import shapes
from .api_description import ANYTHING, TIME, Schema, integer, listed, nullable, record, text

_SHAPES = (
    shapes.SessionShape, shapes.SessionFacts, shapes.MessageShape, shapes.BranchShape, shapes.SubagentShape, shapes.ToolCallShape,
    shapes.ChangeShape,
)  # fmt: skip
_schemas, COMPONENTS = msgspec.json.schema_components(_SHAPES, ref_template="#/components/schemas/{name}")
SESSION, FACTS, MESSAGE, BRANCH, SUBAGENT, CALL, CHANGE = _schemas
SESSION_WITH_FACTS: Schema = {"allOf": [SESSION, FACTS]}
FLAG = {"type": "boolean"}
DAMAGE = record({"kind": text(), "line": integer(1), "offset": integer(), "length": integer(), "detail": text()})
FILE = record(
    {
        "path": text(), "versions": integer(), "edits": integer(), "lines_added": integer(), "lines_removed": integer(),
        "created": FLAG, "deleted": FLAG, "last": TIME,
    }
)  # fmt: skip
TASK = record(
    {
        "id": nullable("string"), "status": text(), "content": text(), "source": text(), "subagent": nullable("string"),
        "owner": nullable("string"), "problem": nullable("string"),
    }
)  # fmt: skip
PLAN = {
    "type": "object",
    "properties": {
        "title": text(), "steps": listed(text()), "result": ANYTHING, "change": nullable("integer"), "dry_run": FLAG,
    },
    "required": ["title", "steps", "result", "change", "dry_run"],
}  # fmt: skip
