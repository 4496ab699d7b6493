"""List the fixes in the order in which they run: first lines, then text, rows, links, and what rows hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ..draft import Draft
from . import lines, messages, tree


class Fix(NamedTuple):
    name: str
    words: str
    apply: Callable[[Draft], int]
    """Works on a draft; gives the number of places that it fixed."""
    on_request: bool = False
    writes_beside: bool = False
    """Whether something goes into another file of the home."""
    parts: bool = False
    """Whether rows leave for another file: then Claude Code gets at fewer of them here, as it should."""
    for_subagents: bool = False
    """Whether it also works on the files of subagents, which no version of Claude Code resumes as a conversation of its own."""
    for_older: bool = False
    """Whether only older versions of Claude Code need it: alone no reason to change a session, unless a rule asks for it."""


FIXES: Final[dict[str, Fix]] = {
    fix.name: fix
    for fix in (
        Fix("lines", "give every object a line of its own", lines.fix_lines, for_subagents=True),
        Fix(
            "one-line",
            "put objects that go over several lines on one line",
            lines.fix_one_line,
            for_subagents=True,
            for_older=True,
        ),
        Fix(
            "text",
            "write text that every version of Claude Code reads",
            lines.fix_text,
            for_subagents=True,
            for_older=True,
        ),
        Fix("copies", "take out exact copies of rows", lines.fix_copies, on_request=True, for_older=True),
        Fix(
            "sessions", "part rows of two sessions", lines.fix_sessions, on_request=True, parts=True, writes_beside=True
        ),
        Fix("identity", "give rows their type and uuid", lines.fix_identity, for_subagents=True),
        Fix("shape", "give messages the shape that all versions know", messages.fix_shape, for_older=True),
        Fix("links", "hang rows on the ones they followed", tree.fix_links, for_subagents=True),
        Fix("bridges", "pass over messages without content", tree.fix_bridges, for_older=True),
        Fix("order", "put rows behind their parents", tree.fix_order, for_older=True),
        Fix("times", "give rows a time", tree.fix_times, for_older=True),
        Fix("results", "pair tool calls and results", messages.fix_results),
        Fix("thinking", "take out thoughts that the API refuses", messages.fix_thinking),
        Fix("images", "put words in place of pictures that are too large", messages.fix_images),
        Fix("blocks", "write unknown blocks as words", messages.fix_blocks, on_request=True),
        Fix("outputs", "move very long results into files", messages.fix_outputs, on_request=True, writes_beside=True),
    )
}

#: A fix that brings rows to light asks for those that connect them.
FOLLOWED_BY: Final[dict[str, tuple[str, ...]]] = {
    "lines": ("text", "identity", "links"),
    "one-line": ("text", "identity", "links"),
    "text": ("links",),
    "identity": ("links",),
    "copies": ("links",),
}


def fixes_for(names: set[str]) -> list[Fix]:
    """Return the named fixes and those that must follow them, in the order in which they run."""
    wanted = set(names)
    for name in names:
        wanted.update(FOLLOWED_BY.get(name, ()))
    return [fix for fix in FIXES.values() if fix.name in wanted]
