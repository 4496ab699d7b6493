"""Extract the searchable text of an entry: prompts, answers, thinking, tool inputs and outputs, titles, summaries.

Left out: structured copies of results (`toolUseResult`), images and other base64, prompt snapshots, request logs, and
what Claude Code wrote for the model only (`isMeta`). `recollect search --everything` searches those in the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from ...format.entries import REFUSED, decode_loosely
from ...format.worded_entry import IndexBlock, IndexEntry, InnerBlock, decode_index_entry, index_entry_of
from ..catalogue.schema import FLAGS

LONGEST: Final = 100_000
"""Characters of a line that are parsed: half a second of work at most."""
_BREAKS: Final = frozenset("();|&\n")
_PUNCTUATION: Final = frozenset("();<>|&\n")
_HANDED_IN: Final = re.compile(
    r"(<<-?[ \t]*(['\"]?)(\w+)\2[^\n]*\n).*?(?:^[ \t]*\3[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
"""A here-document: its lines are text, not commands."""
_COMMENT_LINE: Final = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_AHEAD: Final = frozenset(
    {"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "sudo", "env", "command"}
)
"""Words after which a command begins."""
_SETTING: Final = re.compile(r"\w+=")
_GIT_TAKES_VALUE: Final = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})
"""Options of git before its subcommand that take the next word as their value."""
_MAKES_NONE: Final = frozenset({"--dry-run", "--short", "--porcelain", "--long", "--help", "-h"})
"""Options with which `git commit` makes no commit, only prints something."""


def commands_of(line: str) -> Iterator[list[str]]:
    """Yield the words of each command; of a line that is cut off or wrongly quoted, those before that place."""
    text = _COMMENT_LINE.sub("", _HANDED_IN.sub(r"\1", line.replace("\\\n", " ")))
    import shlex

    lexer = shlex.shlex(text, posix=True, punctuation_chars="".join(_PUNCTUATION))
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    commented = False
    try:
        for word in lexer:
            if _PUNCTUATION.issuperset(word):
                commented = commented and "\n" not in word
                if not _BREAKS.isdisjoint(word):
                    yield words
                    words = []
            elif commented or word.startswith("#"):
                commented = True
            else:
                words.append(word)
    except ValueError:  # a quote that is not closed
        pass
    yield words


def makes_commit(line: str) -> bool:
    """Return whether a shell line runs a `git commit` that makes a commit. Parses the first 100,000 characters only."""
    return "commit" in line and any(map(_is_commit, commands_of(line[:LONGEST])))


def _is_commit(words: list[str]) -> bool:
    rest = iter(words)
    first = next((word for word in rest if word not in _AHEAD and _SETTING.match(word) is None), "")
    if first != "git" and not first.endswith("/git"):
        return False
    for word in rest:
        if word in _GIT_TAKES_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            return word == "commit" and _MAKES_NONE.isdisjoint(rest)
    return False


TEXT_LIMIT: Final = 8 << 20
"""Characters of an entry's text that are indexed; a longer text is found by its beginning only."""
TARGET_LIMIT: Final = 200
SHELL: Final = "Bash"
"""The tool whose commands may make commits."""

_CODE: Final = FLAGS["code"]
_IMAGE: Final = FLAGS["image"]
_ERROR: Final = FLAGS["error"]
_THINKING: Final = FLAGS["thinking"]
_TOOL_USE: Final = FLAGS["tool_use"]
_TOOL_RESULT: Final = FLAGS["tool_result"]

#: Arguments that name the file that a tool call is about, best first.
_FILE_ARGUMENTS: Final = ("file_path", "notebook_path", "path")
_OTHER_ARGUMENTS: Final = (
    "command", "pattern", "query", "url", "description", "skill", "name", "subject", "prompt", "plan", "task_id",
)  # fmt: skip
#: Entry types that hold a title, with the field that holds it.
_TITLES: Final = {
    "custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary", "tag": "tag", "agent-name": "agentName",
}  # fmt: skip


class ToolUse(msgspec.Struct, gc=False):
    """A tool call on an entry."""

    id: str
    name: str
    target: str | None
    input_bytes: int
    subagent_kind: str | None
    commits: int | None = None


class ToolResult(msgspec.Struct, gc=False):
    id: str
    is_error: bool
    output_bytes: int


class EntryWords(msgspec.Struct):
    """The texts of an entry, with its role, flags, file paths, tool calls and tool results."""

    parts: list[str]
    role: str | None = None
    flags: int = 0
    paths: list[str] = []
    uses: list[ToolUse] = []
    results: list[ToolResult] = []

    @property
    def text(self) -> str:
        text = "\n".join(self.parts)
        return text[:TEXT_LIMIT] if len(text) > TEXT_LIMIT else text


def searched_text(data: bytes) -> str:
    """Return the searchable text of an entry, from its bytes; empty if it has none."""
    try:
        return words_of(decode_index_entry(data)).text
    except REFUSED:
        from ...format.decode import parse_as
        from ...format.line import RawLine

        found = parse_as([RawLine(data, 0, 1)], [], decode_index_entry, index_entry_of)
        return "\n".join(words_of(clean_entry(item.entry)).text for item in found)


def all_strings(data: bytes) -> str:
    """Join all strings of an entry, which is what `everything` searches. Long strings of base64 are left out."""
    found: list[str] = []
    add_strings(found, decode_loosely(data))
    return "\n".join(text for text in found if len(text) < 4096 or " " in text[:4096] or "\n" in text[:4096])


def words_of(entry: IndexEntry) -> EntryWords:
    """Return the texts of an entry, its role, and the tool calls and results on it."""
    kind = entry.type
    if kind == "assistant" or kind == "user":
        return _message_words(entry, kind)
    if kind == "system":
        words = EntryWords([], "system")
        _add_raw(words, entry.content)
        if entry.subtype == "api_error":
            words.flags |= _ERROR
        return words
    if kind == "attachment":
        words = EntryWords([])
        part = entry.attachment
        if part is not None and part.type == "queued_command":  # a prompt typed while Claude Code was busy
            words.role = "user"
            _add_raw(words, part.prompt)
        return words
    title = _TITLES.get(kind or "")
    if title is not None:
        text = getattr(entry, title)
        return EntryWords([text] if text else [], "title")
    return EntryWords([])


def _message_words(entry: IndexEntry, kind: str) -> EntryWords:
    words = EntryWords([], kind)
    message = entry.message
    if message is None:
        return words
    content = message.content
    if isinstance(content, str):
        words.parts.append(content)
    elif content is not None:
        for block in content:
            _add_block(words, block)
    if kind == "user":
        if words.results:
            words.role = "tool"
            result = entry.toolUseResult
            path = getattr(result, "filePath", None)
            if isinstance(path, str):
                words.paths.append(path)
        elif entry.isCompactSummary:
            words.role = "summary"
        elif entry.isMeta:
            words.role = "meta"
            words.parts = []
    if entry.isApiErrorMessage:
        words.flags |= _ERROR
    for part in words.parts:
        if "```" in part:
            words.flags |= _CODE
            break
    return words


def _add_block(words: EntryWords, block: IndexBlock) -> None:
    kind = block.type
    if kind == "text":
        if block.text:
            words.parts.append(block.text)
    elif kind == "thinking":
        words.flags |= _THINKING
        if block.thinking:
            words.parts.append(block.thinking)
    elif kind == "tool_use" or kind == "server_tool_use" or kind == "mcp_tool_use":
        _add_tool_use(words, block)
    elif kind == "tool_result" or kind == "mcp_tool_result":
        _add_tool_result(words, block)
    elif kind == "image" or kind == "document":
        words.flags |= _IMAGE
    elif kind == "redacted_thinking":
        words.flags |= _THINKING
    elif block.text:
        words.parts.append(block.text)


def _add_tool_use(words: EntryWords, block: IndexBlock) -> None:
    words.flags |= _TOOL_USE
    arguments = block.input
    before = len(words.parts)
    target = subagent_kind = None
    if isinstance(arguments, dict):
        for name in _FILE_ARGUMENTS:
            value = arguments.get(name)
            if isinstance(value, str) and value:
                words.paths.append(value)
                target = target or value
        if target is None:
            target = next((v for name in _OTHER_ARGUMENTS if isinstance(v := arguments.get(name), str) and v), None)
        kind = arguments.get("subagent_type")
        if isinstance(kind, str):
            subagent_kind = kind
            described = arguments.get("description")
            target = described if isinstance(described, str) else target
    add_strings(words.parts, arguments)
    if block.id is not None:
        size = sum(len(part) for part in words.parts[before:])
        short = target[:TARGET_LIMIT] if target else None
        commits = 1 if block.name == SHELL and target and makes_commit(target) else None
        words.uses.append(ToolUse(block.id, block.name or "", short, size, subagent_kind, commits))


def _add_tool_result(words: EntryWords, block: IndexBlock) -> None:
    words.flags |= _TOOL_RESULT
    if block.is_error:
        words.flags |= _ERROR
    content = block.content
    size = 0
    if isinstance(content, str):
        words.parts.append(content)
        size = len(content)
    elif isinstance(content, list):
        for part in content:
            size += _add_inner(words, part)
    elif isinstance(content, dict):
        add_strings(words.parts, content)
    if block.tool_use_id is not None:
        words.results.append(ToolResult(block.tool_use_id, block.is_error is True, size))


def _add_inner(words: EntryWords, part: InnerBlock) -> int:
    if part.type == "image":
        words.flags |= _IMAGE
    if part.text:
        words.parts.append(part.text)
        return len(part.text)
    return 0


def add_strings(parts: list[str], value: Any) -> None:
    """Append all strings in a JSON value of any shape, in order. Not recursive: arguments may be nested deeply."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if item:
                parts.append(item)
        elif isinstance(item, dict):
            waiting.extend(reversed(item.values()))
        elif isinstance(item, list):
            waiting.extend(reversed(item))


def _add_raw(words: EntryWords, raw: msgspec.Raw) -> None:
    """Append the texts of a content that is a string or a list of blocks."""
    value = decode_loosely(raw)
    if isinstance(value, str):
        words.parts.append(value)
    elif isinstance(value, list):
        for block in value:
            if isinstance(block, dict) and block.get("type") in ("image", "document"):
                words.flags |= _IMAGE
            elif isinstance(block, dict) and isinstance(block.get("text"), str):
                words.parts.append(block["text"])
            elif isinstance(block, str):
                words.parts.append(block)


def lines_changed(entry: IndexEntry) -> tuple[str, bool, int, int] | None:
    """Return (file, whether it is new, lines added, lines removed) if a tool result reports a changed file."""
    result = entry.toolUseResult
    path = getattr(result, "filePath", None)
    patch = getattr(result, "structuredPatch", None)
    if result is None or path is None or not patch:
        return None
    hunks = decode_loosely(patch)
    if not isinstance(hunks, list):
        return None
    added = removed = 0
    for hunk in hunks:
        lines = hunk.get("lines") if isinstance(hunk, dict) else None
        for line in lines if isinstance(lines, list) else ():
            if isinstance(line, str):
                added += line.startswith("+")
                removed += line.startswith("-")
    created = getattr(result, "type", None) == "create"
    if created and not hunks:
        content = decode_loosely(getattr(result, "content", b""))
        added = content.count("\n") + (not content.endswith("\n")) if isinstance(content, str) and content else 0
    return path, created, added, removed


def clean(text: str | None) -> str | None:
    """Make a text storable: replace lone surrogates with U+FFFD, as Claude Code shows them."""
    if text is None or text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean_entry(value: Any) -> Any:
    """Make all texts of a salvaged entry storable (see `clean`)."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            setattr(value, name, clean_entry(getattr(value, name)))
    elif isinstance(value, list):
        return [clean_entry(item) for item in value]
    elif isinstance(value, dict):
        return {clean_entry(key): clean_entry(item) for key, item in value.items()}
    return value
