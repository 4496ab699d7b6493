"""Describe the JSON interface as data: each endpoint with its parameters and answer. Routes, checks and OpenAPI use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from .. import __version__
from ..errors import QueryError
from ..library import shapes
from ..library.service import Service
from ..library.side_files import TodoItem
from ..library.touched_files import FileRow

Schema = dict[str, Any]
PREFIX = "/api/v1"


@dataclass(frozen=True)
class Parameter:
    name: str
    description: str
    schema: Schema
    place: str = "query"
    needed: bool = False

    @property
    def required(self) -> bool:
        return self.needed or self.place == "path"


@dataclass(frozen=True)
class Endpoint:
    path: str
    summary: str
    answer: Schema
    handle: Callable[[Service, Mapping[str, Any]], Any]
    parameters: tuple[Parameter, ...] = ()
    method: str = "GET"
    body: Schema | None = None
    description: str = ""
    errors: tuple[int, ...] = field(default=())


def text(**more: Any) -> Schema:
    return {"type": "string", **more}


def nullable(kind: str, **more: Any) -> Schema:
    return {"type": [kind, "null"], **more}


def integer(minimum: int = 0, maximum: int | None = None, **more: Any) -> Schema:
    found: Schema = {"type": "integer", "minimum": minimum, **more}
    return found if maximum is None else found | {"maximum": maximum}


def listed(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def record(properties: Mapping[str, Schema], *, extra: bool = False) -> Schema:
    return {
        "type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": extra,
    }  # fmt: skip


def rows_of(items: Schema, **totals: Schema) -> Schema:
    return record({"rows": listed(items), **(totals or {"total": integer()})})


ANYTHING: Schema = {}
TIME = nullable("string", format="date-time")
ERROR = record(
    {
        "error": record(
            {"slug": text(), "message": text(), "hint": nullable("string"), "nearest": listed(text())}, extra=True
        )
    }
)
_WORDS = {
    400: "A parameter or a query that cannot be understood", 401: "Not signed in", 403: "Refused", 404: "Not found",
    405: "Wrong method", 409: "Busy", 413: "Too large", 415: "Wrong kind of body", 421: "Wrong host",
    422: "The data is damaged", 503: "Not available",
}  # fmt: skip


def check(parameter: Parameter, value: str) -> Any:
    """Convert the value of a parameter to the type of its schema. Raises QueryError if it does not match."""
    schema = parameter.schema
    if schema.get("type") == "integer":
        if not value.isascii() or not value.lstrip("-").isdigit() or len(value) > 15:
            raise _bad(parameter, value, "is not a whole number")
        number = int(value)
        if number < schema.get("minimum", number) or number > schema.get("maximum", number):
            raise _bad(parameter, value, f"is not between {schema.get('minimum')} and {schema.get('maximum', 'any')}")
        return number
    if schema.get("type") == "boolean":
        if value not in ("true", "false"):
            raise _bad(parameter, value, "is neither true nor false")
        return value == "true"
    if "enum" in schema and value not in schema["enum"]:
        raise _bad(parameter, value, f"is none of {', '.join(schema['enum'])}")
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 10_000):
        raise _bad(parameter, value, "is too short or too long")
    return value


def _bad(parameter: Parameter, value: str, why: str) -> QueryError:
    return bad_parameter(f"{parameter.name}: {value[:80]!r} {why}", parameter.description)


def bad_parameter(message: str, hint: str | None = None) -> QueryError:
    """Return the error for a parameter or a body that cannot be used."""
    return QueryError(message, hint=hint, slug="bad-parameter")


def check_body(schema: Schema, value: Any) -> dict[str, Any]:
    """Check that a body is an object with the named strings, numbers and flags of the schema, and return it."""
    if not isinstance(value, dict):
        raise bad_parameter("the body must be a JSON object")
    known: dict[str, Schema] = schema["properties"]
    kinds: dict[str, type | tuple[type, ...]] = {"string": str, "boolean": bool, "integer": int}
    for name in schema.get("required", []):
        if name not in value:
            raise bad_parameter(f"{name} is missing")
    for name, item in list(value.items()):
        if name not in known:
            raise bad_parameter(f"{str(name)[:80]!r} is not known here", f"known: {', '.join(known)}")
        kind = known[name]["type"]
        if kind == "integer" and isinstance(item, float) and item.is_integer():
            item = value[name] = int(item)  # 2.0 is a whole number, too
        if not isinstance(item, kinds[kind]) or (kind == "integer" and isinstance(item, bool)):
            raise bad_parameter(f"{name} must be of type {kind}")
        if kind == "integer" and not known[name].get("minimum", item) <= item <= known[name].get("maximum", item):
            raise bad_parameter(f"{name} is out of range")
        if isinstance(item, str) and not known[name].get("minLength", 0) <= len(item) <= known[name].get(
            "maxLength", 10_000
        ):
            raise bad_parameter(f"{name} is too short or too long")
    return value


def document(endpoints: list[Endpoint], shapes: Mapping[str, Schema]) -> Schema:
    """Return the OpenAPI document."""
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        operation: dict[str, Any] = {
            "summary": endpoint.summary,
            "operationId": endpoint.method.lower() + _camel(endpoint.path),
            "parameters": [_parameter(item) for item in endpoint.parameters],
            "responses": {
                "200": {"description": "The answer", "content": {"application/json": {"schema": endpoint.answer}}},
                **{
                    str(code): {"description": _WORDS[code], "content": {"application/json": {"schema": ERROR}}}
                    for code in sorted({400, 401, 421, *endpoint.errors})
                },
            },
        }
        if endpoint.description:
            operation["description"] = endpoint.description
        if endpoint.body is not None:
            operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": endpoint.body}}}
        paths.setdefault(PREFIX + endpoint.path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Recollect",
            "version": __version__,
            "description": "Your history as JSON. Lists hold `rows` and totals; times are UTC; errors are `{error: {slug, "
            "message, hint, nearest}}`. Events come as a stream from `/api/v1/events` and "
            "`/api/v1/sessions/{id}/events`.",
        },
        "security": [{"key": []}, {"cookie": []}],
        "components": {
            "schemas": dict(shapes),
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "recollect-PORT"},
            },
        },
        "paths": paths,
    }


def _parameter(item: Parameter) -> Schema:
    return {
        "name": item.name, "in": item.place, "description": item.description, "required": item.required,
        "schema": item.schema,
    }  # fmt: skip


def _camel(path: str) -> str:
    return "".join(part.strip("{}").replace("-", "_").title().replace("_", "") for part in path.split("/") if part)


# Schemas of the answers of the JSON interface: made from the shapes of the library, and a few of its own.

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
