"""Words as HTML: nothing of a transcript becomes an element, attribute or address that could act."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.web.payloads import attacked_home, payloads
from tests.web.scene import scene

from recollect.export.rendering import code, language_of, markdown, plain, pretty_json, terminal

HARMLESS = {
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
}
ATTRIBUTES = {"href", "class", "rel", "title", "align", "start"}


class Inspector(HTMLParser):
    """Collects what a browser would make of a text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in HARMLESS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES:
                self.wrong.append(f"{tag} {name}")
            if name == "href" and not re.match(r"(https?://|mailto:)", value or "", re.IGNORECASE):
                self.wrong.append(f"href {value}")
            if name == "class" and not re.fullmatch(r"[a-z0-9 -]*", value or ""):
                self.wrong.append(f"class {value}")

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        self.wrong.append(f"declaration {decl}")

    def handle_pi(self, data: str) -> None:
        self.wrong.append(f"instruction {data}")


class PageInspector(HTMLParser):
    """Looks at whole pages: our own elements are fine, what could act is not."""

    acting = frozenset(
        {
            "iframe",
            "object",
            "embed",
            "base",
            "style",
            "math",
            "template",
            "frame",
            "applet",
            "video",
            "audio",
            "marquee",
        }
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag in self.acting or (tag == "script" and not (found.get("src") or "").startswith("/static/")):
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name.startswith(("on", "hx-on", "data-hx")) or name in ("style", "srcdoc", "formaction"):
                self.wrong.append(f"{tag} {name}")
            if name in ("href", "src", "action", "hx-get", "hx-post", "xlink:href") and not re.match(
                r"/(?!/)|\?|#|https?://|mailto:", value or ""
            ):
                self.wrong.append(f"{tag} {name}={value}")
            if name.startswith("hx-") and name in ("hx-get", "hx-post") and not (value or "").startswith("/"):
                self.wrong.append(f"{tag} {name}={value}")

    def handle_comment(self, data: str) -> None:
        if data != " end of page ":
            self.wrong.append(f"comment {data}")


def wrong_in(text: str) -> list[str]:
    inspector = Inspector()
    inspector.feed(text)
    inspector.close()
    return inspector.wrong


def test_the_inspector_sees_something() -> None:
    assert wrong_in("<script>x</script><a href='javascript:x' onclick=x>y</a><!-- c -->") != []
    assert len(payloads()) >= 300


@pytest.mark.parametrize("render", [markdown, terminal, code, pretty_json, lambda text: code(text, "python")])
def test_no_payload_gets_through(render: object) -> None:
    assert callable(render)
    for text in payloads():
        assert wrong_in(str(render(text))) == [], text


@given(st.text(alphabet=st.sampled_from("<>\"'`&;:/[]()!#*_-\n\t abc=javscript0\x1b\\|~"), max_size=80))
def test_nor_does_anything_made_up(text: str) -> None:
    assert wrong_in(str(markdown(text))) == []
    assert wrong_in(str(terminal(text))) == []
    assert wrong_in(str(code(text, "html"))) == []


def test_markdown_says_what_it_said() -> None:
    text = str(markdown("# Title\n\n**bold** `code` <b>not</b>\n\n| a |\n|---|\n| 1 |\n\n```python\nx = 1\n```\n"))
    for part in (
        "<h3>Title</h3>",
        "<strong>bold</strong>",
        "<code>code</code>",
        "&lt;b&gt;not&lt;/b&gt;",
        "<td>1</td>",
        "hl-",
    ):
        assert part in text


def test_pictures_from_elsewhere_are_links() -> None:
    text = str(markdown("![a](https://example.com/x.png)"))
    assert "<img" not in text
    assert 'href="https://example.com/x.png"' in text
    assert "noreferrer" in text


def test_only_colours_of_a_terminal_survive() -> None:
    assert (
        str(terminal("\x1b[1;31mred\x1b[0m \x1b]0;title\x07\x1b[2Jrest"))
        == '<span class="ansi-bold ansi-red">red</span> rest'
    )
    assert str(terminal("\x1b[38;5;196mx")) == "x"
    assert "\x1b" not in str(terminal("\x1b[999999999999mx\x9b31my"))


def test_what_hides_is_shown() -> None:
    assert plain("a\u202eb\u200b\x07") == "a⟨U+202E⟩b⟨U+200B⟩⟨U+0007⟩"
    assert plain("plain ü 漢\n\t") == "plain ü 漢\n\t"
    plain("\ud800").encode("utf-8")


def test_languages_by_name() -> None:
    assert language_of("/a/b.py") == "python"
    assert language_of("no such thing.zzzz") == ""
    assert "hl-" not in str(code("x" * 100_000, "python"))


def test_long_texts_do_not_take_long(tmp_path: Path) -> None:
    """Nesting without end, tables without end: cut, not followed."""
    for text in (
        ">" * 100_000,
        "[" * 100_000,
        "*a " * 100_000,
        "`" * 100_000,
        "| a " * 100_000 + "\n" + "|--" * 100_000,
        "<" * 100_000,
    ):
        assert wrong_in(str(markdown(text))) == []


def test_every_page_of_an_attacked_home_is_clean(tmp_path: Path) -> None:
    everything, others = attacked_home(tmp_path / "claude")
    script = scene(tmp_path / "claude", tmp_path / "own").script
    paths = ["/", "/sessions", "/sessions?q=<script>", "/changes"]
    for session in (everything, *others):
        paths += [
            f"/sessions/{session}{part}"
            for part in ("", "/files", "/tasks", "/tokens", "/findings", "/raw/0/1", "/find?q=<")
        ]
        pages = int(re.findall(r'data-page="(\d+)"', script.get(f"/sessions/{session}?view=all&page=last").text)[-1])
        paths += [f"/sessions/{session}?view=all&page={page}" for page in range(1, pages + 1)]
    for path in paths:
        answer = script.get(path)
        assert answer.status_code == 200, (path, answer.status_code)
        inspector = PageInspector()
        inspector.feed(answer.text)
        assert inspector.wrong == [], path


def test_tasks_are_signs_and_nothing_to_click() -> None:
    text = str(markdown("- [x] done\n- [ ] to do\n- [y] no task\n\n[x] neither"))
    assert "☑ done" in text
    assert "☐ to do" in text
    assert "[y] no task" in text
    assert "[x] neither" in text
    assert "<input" not in text
