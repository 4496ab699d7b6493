"""Colour the contents of files that were read, in one pass: comments, strings, numbers, keywords.

Pygments knows every language, at half a megabyte per second: files that a session read would take most of the time of an export.
The classes are those of Pygments. Line numbers, which Claude Code puts before each line, are set apart.
"""

from __future__ import annotations

import html
import re
from functools import cache
from typing import Final

_KEYWORDS: Final = (
    "abstract and as assert async await bool boolean break case catch char class const continue crate def default defer del "
    "delete do double elif else elsif end enum except export extends extern false False final finally float fn for from func "
    "function global go goto if impl implements import in instanceof int interface is lambda let long loop match mod module "
    "move mut namespace new nil None nonlocal not null or package pass private protected pub public raise ref require return "
    "select self short sizeof static string struct super switch then this throw trait true True try type typedef typeof "
    "union unless unsafe until use using var virtual void volatile when where while with yield"
)
_COMMENTS: Final = {
    "#": r"#[^\n]*",
    "//": r"//[^\n]*|/\*[\s\S]{0,4000}?\*/",
    "--": r"--[^\n]*|/\*[\s\S]{0,4000}?\*/",
}
"""Comments and strings have a greatest length: a file full of signs that open and never close would take long otherwise."""
_LANGUAGES: Final = {
    "#": "bash sh zsh fish python python3 cython ruby perl r yaml toml ini make makefile docker cmake elixir julia nix "
         "powershell tcl awk gdscript",
    "//": "c cpp objective-c csharp java javascript js jsx typescript ts tsx go rust kotlin swift scala dart php css scss less "
          "protobuf groovy zig solidity json5 glsl cuda",
    "--": "sql postgres mysql sqlite3 lua haskell ada vhdl elm",
}  # fmt: skip
_MARKS: Final = {language: mark for mark, names in _LANGUAGES.items() for language in names.split()}
_CLASSES: Final = {"number": "mi", "comment": "c1", "string": "s2", "keyword": "k", "line": "ln"}


LONGEST: Final = 200_000
"""A longer text is not coloured, in characters."""


def is_known(language: str) -> bool:
    """Return whether files in this language can be coloured here."""
    return language in _MARKS


def colored(text: str, language: str) -> str:
    """Return a text as HTML with colours as classes; without colours if the language is not known."""
    escaped = html.escape(text, quote=False)
    mark = _MARKS.get(language)
    return escaped if mark is None or len(text) > LONGEST else _pattern(mark).sub(_span, escaped)


def _span(match: re.Match[str]) -> str:
    return f'<span class="hl-{_CLASSES[match.lastgroup or ""]}">{match.group()}</span>'


@cache
def _pattern(mark: str) -> re.Pattern[str]:
    triple = r'"""[\s\S]{0,4000}?"""|' + r"'''[\s\S]{0,4000}?'''|" if mark == "#" else ""
    return re.compile(
        r"(?P<line>^ *\d+(?:→|\t))"
        rf"|(?P<comment>{_COMMENTS[mark]})"
        rf'|(?P<string>{triple}"(?:[^"\\\n]|\\.){{0,500}}"|\'(?:[^\'\\\n]|\\.){{0,500}}\'|`(?:[^`\\]|\\.){{0,500}}`)'
        r"|\b(?:(?P<number>\d[\w.]*)|(?P<keyword>(?:" + "|".join(_KEYWORDS.split()) + r")\b))",
        re.MULTILINE,
    )
