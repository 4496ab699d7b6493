"""Which path becomes which, on any system."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.errors import Refused
from recollect.store.path_map import parse_pair, path_map


def test_the_longest_old_path_decides() -> None:
    paths = path_map([("/a", "/x"), ("/a/b", "/y")])
    assert paths.moved("/a/b/c") == "/y/c" and paths.moved("/a/bc") == "/x/bc" and paths.moved("/ab") is None


@pytest.mark.parametrize(
    ("old", "new", "path", "moved"),
    [
        ("/a", "/", "/a", "/"),
        ("/a", "//", "/a/b", "/b"),
        ("/a", "C:/", "/a", "C:\\"),
        ("/a", "C:\\", "/a/b", "C:\\b"),
        ("C:\\", "/mnt/c", "C:\\", "/mnt/c"),
        ("C:\\", "/mnt/c", "C:\\b\\c", "/mnt/c/b/c"),
    ],
)
def test_roots_are_paths_too(old: str, new: str, path: str, moved: str) -> None:
    assert path_map([(old, new)]).moved(path) == moved


@pytest.mark.parametrize(
    ("old", "new", "path", "moved"),
    [
        ("C:\\Users\\ann", "/home/ann", "C:/Users/ann/app", "/home/ann/app"),
        ("C:\\Users\\ann", "/home/ann", "C:/Users\\ann/app\\x", "/home/ann/app/x"),
        ("C:/Users/ann", "/home/ann", "C:\\Users\\ann", "/home/ann"),
        ("c:\\users\\ANN", "/home/ann", "C:\\Users\\ann\\App", "/home/ann/App"),
        ("c:/", "/mnt/c", "C:\\Users", "/mnt/c/Users"),
        ("\\\\SRV\\share", "/srv", "\\\\srv\\share/app", "/srv/app"),
        ("C:\\Users\\ann", "D:\\Ann", "c:/users/ann/App/x", "D:\\Ann\\App\\x"),
        ("C:\\Users\\ann", "D:/Ann", "C:\\Users\\ann\\App\\x", "D:/Ann/App/x"),
        ("/w/ann", "D:/Ann", "/w/ann/a/b", "D:/Ann/a/b"),
        ("C:\\Users\\ann", "/home/ann", "C:\\Users\\anna", None),
        ("C:\\Users\\änn", "/home/ann", "C:\\Users\\Änn", None),
        ("/w/ann", "/w/x", "/w/Ann", None),
        ("/w/ann", "/w/x", "/w\\ann", None),
        ("/w/ann", "/w/x", "/w/ann/a\\b", "/w/x/a\\b"),
    ],
)
def test_windows_takes_two_spellings_for_one_path(old: str, new: str, path: str, moved: str | None) -> None:
    assert path_map([(old, new)]).moved(path) == moved


def test_one_path_in_two_spellings_cannot_become_two() -> None:
    with pytest.raises(Refused):
        path_map([("C:\\Users\\ann", "/home/ann"), ("c:/users/ann", "/home/other")])


def test_a_link_to_the_root_is_not_the_root(tmp_path: Path) -> None:
    link = tmp_path / "all"
    link.symlink_to("/")
    assert path_map([(str(link), "/w")]).moved("/etc") is None


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("/a=/b", ("/a", "/b")),
        ("/a=1=/b=2", ("/a=1", "/b=2")),
        ("C:\\x=/b", ("C:\\x", "/b")),
        ("/a=b", None),
        ("a=/b", None),
        ("/a", None),
    ],
)
def test_pairs_on_the_command_line(text: str, pair: tuple[str, str] | None) -> None:
    if pair is None:
        with pytest.raises(Refused):
            parse_pair(text)
    else:
        assert parse_pair(text) == pair
