"""Write any value of a transcript as JSON that every program can read."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

_UNSEEN: Final = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that a terminal or an editor would act on. JSON allows them in strings; here they are written as escapes."""


def json_text(value: Any) -> str:
    """Write a value as JSON on one line. NaN and infinities become texts, half of a surrogate pair becomes U+FFFD."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"), default=str)
    except RecursionError:
        return '"(nested too deep to be written)"'
    return _UNSEEN.sub(lambda match: f"\\u{ord(match.group()):04x}", whole_text(text))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def whole_text(text: str) -> str:
    """Replace halves of surrogate pairs, which no file in UTF-8 can hold, by U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
