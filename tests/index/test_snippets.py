"""Snippets: the piece that shows most, on one line, with marks that are exact."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.index.search_scene import Scene

from recollect.index.search import results
from recollect.index.search.results import Needle, cut, find_needles, joined, lowered
from recollect.index.words.reader import split_words


def simple(text: str) -> list[tuple[str, int, int]]:
    return [(match[0].lower(), match.start(), match.end()) for match in re.finditer(r"[^\W_]+", text)]


def parted(text: str) -> list[tuple[str, int, int]]:
    """As the word index does it: `abAb` are two, and every CJK character is one."""
    split = split_words(text)
    places = []
    at = 0
    for letter in split:
        places.append(at)
        at += at < len(text) and letter == text[at]
    found = re.finditer(r"[^\W_]+", split)
    return [(match[0].lower(), places[match.start()], places[match.end() - 1] + 1) for match in found]


def marks_of(text: str, *needles: Needle) -> list[str]:
    return [text[start:end] for start, end in find_needles(text, needles, simple)]


def test_needles_are_whole_tokens() -> None:
    assert marks_of("user superuser users User USER", Needle(["user"])) == ["user", "User", "USER"]
    assert marks_of("user superuser users", Needle(["user"], prefix=True)) == ["user", "users"]


def test_the_beginning_of_a_part_of_a_word_is_marked_to_the_parts_end(tmp_path: Path) -> None:
    reader = Scene(tmp_path).words
    text = "configUser re_config config2 reconfigure CONFIGURE"
    spans = find_needles(text, [Needle(["conf"], prefix=True)], reader.tokenize)
    assert [text[start:end] for start, end in spans] == ["config", "config", "config2", "CONFIGURE"]


def test_phrases_go_over_signs_and_lines() -> None:
    assert marks_of("a connection\n  refused, connection -- lost", Needle(["connection", "refused"])) == [
        "connection\n  refused"
    ]


def test_a_text_without_the_words_has_no_marks() -> None:
    assert marks_of("nothing here", Needle(["words"])) == []
    assert marks_of("", Needle(["words"])) == []


def test_lower_case_keeps_places() -> None:
    text = "İstanbul İS user"
    assert len(lowered(text)) == len(text)
    assert marks_of(text, Needle(["user"])) == ["user"]


def test_the_window_is_where_most_words_are() -> None:
    text = "cats alone. " + "filler " * 100 + "cats and dogs and birds together " + "filler " * 100
    snippet = cut(text, find_needles(text, [Needle(["cats"]), Needle(["dogs"]), Needle(["birds"])], simple))
    assert [snippet.text[a:b] for a, b in snippet.marks] == ["cats", "dogs", "birds"]
    assert snippet.text.startswith("…")
    assert snippet.text.endswith("…")
    assert len(snippet.text) <= 210


def test_white_space_is_folded_and_marks_follow() -> None:
    text = "one\n\n\n  two\tthree\n"
    snippet = cut(text, find_needles(text, [Needle(["two"]), Needle(["three"])], simple))
    assert snippet.text.rstrip() == "one two three"
    assert [snippet.text[a:b] for a, b in snippet.marks] == ["two", "three"]


def test_without_places_the_beginning_is_shown() -> None:
    assert cut("short", []).text == "short"
    assert cut("word " * 200, []).text.startswith("word word")
    assert cut("", []).text == ""


def test_a_giant_match_is_cut() -> None:
    text = "x" * 100_000
    assert len(cut(text, [(0, len(text))]).text) < 1_000


def test_pieces_are_the_text() -> None:
    snippet = cut("one two three", [(4, 7)])
    assert list(snippet.pieces()) == [("one ", False), ("two", True), (" three", False)]


@given(st.text(max_size=600), st.lists(st.tuples(st.integers(0, 600), st.integers(0, 40)), max_size=6))
def test_any_places_in_any_text(text: str, places: list[tuple[int, int]]) -> None:
    spans = joined(
        [(start, min(start + length, len(text))) for start, length in places if start < len(text) and length]
    )
    snippet = cut(text, spans)
    assert "".join(piece for piece, _ in snippet.pieces()) == snippet.text
    assert "\n" not in snippet.text
    at = 0
    for start, end in snippet.marks:
        assert at <= start < end <= len(snippet.text)
        at = end


@given(st.text(alphabet="ab AB_-1語é.", max_size=40), st.sampled_from(["a", "ab", "b1", "語", "é"]))
def test_single_words_are_found_as_a_closer_look_finds_them(text: str, word: str) -> None:
    lower = lowered(text)
    needle = Needle([word])
    closer = []
    at = lower.find(word)
    while at >= 0:
        end = results._end_of_match(text, lower, at, needle, parted)
        if end is not None:
            closer.append((at, end))
        at = lower.find(word, max(end or 0, at + 1))
    assert results._places(text, lower, needle, parted, 100) == closer
