"""Colour code in the languages that are in most sessions, in one pass: comments, strings, numbers, keywords, names of calls.

Pygments knows every language, at half a megabyte per second: it would take most of the time of an export. It colours the rest;
the classes are its own. Line numbers, which Claude Code puts before the lines of a file, are set apart.
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
_SUFFIXES: Final = {
    "py": "python", "pyi": "python", "sh": "bash", "bash": "bash", "zsh": "bash", "rb": "ruby", "yml": "yaml", "yaml": "yaml",
    "toml": "toml", "ini": "ini", "cfg": "ini", "js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "jsx",
    "ts": "typescript", "tsx": "tsx", "c": "c", "h": "c", "cc": "cpp", "cpp": "cpp", "hpp": "cpp", "cs": "csharp",
    "java": "java", "go": "go", "rs": "rust", "kt": "kotlin", "swift": "swift", "php": "php", "css": "css", "scss": "scss",
    "sql": "sql", "lua": "lua", "json": "json", "jsonl": "json", "md": "", "txt": "", "log": "", "lock": "", "csv": "",
}  # fmt: skip
"""Languages by the ending of a file's name; empty for text that has none."""
_CLASSES: Final = {
    "number": "mi", "comment": "c1", "string": "s2", "keyword": "k", "line": "ln", "call": "nf", "key": "nt", "constant": "kc",
}  # fmt: skip


LONGEST: Final = 200_000
"""A longer text is not coloured, in characters."""


def is_known(language: str) -> bool:
    """Return whether code in this language can be coloured here."""
    return language in _MARKS or language == "json"


def language_by_suffix(name: str) -> str | None:
    """Return the language of a file by the ending of its name, empty if it has none; None if the ending is not known here."""
    return _SUFFIXES.get(name.rpartition(".")[2].lower()) if "." in name else None


def colored(text: str, language: str) -> str:
    """Return a text as HTML with colours as classes; without colours if the language is not known."""
    escaped = html.escape(text, quote=False)
    if len(text) > LONGEST or not is_known(language):
        return escaped
    return (_JSON if language == "json" else _pattern(_MARKS[language])).sub(_span, escaped)


def _span(match: re.Match[str]) -> str:
    return f'<span class="hl-{_CLASSES[match.lastgroup or ""]}">{match.group()}</span>'


@cache
def _pattern(mark: str) -> re.Pattern[str]:
    triple = r'"""[\s\S]{0,4000}?"""|' + r"'''[\s\S]{0,4000}?'''|" if mark == "#" else ""
    return re.compile(
        r"(?P<line>^ *\d+(?:→|\t))"
        rf"|(?P<comment>{_COMMENTS[mark]})"
        rf'|(?P<string>{triple}"(?:[^"\\\n]|\\.){{0,200}}"|\'(?:[^\'\\\n]|\\.){{0,200}}\'|`(?:[^`\\]|\\.){{0,200}}`)'
        r"|\b(?:(?P<number>\d[\w.]*)|(?P<keyword>(?:"
        + "|".join(_KEYWORDS.split())
        + r")\b)|(?P<call>[A-Za-z_]\w*)(?=\())",
        re.MULTILINE,
    )


_JSON: Final = re.compile(
    r'(?P<line>^ *\d+→)|(?P<key>"(?:[^"\\\n]|\\.){0,500}"(?=\s*:))|(?P<string>"(?:[^"\\\n]|\\.){0,5000}")'
    r"|(?P<number>-?\b\d[\w.+-]*)|(?P<constant>\b(?:true|false|null)\b)",
    re.MULTILINE,
)
