"""Split texts and queries into words: parts of identifiers, single CJK characters, all in lower case.

`getUserName`, `user_name` and `HTTPServer` become get user name, user name, http server. The module imports little,
because every search needs it at its start.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tantivy import TextAnalyzer

ANALYZER = "words"
LONGEST_WORD = 80

#: A capital letter that begins a part of an identifier: after a small letter, or the last of several before one.
_PART = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")
#: Compiled for the first text that is not ASCII: compiling it takes as long as importing the rest of this module.
_CJK: re.Pattern[str] | None = None
_CJK_CLASS = (
    "[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u30ff\u3105-\u312f"
    "\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff"
    "\uff66-\uffdc\U0001b000-\U0001b16f\U00020000-\U0003134f]"
)


def split_words(text: str) -> str:
    """Insert blanks between the parts of identifiers and around CJK characters, where the tokenizer does not split."""
    text = _PART.sub(_blank_before, text)
    if text.isascii():
        return text
    global _CJK
    if _CJK is None:
        _CJK = re.compile(_CJK_CLASS)
    return _CJK.sub(_blanks_around, text)


def _blank_before(match: re.Match[str]) -> str:  # a third faster than a template, which Python 3.11 expands in Python
    return " " + match[0]


def _blanks_around(match: re.Match[str]) -> str:
    return " " + match[0] + " "


def analyzer() -> TextAnalyzer:
    """Build tantivy's analyzer for texts and queries, which is applied after `split_words`."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    chain = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(LONGEST_WORD)).filter(Filter.lowercase())
    return chain.build()
