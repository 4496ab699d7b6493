"""Normalise the names of models: as written by the API, Bedrock or Vertex, with and without a date."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

#: Bedrock: an ARN up to its last part, then any region.
_ARN: Final = re.compile(r"^arn:aws[a-z-]*:bedrock:[^/]*/")
_BEFORE: Final = re.compile(r"^(?:[a-z]{2,6}(?:-[a-z]+)?\.)?anthropic[./]")
_AFTER: Final = re.compile(
    r"(?:\[1m\]|(?<!claude)(?<!instant)-v\d+(?::\d+)?|:\d+k|[@-]\d{8}|-\d{4}-\d\d-\d\d|-latest)$"
)
_VERSION_FIRST: Final = re.compile(r"^claude-(?P<version>\d+(?:-\d+)?)-(?P<family>[a-z]+)$")
_NOUGHT: Final = re.compile(r"^(claude-(?:[a-z]+-)?\d+)-0$")
#: Minor versions of the first models, at the same price. Instant 1.2 has a name of its own.
_FIRST: Final = re.compile(r"^(claude-(?:instant-)?1)-(?:[013-9])$|^(claude-1)-2$")


@lru_cache(maxsize=512)
def plain_name(model: str) -> str:
    """Return ``claude-opus-4-5`` for ``us.anthropic.claude-opus-4-5-20251101-v1:0``; names of other models stay."""
    name = _BEFORE.sub("", _ARN.sub("", model.strip().lower()))
    before = None
    while before != name:
        before = name
        name = _AFTER.sub("", name)
    if not name.startswith("claude"):
        return model.strip()
    name = name.replace(".", "-").replace(":", "-").replace("claude-v", "claude-").replace("instant-v", "instant-")
    found = _VERSION_FIRST.match(name)
    if found is not None:
        name = f"claude-{found['family']}-{found['version']}"
    return _FIRST.sub(r"\1\2", _NOUGHT.sub(r"\1", name))


def short_name(model: str) -> str:
    """Return a model's name for a narrow column: ``opus-4-5``."""
    return plain_name(model).removeprefix("claude-")
