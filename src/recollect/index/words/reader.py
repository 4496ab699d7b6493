"""Read the word index, and split texts and queries into its words: parts of identifiers, CJK characters.

`getUserName`, `user_name` and `HTTPServer` become get user name, user name, http server. All words are in
lower case, and a CJK character is a word. The fields of the index are described in `word_index`, which writes it.

The catalogue stores the stamps of the files as the last writer left them. A file with this stamp is trusted; of any other
file the CRC that tantivy put at its end is verified. `meta.json` has no CRC of its own, so the catalogue stores one.
"""

from __future__ import annotations

import json
import os
import re
import zlib

import apsw
import tantivy
from tantivy import DocAddress, Occur, Query, TextAnalyzer

from ...store.opening import file_stamp
from ..catalogue.catalogue import Catalogue

SEAL = "words:files"
WRITING = "words:writing"
MARK = "words_mark"
"""The note with the highest entry id whose words are committed."""
_META = "meta.json"
_MAGIC = 1337
_AT_ONCE = 1 << 20


def check(db: apsw.Connection, folder: str) -> bool:
    """Return whether all files have their stored stamps; False if some do not, but their checksums are right.

    Raises ValueError if a file is damaged or gone.
    """
    noted = db.execute("SELECT value FROM notes WHERE name = ?", (SEAL,)).get
    if not isinstance(noted, str):
        raise ValueError("it was never finished")
    meta_sum, files = json.loads(noted)
    if zlib.crc32(_meta(folder)) != meta_sum:
        raise ValueError(f"{_META} is not what was written")
    is_as_left = True
    for name, stamp in files.items():
        path = f"{folder}/{name}"
        if _stamp(path) != stamp:
            is_as_left = False
            check_sum(path)
    return is_as_left


def begin_writing(catalogue: Catalogue) -> None:
    """Record that a writer is at work, before it changes the first file. The caller holds the lock."""
    with catalogue.transaction():
        catalogue.set_note(WRITING, 1)


def finish_interrupted(catalogue: Catalogue) -> bool:
    """Seal the undamaged files that an interrupted writer left. The caller holds the lock.

    Returns False if no writer was interrupted, or a file is damaged.
    """
    if not catalogue.note(WRITING):
        return False
    folder = str(catalogue.words_folder)
    try:
        json.loads(_meta(folder))
        for name in _names(folder):
            check_sum(f"{folder}/{name}")
    except ValueError:
        return False
    seal(catalogue)
    return True


def seal(catalogue: Catalogue) -> None:
    """Store the stamps of the files in the catalogue. The caller holds the lock, and the writer is closed."""
    folder = str(catalogue.words_folder)
    noted = json.dumps([zlib.crc32(_meta(folder)), {name: _stamp(f"{folder}/{name}") for name in _names(folder)}])
    with catalogue.transaction() as db:
        catalogue.set_note(SEAL, noted)
        db.execute("DELETE FROM notes WHERE name = ?", (WRITING,))


def check_sum(path: str) -> None:
    """Verify the CRC at the end of a file of tantivy. Raises ValueError if the file is damaged or unreadable."""
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            stream.seek(max(size - 8, 0))
            length, magic = (int.from_bytes(stream.read(4), "little") for _ in range(2))
            if size < 8 or magic != _MAGIC or length > size - 8:
                raise ValueError(f"{os.path.basename(path)} is cut")
            stream.seek(size - 8 - length)
            expected = json.loads(stream.read(length))["crc"]
            stream.seek(0)
            left, found = size - 8 - length, 0
            while left and (chunk := stream.read(min(left, _AT_ONCE))):
                found = zlib.crc32(chunk, found)
                left -= len(chunk)
    except (OSError, KeyError, TypeError) as problem:
        raise ValueError(f"{os.path.basename(path)} cannot be read: {problem}") from None
    if left or found != expected:
        raise ValueError(f"{os.path.basename(path)} is not what was written")


def _meta(folder: str) -> bytes:
    try:
        with open(f"{folder}/{_META}", "rb") as stream:
            return stream.read()
    except OSError as problem:
        raise ValueError(f"{_META} cannot be read: {problem.strerror}") from None


def _names(folder: str) -> list[str]:
    """List the files of segments; the other files are locks, and lists that only a writer uses."""
    try:
        return sorted(name for name in os.listdir(folder) if name != _META and not name.startswith("."))
    except OSError as problem:
        raise ValueError(f"the folder cannot be read: {problem.strerror}") from None


def _stamp(path: str) -> list[int] | None:
    try:
        return list(file_stamp(os.stat(path)))
    except OSError:
        return None


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
