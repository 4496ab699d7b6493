"""Read the Markdown files of a home: plans, memory, CLAUDE.md, and the definitions of commands, subagents and skills.

Definitions and memories begin with front matter between two `---` lines. It is YAML, of which people use very little:
`key: value`, lists, and block texts. Only that much is parsed here; deeper nested values are kept as text.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import msgspec


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A Markdown file. `name` comes from the front matter, else from the file; `title` is the first heading of the body."""

    name: str
    title: str | None = None
    description: str | None = None
    fields: dict[str, str | tuple[str, ...]] = {}
    body: str = ""
    text: str = ""
    problem: str | None = None


def parse_document(data: bytes, file_name: str) -> Document:
    """Read a Markdown file. `file_name` may be a path: a skill's `SKILL.md` is named after its folder."""
    problem = None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        problem = f"invalid UTF-8 at byte {error.start}"
    head, body = split_front_matter(text)
    fields = parse_front_matter(head) if head is not None else {}
    path = PurePosixPath(file_name)
    own_name = path.parent.name if path.name == "SKILL.md" and path.parent.name else path.name.removesuffix(".md")
    return Document(
        name=_text(fields.get("name")) or own_name,
        title=first_heading(body),
        description=_text(fields.get("description")),
        fields=fields,
        body=body,
        text=text,
        problem=problem,
    )


def _text(value: str | tuple[str, ...] | None) -> str | None:
    return ", ".join(value) if isinstance(value, tuple) else value


def first_heading(text: str) -> str | None:
    """Return the text of the first `#` heading outside a code fence."""
    fence = None
    for line in text.split("\n"):
        stripped = line.strip()
        if fence is None and stripped.startswith(("```", "~~~")):
            fence = stripped[:3]
        elif fence is not None and stripped.startswith(fence):
            fence = None
        elif fence is None and line.startswith("#"):
            marks = len(line) - len(line.lstrip("#"))
            if marks <= 6 and line[marks : marks + 1] in (" ", "\t"):
                return line[marks:].strip().rstrip("#").rstrip() or None
    return None


def split_front_matter(text: str) -> tuple[str | None, str]:
    """Return the front matter (None where there is none) and the body."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return None, text
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == "---":
            return "\n".join(lines[1:number]), "\n".join(lines[number + 1 :])
    return None, text


def parse_front_matter(head: str) -> dict[str, str | tuple[str, ...]]:
    """Parse `key: value` lines, `[a, b]` and `- a` lists, and `|` or `>` blocks."""
    fields: dict[str, str | tuple[str, ...]] = {}
    key = None
    block: list[str] = []
    for line in [*head.replace("\r\n", "\n").split("\n"), "end:"]:
        indented = line[:1] in (" ", "\t", "-") or not line.strip()
        name, colon, rest = line.partition(":")
        if indented or line.startswith("#") or not colon:
            block.append(line)
            continue
        if key is not None:
            fields[key] = _value(block)
        key, block = name.strip().strip("\"'"), [rest.strip()]
    return fields


def _value(lines: list[str]) -> str | tuple[str, ...]:
    first, rest = lines[0], lines[1:]
    rest_lines = [line.strip() for line in rest if line.strip() and not line.lstrip().startswith("#")]
    if first[:1] in ("|", ">") and len(first) <= 2:
        shared = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
        joiner = "\n" if first[0] == "|" else " "
        return joiner.join(line[shared:].rstrip() for line in rest).strip()
    if not first and rest_lines and all(line.startswith("-") for line in rest_lines):
        return tuple(_unquoted(line[1:].strip()) for line in rest_lines)
    if first.startswith("[") and first.endswith("]") and not rest_lines:
        return tuple(_unquoted(item.strip()) for item in first[1:-1].split(",") if item.strip())
    if not first:
        return "\n".join(line.rstrip() for line in rest).strip("\n")
    return _unquoted(" ".join([first, *rest_lines]))


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
