"""What lines say of their session is the same for whoever reads them: a list, the index, a watch."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from recollect.format.entries import decode_entry, decode_graph_entry
from recollect.format.worded_entry import decode_index_entry
from recollect.store.summary import project_of, prompt_of, repository_for, state_of, title_of

LINES: list[tuple[dict[str, Any], tuple[str, str | None] | None]] = [
    ({"type": "custom-title", "customTitle": "Mine"}, ("custom_title", "Mine")),
    ({"type": "custom-title", "customTitle": ""}, ("custom_title", None)),
    ({"type": "ai-title", "aiTitle": "Its"}, ("ai_title", "Its")),
    ({"type": "summary", "summary": "Old"}, ("old_summary", "Old")),
    ({"type": "summary", "summary": ""}, None),
    ({"type": "tag", "tag": "a"}, ("tag", "a")),
    ({"type": "tag", "tag": ""}, ("tag", None)),
    ({"type": "last-prompt", "lastPrompt": "go"}, ("last_prompt", "go")),
    ({"type": "last-prompt"}, None),
    ({"type": "relocated", "relocatedCwd": "/b"}, ("relocated", "/b")),
    ({"type": "user", "customTitle": "no title"}, None),
    ({"customTitle": "no type"}, None),
]
RARE: list[tuple[dict[str, Any], tuple[str, str | None] | None]] = [
    ({"type": "agent-name", "agentName": "Bo"}, ("subagent_name", "Bo")),
    ({"type": "pr-link", "prUrl": "http://x/1"}, ("pr_url", "http://x/1")),
    ({"type": "worktree-state", "worktreeSession": {"originalCwd": "/r"}}, ("worktree_of", "/r")),
    ({"type": "worktree-state", "worktreeSession": None}, ("worktree_of", None)),
]


@pytest.mark.parametrize("decode", [decode_entry, decode_index_entry, decode_graph_entry])
@pytest.mark.parametrize(("line", "fact"), LINES)
def test_what_a_line_says_is_the_same_in_every_view(line: dict[str, Any], fact: object, decode: Any) -> None:
    assert state_of(decode(json.dumps(line).encode())) == fact


@pytest.mark.parametrize("decode", [decode_entry, decode_index_entry])
@pytest.mark.parametrize(("line", "fact"), RARE)
def test_rare_lines(line: dict[str, Any], fact: object, decode: Any) -> None:
    assert state_of(decode(json.dumps(line).encode())) == fact


def test_a_view_without_the_member_says_nothing_of_it() -> None:
    assert state_of(decode_graph_entry(b'{"type":"worktree-state","worktreeSession":{}}')) == ("worktree_of", None)


@pytest.mark.parametrize(
    ("facts", "title"),
    [
        (("c", "a", "s", "p"), "c"),
        ((None, "a", "s", "p"), "a"),
        ((None, None, "s", "p"), "s"),
        ((None, None, None, "two\nlines  here"), "two lines here"),
        ((None, "", None, None), None),
    ],
)
def test_which_title_counts(facts: tuple[str | None, ...], title: str | None) -> None:
    names = ("custom_title", "ai_title", "old_summary", "first_prompt")
    assert title_of(SimpleNamespace(**dict(zip(names, facts, strict=True)))) == title


def test_the_project_is_where_it_was_moved_to_then_what_fits_the_folder_then_the_first() -> None:
    assert project_of("/moved", ["/a", "/w/app"], "-w-app") == "/moved"
    assert project_of(None, ["/a", "/w/app"], "-w-app") == "/w/app"
    assert project_of(None, ["/a", "/b"], "-w-app") == "/a"
    assert project_of(None, [], "-w-app") is None


def test_a_worktree_of_the_project_itself_is_none() -> None:
    assert repository_for("/r", "/r/wt") == "/r"
    assert repository_for("/r", "/r") is None
    assert repository_for(None, "/r/.claude/worktrees/x") == "/r"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("do it", ("do it", None)),
        ([{"type": "text", "text": "do it"}], ("do it", None)),
        ("<command-name>/model</command-name><command-args> opus </command-args>", (None, "/model opus")),
        ("<command-name>/clear</command-name>", (None, "/clear")),
        ("[Request interrupted by user]", (None, None)),
        ("  ", (None, None)),
    ],
)
def test_a_prompt_is_what_was_typed_or_the_command_it_stands_for(
    content: object, found: tuple[str | None, str | None]
) -> None:
    assert prompt_of(content) == found
