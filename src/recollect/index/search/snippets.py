"""Where the words of a query stand in a text, and the piece of it that shows them best.

The word index keeps no text: a snippet is cut from the entry as it is read back from its file. Marks are places in the
snippet's text; how they look is for the faces to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

WIDTH = 200
"""Characters of a snippet."""
_LEAD = 50
"""How many of them at most stand before the first word that was found."""
_ENOUGH = 12
"""Places looked at in one text: a snippet shows three or four."""
_TRIES = 400
_BEGINNING = 16_384
_FIRST_CJK = "\u1100"

Span = tuple[int, int]
#: A text's tokens with the places of their first and last character.
Tokenize = Callable[[str], list[tuple[str, int, int]]]


class Needle:
    """Tokens that stand side by side; of the last one only the beginning where `prefix`."""

    __slots__ = ("_parted", "_pattern", "prefix", "tokens")

    def __init__(self, tokens: Sequence[str], *, prefix: bool = False) -> None:
        self.tokens = tuple(tokens)
        self.prefix = prefix
        self._pattern: re.Pattern[str] | None = None
        self._parted: re.Pattern[str] | None = None

    def plain_end(self, text: str, lower: str, at: int) -> int | None:
        """Where it ends if its tokens are plain words there, parted by blanks or signs; None where they may be parts of words."""
        if len(self.tokens) == 1:
            end = at + len(self.tokens[0])
            return end if _is_one_word(text[at:end]) else None
        if self._parted is None:
            self._parted = re.compile(r"[\W_]+".join(map(re.escape, self.tokens)))
        match = self._parted.match(lower, at)
        return match.end() if match is not None and text[at : match.end()].islower() else None

    def candidate(self, lower: str, start: int) -> int:
        """Where it may stand next in a text of small letters, or -1: signs between tokens do not count, nor do words around."""
        if len(self.tokens) == 1:
            return lower.find(self.tokens[0], start)
        if self._pattern is None:
            self._pattern = re.compile(r"[\W_]*".join(map(re.escape, self.tokens)))
        match = self._pattern.search(lower, start)
        return -1 if match is None else match.start()


class Snippet:
    """A piece of a text on one line. `marks` are the places in `text` that were looked for."""

    __slots__ = ("marks", "text")

    def __init__(self, text: str, marks: tuple[Span, ...] = ()) -> None:
        self.text = text
        self.marks = marks

    def pieces(self) -> Iterable[tuple[str, bool]]:
        """The text in pieces, each with whether it is one of the marks."""
        at = 0
        for start, end in self.marks:
            if start > at:
                yield self.text[at:start], False
            yield self.text[start:end], True
            at = end
        if at < len(self.text):
            yield self.text[at:], False


def lowered(text: str) -> str:
    """In lower case, character by character, so that places stay the same."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def find_needles(text: str, needles: Sequence[Needle], tokenize: Tokenize, enough: int = _ENOUGH) -> list[Span]:
    """Places of the needles in a text, in order, overlapping ones joined. Of a long text only the beginning is looked at,
    if all needles are there."""
    needles = [needle for needle in needles if needle.tokens]
    share = max(enough // max(len(needles), 1), 3)
    for piece in (text[:_BEGINNING], text) if len(text) > _BEGINNING else (text,):
        lower = lowered(piece)
        found = [_places(piece, lower, needle, tokenize, share) for needle in needles]
        if all(found):
            break
    return joined([span for spans in found for span in spans])


def joined(spans: list[Span]) -> list[Span]:
    """In order, without overlaps."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def _places(text: str, lower: str, needle: Needle, tokenize: Tokenize, enough: int) -> list[Span]:
    if len(needle.tokens) == 1 and not needle.prefix:
        return _places_of_word(text, lower, needle, tokenize, enough)
    found: list[Span] = []
    at = needle.candidate(lower, 0)
    tries = 0
    while at >= 0 and len(found) < enough and tries < _TRIES:
        tries += 1
        end = _end_of_match(text, lower, at, needle, tokenize)
        if end is not None:
            found.append((at, end))
        at = needle.candidate(lower, max(end or 0, at + 1))
    return found


def _places_of_word(text: str, lower: str, needle: Needle, tokenize: Tokenize, enough: int) -> list[Span]:
    """The same for a single word: most places are told by the letters around them, without a closer look."""
    word = needle.tokens[0]
    length = len(word)
    found: list[Span] = []
    at = lower.find(word)
    tries = 0
    while at >= 0 and len(found) < enough and tries < _TRIES:
        tries += 1
        end: int | None = at + length
        before = text[at - 1] if at else " "
        if before.isalnum():
            if before < _FIRST_CJK and text[at] < _FIRST_CJK and not text[at].isupper():  # inside of a word
                at = lower.find(word, at + 1)
                continue
            end = _end_of_match(text, lower, at, needle, tokenize)
        elif text[at + length : at + length + 1].isalnum() or not _is_one_word(text[at : at + length]):
            end = _end_of_match(text, lower, at, needle, tokenize)
        if end is not None:
            found.append((at, end))
        at = lower.find(word, max(end or 0, at + 1))
    return found


def _end_of_match(text: str, lower: str, at: int, needle: Needle, tokenize: Tokenize) -> int | None:
    """Where the needle ends, if it begins at `at` as a token and not inside of one."""
    end = needle.plain_end(text, lower, at)
    if end is not None and (at == 0 or not text[at - 1].isalnum()):
        follows = text[end : end + 1]
        if not follows.isalnum():
            return end
        if len(needle.tokens) == 1 and follows < _FIRST_CJK and not follows.isupper():  # the word goes on
            goes_to = _end_of_word(text, end)
            if goes_to is not None or not needle.prefix:
                return goes_to if needle.prefix else None
    end = at + len(needle.tokens[0])
    # Inside of a word only a capital begins a part, or a character that is a word by itself.
    if (
        at > 0
        and text[at - 1].isalnum()
        and text[at - 1] < _FIRST_CJK
        and text[at] < _FIRST_CJK
        and not text[at].isupper()
    ):
        return None
    begin = at
    while begin > 0 and at - begin < 80 and text[begin - 1].isalnum():
        begin -= 1
    reach = end + 40 + sum(len(token) + 8 for token in needle.tokens[1:])
    while reach < len(text) and reach < end + 1_000 and text[reach - 1].isalnum():
        reach += 1
    tokens = tokenize(text[begin:reach])
    for place, (_, start, _) in enumerate(tokens):
        if begin + start == at:
            return _fits(tokens[place : place + len(needle.tokens)], needle, begin)
    return None


def _end_of_word(text: str, at: int) -> int | None:
    """Where a word of small letters ends; None where that is for the tokenizer to say."""
    while at < len(text) and text[at].isalnum():
        if text[at] >= _FIRST_CJK or text[at].isupper():
            return None
        at += 1
    return at


def _is_one_word(text: str) -> bool:
    """In one case, or with a capital first: nothing that falls into parts."""
    return text.islower() or text.isupper() or text[1:].islower()


def _fits(tokens: list[tuple[str, int, int]], needle: Needle, begin: int) -> int | None:
    if len(tokens) < len(needle.tokens):
        return None
    *inner, last = needle.tokens
    if [token for token, _, _ in tokens[:-1]] != inner:
        return None
    token, _, end = tokens[-1]
    return begin + end if token == last or (needle.prefix and token.startswith(last)) else None


def cut(text: str, spans: Sequence[Span], width: int = WIDTH) -> Snippet:
    """The piece of the text that shows most of the places, on one line, with `…` where something is left out."""
    start, end = _window(text, spans, width)
    places = [(max(a, start), min(b, end)) for a, b in spans if a < end and b > start]
    before, after = "…" if start > 0 else "", "…" if end < len(text) else ""
    piece = text[start:end]
    if "  " not in piece and piece.isprintable():  # no white space to fold: places only move
        move = len(before) - start
        return Snippet(f"{before}{piece}{after}", tuple((a + move, b + move) for a, b in places))
    shown = [before] if before else []
    marks: list[Span] = []
    length = len(before)
    at = start
    for a, b in places:
        length = _add_folded(shown, text[at:a], length)
        begin = length
        length = _add_folded(shown, text[a:b], length)
        if length > begin:
            marks.append((begin, length))
        at = b
    _add_folded(shown, text[at:end], length)
    line = "".join(shown)
    line = line[: max(len(line.rstrip()), marks[-1][1] if marks else 0)]
    return Snippet(line + after, tuple(marks))


def _add_folded(shown: list[str], piece: str, length: int) -> int:
    """Add a piece with its white space folded; returns how long the whole is now."""
    if not piece:
        return length
    folded = " ".join(piece.split())
    if piece[0].isspace() and length and not (shown and shown[-1].endswith((" ", "…"))):
        folded = " " + folded
    if piece[-1].isspace() and folded.strip():
        folded += " "
    shown.append(folded)
    return length + len(folded)


def _window(text: str, spans: Sequence[Span], width: int) -> Span:
    """The part to show: where the most places fall into one width, the first such."""
    if not spans:
        return 0, _back_to_blank(text, 0, min(width, len(text)))
    best, most, last = 0, 0, 0
    for number, (first, _) in enumerate(spans):
        while last < len(spans) and spans[last][1] <= first + width - _LEAD:
            last += 1
        if last - number > most:
            best, most = number, last - number
    first = spans[best][0]
    start = max(first - _LEAD, 0)
    if start > 0:
        blank = text.rfind("\n", start, first)  # a snippet that begins with a line of the text reads best
        blank = blank if blank >= 0 else text.find(" ", start, first)
        start = blank + 1 if blank >= 0 else start
    end = min(max(start + width, spans[best][1]), len(text), start + 4 * width)
    return start, _back_to_blank(text, max(start, min(spans[best][1], end)), end)


def _back_to_blank(text: str, least: int, end: int) -> int:
    """Not in the middle of a word, if a blank is near."""
    if end >= len(text):
        return len(text)
    blank = max(text.rfind(" ", least, end), text.rfind("\n", least, end))
    return blank if blank > end - 30 and blank > least else end
