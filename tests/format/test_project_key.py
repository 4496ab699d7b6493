"""The name of a project's folder."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.path_text import project_key, repository_of, same_project_key


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/home/dev/app", "-home-dev-app"),
        ("/home/dev/with.dot", "-home-dev-with-dot"),
        ("/home/dev/with space", "-home-dev-with-space"),
        ("/home/dev/with_underscore", "-home-dev-with-underscore"),
        ("/home/dev/with-dash", "-home-dev-with-dash"),
        ("/home/dev/.hidden", "-home-dev--hidden"),
        ("/home/dev/UPPER", "-home-dev-UPPER"),
        ("/home/dev/a+b@c,d(e)[f]{g}~!#$%&'=;^`", "-home-dev-a-b-c-d-e--f--g------------"),
        ("/home/dev/Grüße", "-home-dev-Gr--e"),
        ("/home/dev/世界", "-home-dev---"),
        ("/home/dev/emoji-🌍", "-home-dev-emoji---"),
        ("/home/dev/e\u0301", "-home-dev-e-"),
        ("C:\\a", "C--a"),
        ("/", "-"),
    ],
)
def test_every_unit_outside_ascii_letters_and_digits_is_a_dash(path: str, key: str) -> None:
    assert project_key(path) == key


def test_composed_and_decomposed_letters_are_two_folders() -> None:
    assert project_key("/é") != project_key("/e\u0301")


def test_different_projects_can_share_a_folder() -> None:
    assert project_key("/home/dev/my.app") == project_key("/home/dev/my-app") == project_key("/home/dev/my/app")


#: Computed by the same rule in JavaScript: h = (h << 5) - h + charCodeAt, as a 32-bit integer, its size in base 36.
LONG = {
    "/home/dev/" + "/".join(["d" * 60] * 4): "ba1uc",
    "/home/dev/" + "\N{GRINNING FACE}" * 100: "87cojd",
    "/" + "ä" * 230: "l8c2vl",
    "/x/" + "a" * 198: "ikcxza",
    "/home/dev/zürich/東京 " + "q" * 200: "70nukv",
}


@pytest.mark.parametrize("path", LONG, ids=LONG.values())
def test_a_long_name_is_cut_and_gets_a_hash(path: str) -> None:
    key = project_key(path)
    assert (
        key[:200]
        == "".join(
            letter if letter.isascii() and letter.isalnum() else "-" * (1 + (letter > "\uffff")) for letter in path
        )[:200]
    )
    assert key[200:] == "-" + LONG[path]


def test_two_hundred_characters_are_not_cut() -> None:
    assert project_key("/x/" + "a" * 197) == "-x-" + "a" * 197


def test_long_names_of_other_ages_are_matched_by_their_start() -> None:
    path = "/home/dev/" + "d" * 250
    assert same_project_key(project_key(path), path)
    assert same_project_key("-home-dev-" + "d" * 250, path)  # never cut before 2.1.50
    assert same_project_key(project_key(path)[:200] + "-other1", path)  # another hash in between
    assert not same_project_key("-home-dev-" + "d" * 100, path)


def test_short_names_are_matched_as_a_whole() -> None:
    assert same_project_key("-home-dev-app", "/home/dev/app")
    assert not same_project_key("-home-dev-app2", "/home/dev/app")
    assert not same_project_key("-home-dev-ap", "/home/dev/app")


@given(st.text())
def test_any_path_has_a_short_and_plain_key(path: str) -> None:
    key = project_key(path)
    assert len(key) <= 200 + 1 + 6
    assert all(letter.isascii() and (letter.isalnum() or letter == "-") for letter in key)
    assert same_project_key(key, path)


@pytest.mark.parametrize(
    ("path", "repository"),
    [
        ("/w/app/.claude/worktrees/fix", "/w/app"),
        ("C:\\w\\app\\.claude\\worktrees\\fix\\src", "C:\\w\\app"),
        ("/.claude/worktrees/fix", None),
        ("/w/app", None),
        (None, None),
    ],
)
def test_the_repository_of_a_worktree(path: str | None, repository: str | None) -> None:
    assert repository_of(path) == repository
