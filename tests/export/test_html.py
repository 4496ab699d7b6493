"""Sessions as HTML: what is in the file, and how it is held together. How it behaves is in tests/browser."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.export.outputs import export_html

from recollect.export import html, html_messages
from recollect.testing import HomeBuilder
from recollect.testing.toolcalls import bash, edit, read

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def picture(data: bytes = PIXEL, media_type: str = "image/png") -> dict[str, object]:
    source = {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}


def rich_home(root: Path) -> tuple[Path, str]:
    """A session with an edit, a branch, a subagent, a compaction, a picture and a damaged line."""
    home = HomeBuilder(root)
    t = home.session("/work/app", git_branch="main")
    t.user("The first question")
    left = t.assistant("An answer with `code`.\n\n```python\nprint(1)\n```")
    t.user("An abandoned question")
    t.assistant("An abandoned answer")
    t.rewind(left)
    t.user([{"type": "text", "text": "Look at this"}, picture()])
    t.call(bash("make test", "\x1b[31mred\x1b[0m words\n"), "I run it.", thinking="A secret thought")
    t.call(read("/work/app/a.py", "def f():\n    return 1\n"))
    t.call(edit("/work/app/a.py", "a = 1", "a = 2", original="a = 1\n"))
    subagent = t.subagent("Look around", description="Look")
    subagent.finish("Nothing there.")
    t.compact(summary="Half of it is done.")
    t.raw(b'{"type": "user", "torn\n')
    t.user("And on")
    t.assistant("The end")
    t.title("A title & <more>")
    return home.write(), t.session_id


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return rich_home(tmp_path_factory.mktemp("rich") / "claude")


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_comes_first_and_names_style_and_script_by_their_hashes(
    rich: tuple[Path, str], tmp_path: Path
) -> None:
    text = export_html(*rich, tmp_path).text("talk.html")
    policy = re.search(r'<head><meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
    assert policy is not None
    directives = dict(part.strip().split(" ", 1) for part in policy.group(1).replace("&#39;", "'").split(";"))
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert directives == {
        "default-src": "'none'",
        "style-src": hash_of(style),
        "script-src": hash_of(script),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert len(script.encode()) <= 12_000
    assert ' style="' not in text
    assert 'lang="en"' in text


def test_an_empty_session_is_small(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    session = home.session("/work/app")
    session.user("Hello")
    out = export_html(home.write(), session.session_id, tmp_path / "out")
    assert len(out.files["talk.html"]) <= 60_000


def test_everything_of_a_session_is_there(rich: tuple[Path, str], tmp_path: Path) -> None:
    text = export_html(*rich, tmp_path, branches=True, costs=True).text("talk.html")
    assert "<h1>A title &amp; &lt;more&gt;</h1>" in text
    assert 'class="hl-nb">print</span>' in text or 'class="hl-k' in text
    assert '<span class="ansi-red">red</span>' in text
    assert '<span class="hl-k">def</span>' in text  # the file that was read
    assert '<span class="removed">-a = 1' in text
    assert '<span class="added">+a = 2' in text
    assert f'<img src="data:image/png;base64,{base64.b64encode(PIXEL).decode()}"' in text
    assert re.search(r'<details class="subagent">.*Nothing there\..*</details>', text, re.DOTALL)
    assert re.search(r'<details class="branch">.*An abandoned answer.*</details>', text, re.DOTALL)
    assert 'class="seam"' in text
    assert "Damaged line" in text
    assert " in, " in text  # tokens
    assert "A secret thought" not in text
    assert "Left out: " in text
    assert "thinking block" in text
    assert text.count('<ol class="turns">') == 1
    outline = text.partition('<ol class="turns">')[2].partition("</ol>")[0]
    assert re.findall(r'class="words">([^<]*)<', outline) == ["The first question", "Look at this", "And on"]


def test_depths_and_branches_are_chosen(rich: tuple[Path, str], tmp_path: Path) -> None:
    prompts = export_html(*rich, tmp_path / "a", depth="prompts").text("talk.html")
    everything = export_html(*rich, tmp_path / "b", depth="all").text("talk.html")
    assert "The end" not in prompts
    assert "A secret thought" in everything
    assert "An abandoned answer" not in everything
    assert "1 branch" in everything
    assert "tokens" not in everything.partition("<main")[2].partition("Compacted")[0]


def test_the_same_session_gives_the_same_bytes_in_every_zone(rich: tuple[Path, str], tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from tests.export.outputs import export_html; "
        "export_html(pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]), branches=True, costs=True)"
    )
    made = []
    for number, zone in enumerate(("UTC", "Asia/Tokyo")):
        folder = tmp_path / str(number)
        environment = {**os.environ, "TZ": zone, "PYTHONHASHSEED": str(number), "PYTHONPATH": os.pathsep.join(sys.path)}
        subprocess.run([sys.executable, "-c", program, *map(str, (*rich, folder))], env=environment, check=True)
        made.append((folder / "talk.html").read_bytes())
    assert made[0] == made[1]


def many_pictures(root: Path, pictures: list[dict[str, object]]) -> tuple[Path, str]:
    home = HomeBuilder(root)
    t = home.session("/work/app")
    for item in pictures:
        t.user([{"type": "text", "text": "See"}, item])
    return home.write(), t.session_id


def test_large_pictures_are_left_out_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_messages, "PICTURE_LIMIT", 1000)
    monkeypatch.setattr(html_messages, "PICTURES_LIMIT", 1500)
    large, middle = PIXEL + bytes(2000), PIXEL + bytes(600)
    pictures = [picture(large), picture(middle), picture(middle), picture(middle), picture(b"<svg/>", "image/svg+xml")]
    text = export_html(*many_pictures(tmp_path / "claude", pictures), tmp_path / "out").text("talk.html")
    assert text.count("<img ") == 2
    assert text.count("left out, larger than") == 1
    assert text.count("left out, the pictures here are") == 1
    assert "Also left out: " in text
    assert "image/svg+xml" in text


def test_pictures_can_be_files_or_nothing(tmp_path: Path) -> None:
    home = many_pictures(tmp_path / "claude", [picture(), picture(), picture(b"%PDF-1", "application/pdf")])
    out = export_html(*home, tmp_path / "files", pictures="files")
    beside = sorted(name for name in out.files if name != "talk.html")
    assert [Path(name).suffix for name in beside] == [".pdf", ".png"] or [Path(name).suffix for name in beside] == [
        ".png",
        ".pdf",
    ]
    assert all(name.startswith("talk.files/") for name in beside)
    assert f'src="{next(name for name in beside if name.endswith(".png"))}"' in out.text("talk.html")
    assert "img-src data: &#39;self&#39;" in out.text("talk.html")
    none = export_html(*home, tmp_path / "none", pictures="none").text("talk.html")
    assert "<img" not in none
    assert "left out" in none


def long_home(root: Path, prompts: int) -> tuple[Path, str]:
    home = HomeBuilder(root)
    t = home.session("/work/app")
    for number in range(prompts):
        t.user(f"Question {number}")
        t.assistant(f"Answer {number}")
    t.title("Long")
    return home.write(), t.session_id


def test_a_long_session_becomes_a_folder_of_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MOST_MESSAGES", 20)
    monkeypatch.setattr(html, "PAGE_MESSAGES", 10)
    home = long_home(tmp_path / "claude", 15)
    out = export_html(*home, tmp_path / "out")
    assert sorted(out.files) == [
        "talk/index.html", "talk/page-001.html", "talk/page-002.html", "talk/page-003.html", "talk/search-001.js",
    ]  # fmt: skip
    middle = out.text("talk/page-002.html")
    for address in ("page-001.html", "page-003.html", "index.html"):
        assert f'href="{address}"' in middle
    assert "strict-dynamic" not in middle
    first = out.text("talk/index.html")
    assert "&#39;strict-dynamic&#39;" in first
    assert re.search(r'href="page-002.html#m-[0-9a-f-]*"><span class="words">Question 5<', first)
    assert 'data-files="search-001.js"' in first
    assert "page-004" not in out.text("talk/page-003.html")
    assert list(export_html(*home, tmp_path / "single", single=True).files) == ["talk.html"]
    assert list(export_html(*home, tmp_path / "stream", several=False).files) == ["talk.html"]


def test_a_large_session_becomes_a_folder_too_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "LARGEST", 20_000)
    monkeypatch.setattr(html, "PAGE_BYTES", 8_000)
    home = long_home(tmp_path / "claude", 30)
    out = export_html(*home, tmp_path / "out")
    pages = [out.text(name) for name in sorted(out.files) if "/page-" in name]
    assert len(pages) > 3
    said = [words for text in pages for words in re.findall(r"<p>(Question \d+|Answer \d+)</p>", text)]
    assert said == [f"{word} {number}" for number in range(30) for word in ("Question", "Answer")]
    found = out.text("talk/search-001.js")
    assert found.startswith("recollect(")
    assert "Question 29" in found


def test_words_in_a_search_file_cannot_end_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MOST_MESSAGES", 0)
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/work/app")
    t.user("</script><script>alert(1)</script>\u2028 <!-- \ud800")
    out = export_html(home.write(), t.session_id, tmp_path / "out")
    found = out.text("talk/search-001.js")
    assert "<" not in found
    assert "\u2028" not in found


def test_texts_of_any_length_are_cut_only_where_it_is_said(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session("/work/app")
    t.user("word " * 60_000)
    t.call(bash("cat", "line\n" * 300_000))
    out = export_html(home.write(), t.session_id, tmp_path / "out", single=True)
    text = out.text("talk.html")
    assert text.count("word ") >= 60_000
    assert "The result is longer than what is shown" in text
    assert "too long for a page" in text
