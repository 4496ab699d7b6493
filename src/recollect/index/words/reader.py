"""Read the word index, and split texts and queries into its words: parts of identifiers, CJK characters.

`getUserName`, `user_name` and `HTTPServer` become get user name, user name, http server. All words are in
lower case, and a CJK character is a word. The fields of the index are described in `word_index`, which writes it.
"""

from __future__ import annotations

import os
import re

import tantivy
from tantivy import DocAddress, Occur, Query, TextAnalyzer

from .entry_words import loads_text

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


class WordReader:
    """A word index opened for reading. Raises ValueError if the folder holds none, or a damaged one."""

    def __init__(self, folder: str) -> None:
        if not os.path.exists(f"{folder}/meta.json"):
            raise ValueError("no word index here")
        self._analyzer = analyzer()
        self._index = tantivy.Index.open(folder)
        self._index.config_reader("manual")
        self._index.register_tokenizer(ANALYZER, self._analyzer)
        self._folder = folder
        self._is_whole: bool | None = None
        self.schema = self._index.schema
        self.searcher = self._index.searcher()

    def refresh(self) -> None:
        """Load what was committed since the index was opened."""
        self._index.reload()
        self._is_whole = None
        self.searcher = self._index.searcher()

    @property
    def is_whole(self) -> bool:
        """Return whether no document was deleted: then the stored document counts of words are exact."""
        if self._is_whole is None:
            import json

            try:
                with open(f"{self._folder}/meta.json", encoding="utf-8") as stream:
                    pieces = json.load(stream)["segments"]
            except (OSError, ValueError, KeyError):
                pieces = []
            nothing_deleted = not any(piece.get("deletes") for piece in pieces)
            self._is_whole = nothing_deleted and sum(piece["max_doc"] for piece in pieces) == self.searcher.num_docs
        return self._is_whole

    def analyze(self, text: str) -> list[str]:
        """Return the words of a text in the form in which the index stores them."""
        return list(self._analyzer.analyze(split_words(text)))

    def tokenize(self, text: str) -> list[tuple[str, int, int]]:
        """Return the words of a text, each with the position of its first character and the one after its last."""
        split = split_words(text)
        places = range(len(text) + 1) if split == text else _places(text, split)
        tokens = self._analyzer.pre_tokenize(split).tokens
        return [(token.text, places[token.char_offset_from], places[token.char_offset_to - 1] + 1) for token in tokens]

    def text_of(self, data: bytes) -> str:
        """Return the text of an entry that was indexed, from the entry's bytes."""
        return loads_text(data)

    def look(self, wanted: Query, limit: int, *, by_date: bool = False) -> tuple[list[tuple[float, DocAddress]], int]:
        """Return the first matching entries, by relevance or newest first, and the number of all matches."""
        result = self.searcher.search(wanted, limit, order_by_field="time" if by_date else None)
        return result.hits, result.count  # type: ignore[attr-defined]  # missing in tantivy's stubs

    def best(self, wanted: Query, limit: int) -> list[tuple[float, DocAddress]]:
        """Return the most relevant entries. The others are not counted, so most of them need not be scored."""
        return self.searcher.search(wanted, limit, count=False).hits

    def since(self, wanted: Query, microseconds: int) -> Query:
        """Restrict a query to entries from this time on."""
        time = Query.range_query(self.schema, "time", tantivy.FieldType.Integer, microseconds, None)
        return Query.boolean_query([(Occur.Must, wanted), (Occur.Must, Query.const_score_query(time, 0.0))])


def _places(text: str, split: str) -> list[int]:
    """Return, for each character of the split text, its position in the original text. Splitting only adds blanks."""
    places: list[int] = []
    at = 0
    for letter in split:
        places.append(at)
        if at < len(text) and letter == text[at]:
            at += 1
    return places
