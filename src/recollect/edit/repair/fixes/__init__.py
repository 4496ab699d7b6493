"""List the fixes in the order in which they run: first lines, then text, rows, links, and what rows hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ..draft import Draft
from . import (
    blocks,
    bridges,
    copies,
    identity,
    images,
    lines,
    links,
    one_line,
    order,
    outputs,
    results,
    sessions,
    shape,
    text,
    thinking,
    times,
)


class Fix(NamedTuple):
    name: str
    words: str
    mend: Callable[[Draft], int]
    """Works on a draft; gives the number of places that it mended."""
    on_request: bool = False
    writes_beside: bool = False
    """Whether something goes into another file of the home."""
    parts: bool = False
    """Whether rows leave for another file: then the client gets at fewer of them here, as it should."""
    for_subagents: bool = False
    """Whether it also works on the files of subagents, which no client resumes as a conversation of its own."""
    for_older: bool = False
    """Whether only older versions of Claude Code need it: alone no reason to change a session, unless a rule asks for it."""


FIXES: Final[dict[str, Fix]] = {
    fix.name: fix
    for fix in (
        Fix(lines.NAME, lines.WORDS, lines.fix, for_subagents=True),
        Fix(one_line.NAME, one_line.WORDS, one_line.fix, for_subagents=True, for_older=True),
        Fix(text.NAME, text.WORDS, text.fix, for_subagents=True, for_older=True),
        Fix(copies.NAME, copies.WORDS, copies.fix, on_request=True, for_older=True),
        Fix(sessions.NAME, sessions.WORDS, sessions.fix, on_request=True, parts=True, writes_beside=True),
        Fix(identity.NAME, identity.WORDS, identity.fix, for_subagents=True),
        Fix(shape.NAME, shape.WORDS, shape.fix, for_older=True),
        Fix(links.NAME, links.WORDS, links.fix, for_subagents=True),
        Fix(bridges.NAME, bridges.WORDS, bridges.fix, for_older=True),
        Fix(order.NAME, order.WORDS, order.fix, for_older=True),
        Fix(times.NAME, times.WORDS, times.fix, for_older=True),
        Fix(results.NAME, results.WORDS, results.fix),
        Fix(thinking.NAME, thinking.WORDS, thinking.fix),
        Fix(images.NAME, images.WORDS, images.fix),
        Fix(blocks.NAME, blocks.WORDS, blocks.fix, on_request=True),
        Fix(outputs.NAME, outputs.WORDS, outputs.fix, on_request=True, writes_beside=True),
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
