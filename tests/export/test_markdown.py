"""Exported Markdown, rendered: it looks like the conversation, and whatever a transcript holds, it does nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.export.rendered import render

import recollect
from recollect.export.document import Document, ExportOptions
from recollect.export.formats import FORMATS
from recollect.export.harmless_markdown import code, fenced, harmless_html, harmless_line, harmless_markdown
from recollect.export.markdown import PART_BYTES, markdown_text
from recollect.library.session import Session
from recollect.testing import HomeBuilder, uuid_from
from recollect.testing.export_contract import HOSTILE, build_export_home, write_with
from recollect.testing.toolcalls import bash


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_export_home(tmp_path_factory.mktemp("markdown") / "claude")


def session_of(home: Path, name: str) -> Session:
    return recollect.open(home).session(uuid_from("export", name))


@pytest.mark.parametrize("name", ["rich", "hostile", "orphan", "unanswered", "empty"])
@pytest.mark.parametrize("front_matter", [False, True])
def test_nothing_in_it_acts(home: Path, name: str, front_matter: bool) -> None:
    options = ExportOptions(depth="all", branches=True, costs=True, front_matter=front_matter)
    text = markdown_text(Document(session_of(home, name), options))
    page = render(text)
    assert page.wrong == []
    assert page.acted_on == []


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_gets_out_of_its_place(text: str) -> None:
    for written in (
        harmless_markdown(text),
        harmless_markdown(text, hard_breaks=True),
        fenced(text),
        harmless_line(text),
    ):
        page = render(
            f"before\n\n{written}\n\n<details><summary>{harmless_html(text)}</summary>\n\nafter\n\n</details>"
        )
        assert page.wrong == []
        assert page.acted_on == []
        assert page.text[-2][0] == "after" or "after" in page.words


WORDS = st.sampled_from(
    ["@octo", "#12", "GH-7", "!3", "`", "``", "```", "~~~", "*", "**", "_", "[", "](", ")", "](javascript:x)", "<b>",
     "<!--", "-->", "<?x", "&lt;", "&#60;script&#62;", "\\", "|", "\n", "\n\n", "\n    ", "\n> ", "\n- ", "\n1. ", "\n# ",
     "\n===", "\n---", "[[x]]", "%%", "$x$", "https://a.b/c_d", "https://github.com/o/r/pull/1", "www.x.y", "![", "<http://x>",
     "word", " ", "\t", "==", "</details>",
     "\n```mermaid\n", "\n[a]: http://x\n", "[^1]", "\u200b", "é", "\r"]
)  # fmt: skip


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(WORDS, st.text(max_size=5)), max_size=25).map("".join))
def test_no_mix_of_marks_acts(text: str) -> None:
    page = render(
        f"{harmless_markdown(text)}\n\n<details><summary>{harmless_html(text)}</summary>\n\nend\n\n</details>\n\n{code(text)}"
    )
    assert page.wrong == []
    assert page.acted_on == []
    assert any(words == "end" and inside[-2:] == ("details", "p") for words, inside in page.text)


def test_what_it_looks_like_stays() -> None:
    text = "## Plan\n\n- one *two*\n  - `three`\n\n1. a\n2. b\n\n> said\n\n```python\nx = 1\n```\n\n"
    text += "| a | b |\n|---|--:|\n| 1 | 2 |\n\n[a link](https://example.com/a_b?c=d&e=f) ~~gone~~ snake_case_name"
    page = render(harmless_markdown(text, below=2))
    tags = [tag for tag, _ in page.elements]
    assert tags[0] == "h4"
    for tag, count in (
        ("ul", 2),
        ("ol", 1),
        ("blockquote", 1),
        ("pre", 1),
        ("table", 1),
        ("s", 1),
        ("em", 1),
        ("a", 1),
    ):
        assert tags.count(tag) == count, tag
    assert ("a", {"href": "https://example.com/a_b?c=d&e=f"}) in page.elements
    assert "snake_case_name" in page.words
    assert "x = 1" in page.words


def test_what_obsidian_would_follow_or_run_is_broken() -> None:
    written = harmless_markdown(
        "[[wiki]] ![[embed]] %%hidden%% #tag `= this.x` `$= dv.run()` $x$\n\n```dataviewjs\nrun()\n```"
    )
    for mark in ("[[", "%%", "#tag", "`=", "`$=", " $", "dataviewjs"):
        assert mark not in written, mark


def test_a_prompt_keeps_its_lines(home: Path) -> None:
    page = render(harmless_markdown("one\ntwo\n<three>", hard_breaks=True))
    assert [tag for tag, _ in page.elements] == ["p", "br", "br"]
    assert page.words.strip() == "one\ntwo\n<three>"


def test_prompts_answers_calls_and_subagents(home: Path) -> None:
    text = markdown_text(Document(session_of(home, "rich"), ExportOptions(depth="all", branches=True)))
    assert re.search(r"^## You, \d{4}-\d\d-\d\d \d\d:\d\d$", text, re.MULTILINE)
    assert "#### Done" in text  # a heading of an answer, below that of the answer
    page = render(text)
    words = page.words
    for expected in (
        "ls -la", "total 0", "Subagent ", "Nothing there.", "grep -r dot", "Thinking", "It is very small.", "-one", "+two",
        "· error", "· no result", "No result stands in the transcript", "The conversation was compacted here",
        "So far: a dot was found.", "Branch 1", "That was the branch.", "API error", "image/svg+xml", "application/pdf",
    ):  # fmt: skip
        assert expected in words, expected
    assert words.count("grep -r dot") <= 3  # the summary of the call, the command; nothing twice


def test_pictures_lie_beside_the_file(home: Path, tmp_path: Path) -> None:
    session = session_of(home, "rich")
    written = write_with(FORMATS["md"], [session], tmp_path, ExportOptions())
    pictures = [name for name in written.files if name != written.name]
    assert len(pictures) == 1  # the same picture twice
    page = render(written.main.decode())
    sources = [attrs["src"] for tag, attrs in page.elements if tag == "img"]
    assert sources == [pictures[0].replace(" ", "%20")] * 2
    inline = write_with(FORMATS["md"], [session], tmp_path, ExportOptions(pictures="inline"))
    assert list(inline.files) == [inline.name]
    assert b"data:image/png;base64," in inline.main
    none = write_with(FORMATS["md"], [session], tmp_path, ExportOptions(pictures="none"))
    assert b"![" not in none.main
    assert none.main.count(b"left out") >= 2


def test_front_matter_is_what_obsidian_reads(home: Path) -> None:
    text = markdown_text(Document(session_of(home, "rich"), ExportOptions(front_matter=True)))
    head, _, rest = text.removeprefix("---\n").partition("\n---\n")
    facts = dict(line.split(": ", 1) for line in head.splitlines())
    assert list(facts) == ["title", "session", "project", "started", "ended", "model", "messages", "cost", "tags"]
    assert facts["title"].startswith('"')
    assert rest.lstrip().startswith("# ")


def test_what_is_left_out_is_said_at_the_top(home: Path) -> None:
    document = Document(session_of(home, "rich"), ExportOptions(depth="conversation", last=2))
    text = markdown_text(document)
    assert document.left_out
    top = text[: text.index("\n## ")] if "\n## " in text else text[:2000]
    assert "**Left out.**" in top
    for words in document.left_out:
        assert words in top


def test_damage_is_shown_where_it_stands(home: Path) -> None:
    library = recollect.open(home)
    damaged = [
        session for item in library.sessions(count=False) if (session := library.session(item.session_id)).damage
    ]  # fmt: skip
    assert len(damaged) > 10
    for session in damaged:
        assert markdown_text(Document(session)).count("**Damaged line.**") == len(session.damage)


def test_a_long_session_is_split(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    session = home.session("/w/app")
    for number in range(30):
        session.user(f"Question {number}")
        session.call(bash(f"step {number}", "x" * 100_000))
    home.write()
    opened = recollect.open(tmp_path / "claude").session("last")
    written = write_with(FORMATS["md"], [opened], tmp_path, ExportOptions())
    assert len(written.files) == 4
    assert all(len(data) < PART_BYTES + 200_000 for data in written.files.values())
    assert b"goes on in [an export.part-2.md](<an%20export.part-2.md>)" in written.main
    assert b"begins in [an export.md]" in written.files["an export.part-2.md"]
    together = b"".join(written.files.values()).decode()
    assert [int(number) for number in re.findall(r"^Question (\d+)$", together, re.MULTILINE)] == list(range(30))
    single = write_with(FORMATS["md"], [opened], tmp_path, ExportOptions(single=True))
    assert list(single.files) == [single.name]
