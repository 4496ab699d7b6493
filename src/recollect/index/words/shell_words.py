"""Split a shell line into its commands. Quoted text, comments and here-documents are not commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

LONGEST: Final = 100_000
"""Characters of a line that are parsed: half a second of work at most."""
_BREAKS: Final = frozenset("();|&\n")
_PUNCTUATION: Final = frozenset("();<>|&\n")
_HANDED_IN: Final = re.compile(
    r"(<<-?[ \t]*(['\"]?)(\w+)\2[^\n]*\n).*?(?:^[ \t]*\3[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
"""A here-document: its lines are text, not commands."""
_COMMENT_LINE: Final = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
_AHEAD: Final = frozenset(
    {"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "sudo", "env", "command"}
)
"""Words after which a command begins."""
_SETTING: Final = re.compile(r"\w+=")
_GIT_TAKES_VALUE: Final = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"})
"""Options of git before its subcommand that take the next word as their value."""
_MAKES_NONE: Final = frozenset({"--dry-run", "--short", "--porcelain", "--long", "--help", "-h"})
"""Options with which `git commit` makes no commit, only prints something."""


def commands_of(line: str) -> Iterator[list[str]]:
    """Yield the words of each command; of a line that is cut off or wrongly quoted, those before that place."""
    text = _COMMENT_LINE.sub("", _HANDED_IN.sub(r"\1", line.replace("\\\n", " ")))
    lexer = shlex.shlex(text, posix=True, punctuation_chars="".join(_PUNCTUATION))
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    commented = False
    try:
        for word in lexer:
            if _PUNCTUATION.issuperset(word):
                commented = commented and "\n" not in word
                if not _BREAKS.isdisjoint(word):
                    yield words
                    words = []
            elif commented or word.startswith("#"):
                commented = True
            else:
                words.append(word)
    except ValueError:  # a quote that is not closed
        pass
    yield words


def makes_commit(line: str) -> bool:
    """Return whether a shell line runs a `git commit` that makes a commit. Parses the first 100,000 characters only."""
    return "commit" in line and any(map(_is_commit, commands_of(line[:LONGEST])))


def _is_commit(words: list[str]) -> bool:
    rest = iter(words)
    first = next((word for word in rest if word not in _AHEAD and _SETTING.match(word) is None), "")
    if first != "git" and not first.endswith("/git"):
        return False
    for word in rest:
        if word in _GIT_TAKES_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            return word == "commit" and _MAKES_NONE.isdisjoint(rest)
    return False
