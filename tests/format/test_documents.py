"""Markdown with and without front matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.documents import first_heading, parse_document, parse_front_matter


def test_plan() -> None:
    plan = parse_document(b"\n# Move the house  \n\nStep one.\n", "brave-otter.md")
    assert (plan.name, plan.title, plan.fields) == ("brave-otter", "Move the house", {})
    assert plan.text == plan.body == "\n# Move the house  \n\nStep one.\n"


def test_definition() -> None:
    subagent = parse_document(
        b"---\nname: reviewer\ndescription: \"Looks: twice\"\ntools: [Read, 'Bash(git:*)']\n---\n\nYou review.\n",
        "x.md",
    )
    assert (subagent.name, subagent.description) == ("reviewer", "Looks: twice")
    assert subagent.fields["tools"] == ("Read", "Bash(git:*)")
    assert subagent.body == "\nYou review.\n"


def test_a_skill_is_named_after_its_folder() -> None:
    assert parse_document(b"text", "skills/tidy-up/SKILL.md").name == "tidy-up"


def test_front_matter_of_many_forms() -> None:
    fields = parse_front_matter(
        "# a comment\nplain: yes it is\nempty:\nlist:\n  - one\n  - 'two'\nblock: |\n  first\n    deeper\n  last\n"
        "folded: >\n  a\n  b\nurl: https://a.example:80/x\nmulti: begins\n  and goes on\nnested:\n  key: value\n"
    )
    assert fields == {
        "plain": "yes it is",
        "empty": "",
        "list": ("one", "two"),
        "block": "first\n  deeper\nlast",
        "folded": "a b",
        "url": "https://a.example:80/x",
        "multi": "begins and goes on",
        "nested": "  key: value",
    }


@pytest.mark.parametrize("text", ["---\nname: x\nno end", "text\n---\nname: x\n---\n", " ---\nname: x\n---\n"])
def test_no_front_matter(text: str) -> None:
    document = parse_document(text.encode(), "f.md")
    assert document.fields == {}
    assert document.body == text


def test_windows_line_ends_and_bom() -> None:
    document = parse_document(b"\xef\xbb\xbf---\r\nname: win\r\n---\r\n# Title\r\n", "f.md")
    assert (document.name, document.title) == ("win", "Title")


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("```\n# not this\n```\n## This one ##\n", "This one"),
        ("#hashtag\n", None),
        ("####### seven\n", None),
        ("", None),
        ("# \n# Second", None),
    ],
)
def test_headings(text: str, heading: str | None) -> None:
    assert first_heading(text) == heading


def test_invalid_utf8_is_said() -> None:
    assert parse_document(b"# caf\xe9", "f.md").problem == "invalid UTF-8 at byte 5"


@given(st.binary(max_size=100))
def test_no_bytes_raise(data: bytes) -> None:
    assert parse_document(data, "a.md").name is not None


@given(st.text(alphabet="-:#|>[]\"' \nab", max_size=60))
def test_no_front_matter_raises(text: str) -> None:
    assert isinstance(parse_document(f"---\n{text}\n---\nbody".encode(), "a.md").fields, dict)
