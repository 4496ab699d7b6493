"""The query language: what each form means, and that every mistake is told with its place and an example."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.errors import QueryError
from recollect.index.search.query_language import (
    CHOICES,
    FILTERS,
    All,
    Either,
    Everything,
    Filter,
    Not,
    Part,
    Text,
    exclusions,
    filters,
    parse,
    texts,
)


def word(text: str, *, prefix: bool = False) -> Text:
    return Text(text, prefix=prefix)


def phrase(text: str, *, prefix: bool = False) -> Text:
    return Text(text, prefix=prefix, quoted=True)


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("", ()),
        ("   ", ()),
        ("*", (Everything(0, 1),)),
        ("cats", (word("cats"),)),
        ("cats dogs", (word("cats"), word("dogs"))),
        ("cats AND dogs", (word("cats"), word("dogs"))),
        ('"two words" more', (phrase("two words"), word("more"))),
        ("conf*", (word("conf", prefix=True),)),
        ('"go o"*', (phrase("go o", prefix=True),)),
        ("cats -dogs", (word("cats"), Not(word("dogs")))),
        ("cats NOT dogs", (word("cats"), Not(word("dogs")))),
        ('-"two words"', (Not(phrase("two words")),)),
        ("-tool:Bash", (Not(Filter("tool", ("Bash",))),)),
        ("cats OR dogs", (Either((word("cats"), word("dogs"))),)),
        ("a b OR c", (Either((All((word("a"), word("b"))), word("c"))),)),
        ("a (b OR c) -(d e)", (word("a"), Either((word("b"), word("c"))), Not(All((word("d"), word("e")))))),
        ("this or that", (word("this"), word("or"), word("that"))),
        ("ORDER ANDROID NOTHING", (word("ORDER"), word("ANDROID"), word("NOTHING"))),
        ("project:app role:user", (Filter("project", ("app",)), Filter("role", ("user",)))),
        ("PROJECT:app", (Filter("project", ("app",)),)),
        ('project:"my app"', (Filter("project", ("my app",)),)),
        ("status:(live|subagent)", (Filter("status", ("live", "subagent")),)),
        ("tool:(Bash OR Read)", (Filter("tool", ("Bash", "Read")),)),
        ("after:7d before:2026-03-02", (Filter("after", ("7d",)), Filter("before", ("2026-03-02",)))),
        # Things that people copy from code and logs.
        ("--force", (word("--force"),)),
        ("git commit -m", (word("git"), word("commit"), word("-m"))),
        ("ls -l -a", (word("ls"), word("-l"), word("-a"))),
        ('git commit -m "fix it" -S', (word("git"), word("commit"), word("-m"), phrase("fix it"), word("-S"))),
        (
            "(tar -xf OR rm -rf) x",
            (Either((All((word("tar"), word("-xf"))), All((word("rm"), word("-rf"))))), word("x")),
        ),
        ("head -9", (word("head"), word("-9"))),
        ("find -name", (word("find"), Not(word("name")))),
        ("-m", (Not(word("m")),)),
        ("tool:Bash -m", (Filter("tool", ("Bash",)), Not(word("m")))),
        ("commit NOT m", (word("commit"), Not(word("m")))),
        ("commit AND -m", (word("commit"), Not(word("m")))),
        ("commit OR -m", (Either((word("commit"), Not(word("m")))),)),
        ("deploy -試験", (word("deploy"), Not(word("試験")))),
        ("deploy -a*", (word("deploy"), Not(word("a", prefix=True)))),
        ("deploy -.x", (word("deploy"), Not(word(".x")))),
        ("->", (word("->"),)),
        ("-.env", (Not(word(".env")),)),
        ("std::string", (word("std::string"),)),
        ("https://example.com/x", (word("https://example.com/x"),)),
        ("ValueError: bad", (word("ValueError:"), word("bad"))),
        ("key:value", (word("key:value"),)),
        ("main()", (phrase("main()"),)),
        ("print(x, y) z", (phrase("print(x, y)"), word("z"))),
        ("src/app.py", (word("src/app.py"),)),
        ("*.py", (word("*.py"),)),
        ("日本語", (word("日本語"),)),
    ],
)
def test_forms(query: str, parts: tuple[Part, ...]) -> None:
    assert parse(query) == All(parts)


@pytest.mark.parametrize(
    ("query", "place", "says"),
    [
        ('error in "foo bar', (9, 10), "never closed"),
        ("(cats OR dogs", (0, 1), "never closed"),
        ("cats)", (4, 5), "nothing was opened"),
        ("OR cats", (0, 2), "on its left"),
        ("cats OR", (5, 7), "on its right"),
        ("(cats OR )", (6, 8), "on its right"),
        ("AND cats", (0, 3), "on its left"),
        ("cats - dogs", (5, 6), "right after it"),
        ("cats NOT ", (5, 8), "right after it"),
        ("cats ()", (5, 7), "nothing between"),
        ("get*Name", (3, 4), "at the end of a word"),
        ("role:robot", (5, 10), "one of user, assistant"),
        ("status:gone", (7, 11), "one of live"),
        ("has:music", (4, 9), "one of code"),
        ("project: app", (0, 8), "needs a value"),
        ("after:soon", (6, 10), "not a time"),
        ("before:(7d|8d)", (7, 14), "one moment"),
        ("status:(live", (7, 8), "never closed"),
        ("projct:app", (0, 7), "no filter projct:"),
        ("since:7d", (0, 6), "no filter since:"),
        ("print(x", (5, 6), "never closed"),
        ("(" * 60 + "a", (50, 51), "nested"),
    ],
)
def test_mistakes_have_a_place_and_an_example(query: str, place: tuple[int, int], says: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(query)
    error = caught.value
    assert error.place == place
    assert says in error.message
    assert error.hint is not None
    assert error.hint.startswith("for example: ")
    assert error.exit_code == 7
    shown, carets = error.message.splitlines()[1:3]
    assert carets.strip("^ ") == ""
    assert shown[carets.index("^")] == query[place[0]]


def test_the_caret_stands_below_wide_characters() -> None:
    with pytest.raises(QueryError) as caught:
        parse("日本 role:x")
    shown, carets = caught.value.message.splitlines()[1:3]
    assert shown == "  日本 role:x"
    assert carets.index("^") == 2 + 4 + 1 + 5


def test_a_mistake_far_inside_a_long_query_is_still_seen() -> None:
    with pytest.raises(QueryError) as caught:
        parse("word " * 100 + "role:x")
    shown, carets = caught.value.message.splitlines()[1:3]
    assert len(shown) < 140
    assert shown[carets.index("^")] == "x"


@pytest.mark.parametrize("query", ["a " * 201, "x" * 4_001])
def test_too_much_is_refused(query: str) -> None:
    with pytest.raises(QueryError):
        parse(query)


def test_examples_of_the_filters_are_right() -> None:
    for name, (_, example) in FILTERS.items():
        assert [item.name for item in filters(parse(example))] == [name]
    for name, words in CHOICES.items():
        assert [item.values for item in filters(parse(" ".join(f"{name}:{word}" for word in words)))] == [
            (word,) for word in words
        ]


def test_words_that_must_not_be_there_are_not_looked_for() -> None:
    found = texts(parse('a -beta -(c -delta) "e f" OR tool:x'))
    assert [item.text for item in found] == ["a", "delta", "e f"]


@pytest.mark.parametrize(
    ("query", "excluded", "says"),
    [
        ("git commit -m", (), ["-m was looked for as text; to leave out what has it: NOT m"]),
        ("find -name x", ("-name",), ['left out what fits name; to find -name itself: "find -name"']),
        ("-name", ("-name",), ['left out what fits name; to find -name itself: "-name"']),
        ('a -"dry run"', ('-"dry run"',), ['left out what fits "dry run"; to find -"dry run" itself: "a -dry run"']),
        ("a NOT b", ("NOT b",), ["left out what fits b"]),
        ("a -tool:Bash", ("-tool:Bash",), ["left out what fits tool:Bash"]),
        ("a -(bb OR cc)", ("-(bb OR cc)",), ["left out what fits (bb OR cc)"]),
        ("(a -bbb) OR -ccc", ("-bbb", "-ccc"), [
            'left out what fits bbb; to find -bbb itself: "a -bbb"', 'left out what fits ccc; to find -ccc itself: "-ccc"',
        ]),
        ("a --force -> b", (), []),
        ('"git -m"', (), []),
    ],
)  # fmt: skip
def test_what_is_made_of_a_minus_is_told(query: str, excluded: tuple[str, ...], says: list[str]) -> None:
    assert exclusions(parse(query), query) == (excluded, tuple(says))


@given(st.text(alphabet='ab -()"*:|OR日 NDT\n\troleprojct', max_size=40) | st.text(max_size=40))
def test_any_text_is_understood_or_refused_with_a_place(query: str) -> None:
    place, found = place_or_tree(query)
    if place is not None:
        assert 0 <= place[0] < place[1]
        assert place[0] <= len(query)
    for part in texts(found):
        assert 0 <= part.start < part.end <= len(query)
        assert part.text.strip('"') in query


def place_or_tree(query: str) -> tuple[tuple[int, int] | None, All]:
    try:
        return None, parse(query)
    except QueryError as error:
        return error.place or (-1, -1), All(())
