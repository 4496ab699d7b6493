"""Fold a session's summary entry by entry, so that a list need not read whole sessions.

The names in `data` are those that claude-agent-sdk 0.2.183 reads when it lists a store (`list_sessions_from_store`);
tests/compat compares this fold with the SDK's own. Every field is either set once or overwritten by the latest value,
so entries that were folded are never read again.

Differences from the SDK: a time without a zone is UTC (the SDK uses the machine's zone), and milliseconds are not
truncated by floating point.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ..format.times import parse_time

FOLD_VERSION: Final = 1
"""Increases when the fold changes; summaries stored on disk are then rebuilt."""

_LATEST: Final = {
    "customTitle": "custom_title",
    "aiTitle": "ai_title",
    "lastPrompt": "last_prompt",
    "summary": "summary_hint",
    "gitBranch": "git_branch",
}
_PROMPT_LENGTH: Final = 200
_COMMAND: Final = re.compile(r"<command-name>(.*?)</command-name>")
_NOTICES: Final = ("<local-command-stdout>", "<session-start-hook>", "<tick>", "<goal>")
_INTERRUPTED: Final = re.compile(r"\[Request interrupted by user[^\]]*\]")
_IDE_NOTICES: Final = ("ide_opened_file", "ide_selection")


def fold(data: Mapping[str, Any], entries: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the summary `data` (empty at first) after some more entries of the session's own transcript."""
    folded = dict(data)
    for entry in entries:
        _fold_one(folded, entry)
    return folded


def _fold_one(data: dict[str, Any], entry: Mapping[str, Any]) -> None:
    data.setdefault("is_sidechain", entry.get("isSidechain") is True)
    if "created_at" not in data:
        moment = entry.get("timestamp")
        seconds = parse_time(moment) if isinstance(moment, str) else None
        if seconds is not None:
            data["created_at"] = round(seconds * 1000)
    if "cwd" not in data and isinstance(entry.get("cwd"), str) and entry["cwd"]:
        data["cwd"] = entry["cwd"]
    if not data.get("first_prompt_locked"):
        _look_for_prompt(data, entry)
    for name, kept_as in _LATEST.items():
        if isinstance(entry.get(name), str):
            data[kept_as] = entry[name]
    if entry.get("type") == "tag":
        if isinstance(entry.get("tag"), str) and entry["tag"]:
            data["tag"] = entry["tag"]
        else:
            data.pop("tag", None)


def _look_for_prompt(data: dict[str, Any], entry: Mapping[str, Any]) -> None:
    """Set the first prompt that a person typed; until there is one, the first slash command stands in."""
    if entry.get("type") != "user" or entry.get("isMeta") is True or entry.get("isCompactSummary") is True:
        return
    for text in _typed_texts(entry.get("message")):
        command = _COMMAND.search(text)
        if command is not None:
            if not data.get("command_fallback"):
                data["command_fallback"] = command[1]
        elif not _is_notice(text):
            cut = text[:_PROMPT_LENGTH].rstrip() + "…" if len(text) > _PROMPT_LENGTH else text
            data.update(first_prompt=cut, first_prompt_locked=True)
            return


def _typed_texts(message: object) -> Iterator[str]:
    """Yield the texts of a message, each on one line; none of a message with a tool result."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    if any(block.get("type") == "tool_result" for block in blocks):
        return
    for block in blocks:
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            text = block["text"].replace("\n", " ").strip()
            if text:
                yield text


def _is_notice(text: str) -> bool:
    """Return whether a text comes from Claude Code or an editor and was not typed."""
    if text.startswith(_NOTICES) or _INTERRUPTED.match(text):
        return True
    return any(text.startswith(f"<{name}>") and text.endswith(f"</{name}>") for name in _IDE_NOTICES)
