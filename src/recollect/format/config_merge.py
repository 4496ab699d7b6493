"""A broken global config put together again: the newest whole backup, and over it whatever the broken file still says."""

from __future__ import annotations

import json
from typing import Any

from .json_file import decode_json_file
from .salvage import skim_object


def whole_object(data: bytes) -> dict[str, Any] | None:
    """The object that a file holds; None where it is not whole, or empty."""
    file = decode_json_file(data, expect=dict)
    return file.value if file.problem is None and isinstance(file.value, dict) and file.value else None


def still_said(data: bytes) -> dict[str, Any]:
    """The members of a broken object that are whole."""
    start = data.find(b"{")
    if start < 0:
        return {}
    found: dict[str, Any] = {}
    for name, raw in skim_object(data, start).fields.items():
        member = decode_json_file(raw)
        if member.problem is None:
            found[name] = member.value
    return found


def merged(backup: dict[str, Any], broken: bytes) -> dict[str, Any]:
    """The backup with the newer members over it; projects are merged one by one, so that none is lost."""
    newer = still_said(broken)
    result = {**backup, **newer}
    old, new = backup.get("projects"), newer.get("projects")
    if isinstance(old, dict) and isinstance(new, dict):
        result["projects"] = {**old, **new}
    return result


def config_bytes(value: dict[str, Any]) -> bytes:
    """In the layout of the client."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
