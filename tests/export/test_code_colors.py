"""Colours of files that were read: nothing of the text is lost or can act, and hostile files take no long time."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.export.code_colors import LONGEST, colored, is_known


@given(
    st.text(alphabet="ab1 \"'`\\\n/*#-<>&→\t", max_size=200),
    st.sampled_from(["python", "rust", "sql", "no such language"]),
)
def test_the_text_stays_what_it_was(text: str, language: str) -> None:
    made = colored(text, language)
    assert html.unescape(re.sub(r'<span class="hl-[a-z0-9]{1,2}">|</span>', "", made)) == text


def test_keywords_strings_comments_and_line_numbers() -> None:
    made = colored('     1→def f():\n     2→    return "x"  # why\n', "python")
    assert made == (
        '<span class="hl-ln">     1→</span><span class="hl-k">def</span> <span class="hl-nf">f</span>():\n'
        '<span class="hl-ln">     2→</span>    <span class="hl-k">return</span> <span class="hl-s2">"x"</span>'
        '  <span class="hl-c1"># why</span>\n'
    )


@pytest.mark.parametrize(
    ("unit", "language"), [("/*", "rust"), ('"\\', "python"), ("`\\", "js"), ('"""a', "python"), ("a1 ", "sql")]
)
def test_files_full_of_openings_are_read_once_or_not_at_all(unit: str, language: str) -> None:
    text = unit * (LONGEST // len(unit))
    assert html.unescape(re.sub(r"<[^>]*>", "", colored(text, language))) == text
    assert colored(text * 2, language) == html.escape(text * 2, quote=False)


def test_only_some_languages_are_known() -> None:
    assert is_known("python")
    assert not is_known("markdown")
