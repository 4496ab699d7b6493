"""Parse forms as browsers send them. Other kinds of bodies are refused: a page of another site could send those."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

from ..errors import Refused

MAX_FIELDS = 200


async def read_form(request: Request) -> dict[str, str]:
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Refused("only forms are taken here", slug="wrong-content-type")
    body = await request.body()
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="replace")
    except (ValueError, UnicodeDecodeError) as problem:
        raise Refused("the form cannot be read", slug="wrong-form") from problem
    return {name: value[:100_000] for name, value in pairs}
