"""Rebuild a broken global config from its newest intact backup and the members that are still readable in the broken file."""

from __future__ import annotations

import json
from typing import Any

from .json_file import decode_json_file
from .salvage import skim_object


def whole_object(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a file; None where the file is damaged, or the object is empty."""
    file = decode_json_file(data, expect=dict)
    return file.value if file.problem is None and isinstance(file.value, dict) and file.value else None


def still_said(data: bytes) -> dict[str, Any]:
    """Return the members of a broken object whose values are intact."""
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
    """Return the backup updated with the readable members of the broken file.

    Projects are merged one by one, so that no project is lost.
    """
    newer = still_said(broken)
    result = {**backup, **newer}
    old, new = backup.get("projects"), newer.get("projects")
    if isinstance(old, dict) and isinstance(new, dict):
        result["projects"] = {**old, **new}
    return result


def config_bytes(value: dict[str, Any]) -> bytes:
    """Encode a config as Claude Code writes it: indented by two spaces, with plain characters."""
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
