"""Encode JSON as Claude Code writes it: compact, Unicode unescaped, a lone surrogate as an escape."""

from __future__ import annotations

import json
import re
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def encode_line(value: Any) -> bytes:
    """Encode one line without its line feed."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text).encode()


def encode_file(value: Any) -> bytes:
    """Encode a whole JSON file, indented as Claude Code does it."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text).encode()
