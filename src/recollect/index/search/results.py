"""The results of a search: hits with their places, grouped by session, each with the piece of its text that shows it best.

The word index stores no text: a snippet is cut from the entry, which is read back from its file. Marks are positions in
the snippet's text; the faces decide how to display them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

WIDTH = 200
"""Characters of a snippet."""
_LEAD = 50
"""The most characters of a snippet before the first match."""
_ENOUGH = 12
"""Matches that are searched in one text; a snippet shows three or four."""
_TRIES = 400
_BEGINNING = 16_384
_FIRST_CJK = "\u1100"

Span = tuple[int, int]
#: Splits a text into tokens, each with the position of its first character and the one after its last.
Tokenize = Callable[[str], list[tuple[str, int, int]]]


class Needle:
    """Tokens to find side by side; with `prefix`, the last one is only the beginning of a token."""

    __slots__ = ("_parted", "_pattern", "prefix", "tokens")

    def __init__(self, tokens: Sequence[str], *, prefix: bool = False) -> None:
        self.tokens = tuple(tokens)
        self.prefix = prefix
        self._pattern: re.Pattern[str] | None = None
        self._parted: re.Pattern[str] | None = None

    def plain_end(self, text: str, lower: str, at: int) -> int | None:
        """Return the end of a match at `at` if its tokens are plain words, separated by blanks or punctuation.

        Returns None if they may be parts of longer words, which only the tokenizer can decide.
        """
        if len(self.tokens) == 1:
            end = at + len(self.tokens[0])
            return end if _is_one_word(text[at:end]) else None
        if self._parted is None:
            self._parted = re.compile(r"[\W_]+".join(map(re.escape, self.tokens)))
        match = self._parted.match(lower, at)
        return match.end() if match is not None and text[at : match.end()].islower() else None

    def candidate(self, lower: str, start: int) -> int:
        """Return where the next match may begin in a lower-case text, or -1.

        Punctuation between the tokens is ignored, and so is whether a match lies inside a longer word.
        """
        if len(self.tokens) == 1:
            return lower.find(self.tokens[0], start)
        if self._pattern is None:
            self._pattern = re.compile(r"[\W_]*".join(map(re.escape, self.tokens)))
        match = self._pattern.search(lower, start)
        return -1 if match is None else match.start()


@dataclass(slots=True, eq=False)
class Snippet:
    """A piece of a text on one line. `marks` are the positions of the matches in `text`."""

    text: str
    marks: tuple[Span, ...] = ()

    def pieces(self) -> Iterable[tuple[str, bool]]:
        """Yield the text in pieces, each with whether it is a match."""
        at = 0
        for start, end in self.marks:
            if start > at:
                yield self.text[at:start], False
            yield self.text[start:end], True
            at = end
        if at < len(self.text):
            yield self.text[at:], False


def lowered(text: str) -> str:
    """Return a text in lower case, character by character, so that positions stay the same."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def find_needles(text: str, needles: Sequence[Needle], tokenize: Tokenize, enough: int = _ENOUGH) -> list[Span]:
    """Return the positions of the needles in a text, in order, with overlapping ones joined.

    Of a long text only the beginning is searched if it contains all needles.
    """
    needles = [needle for needle in needles if needle.tokens]
    share = max(enough // max(len(needles), 1), 3)
    for piece in (text[:_BEGINNING], text) if len(text) > _BEGINNING else (text,):
        lower = lowered(piece)
        found = [_places(piece, lower, needle, tokenize, share) for needle in needles]
        if all(found):
            break
    return joined([span for spans in found for span in spans])


def joined(spans: list[Span]) -> list[Span]:
    """Sort spans and join overlapping ones."""
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
    """Return the positions of a single word. The letters around most matches decide without the tokenizer."""
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
            if before < _FIRST_CJK and text[at] < _FIRST_CJK and not text[at].isupper():  # inside a longer word
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
    """Return the end of the needle if it begins at `at` with a whole token, not inside one; else None."""
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
    # Inside a word, only a capital letter or a CJK character, which is a word by itself, begins a token.
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
    """Return the end of a word of small letters; None if it has letters that only the tokenizer can split."""
    while at < len(text) and text[at].isalnum():
        if text[at] >= _FIRST_CJK or text[at].isupper():
            return None
        at += 1
    return at


def _is_one_word(text: str) -> bool:
    """Return whether a text is in one case, or only its first letter is a capital: the tokenizer keeps it whole."""
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
    """Cut the piece of a text that shows the most matches, on one line, with `…` for what is left out."""
    start, end = _window(text, spans, width)
    places = [(max(a, start), min(b, end)) for a, b in spans if a < end and b > start]
    before, after = "…" if start > 0 else "", "…" if end < len(text) else ""
    piece = text[start:end]
    if "  " not in piece and piece.isprintable():  # no white space to fold: positions only shift
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
    """Append a piece with its white space folded. Return the new total length."""
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
    """Return the part of a text to show: the first one that holds the most matches within the width."""
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
    """Move an end back to a blank, if one is near, so that no word is cut."""
    if end >= len(text):
        return len(text)
    blank = max(text.rfind(" ", least, end), text.rfind("\n", least, end))
    return blank if blank > end - 30 and blank > least else end


@dataclass(slots=True, eq=False)
class Hit:
    """One entry that matches. `entry_id` is its id in the catalogue; `time` is in seconds since 1970, or None."""

    entry_id: int
    file_id: int
    line: int
    offset: int
    length: int
    uuid: str | None
    role: str | None
    subagent_id: str | None
    time: float | None
    score: float
    snippet: Snippet
    in_subagent_file: bool = False
    """Whether `line` is a line of the subagent's own transcript, not of the session's."""


@dataclass(slots=True, eq=False)
class SessionHits:
    """The best hits of one session and its subagents, best first; `hit_count` counts those that are not listed, too."""

    session_id: str
    title: str | None
    project: str | None
    home: str
    path: str
    modified: float | None
    hits: list[Hit]
    hit_count: int
    reference: str
    """The first eight characters of the id if they are unique, else the whole id."""

    def open_command(self, hit: Hit) -> list[str]:
        """Return the arguments for `recollect` that show the conversation from the hit on."""
        subagent = ["--subagent", hit.subagent_id] if hit.in_subagent_file and hit.subagent_id else []
        return ["show", self.reference, *subagent, "--line", str(hit.line)]


@dataclass(slots=True, eq=False)
class SearchResults:
    """What a search found. `total` counts matching entries; `facets`, on request, by project, tool, model and month."""

    sessions: list[SessionHits]
    total: int
    exact: bool = True
    """False if `total` is a lower bound, because the search stopped when it had enough sessions."""
    more: bool = False
    """Whether further sessions follow after these."""
    mode: str = "words"
    """words, substring, regex or everything."""
    facets: dict[str, dict[str, int]] | None = None
    notes: tuple[str, ...] = ()
    """Notes for the user: words that were ignored, slow modes."""
    advice: tuple[str, ...] = ()
    """Suggestions, if nothing was found."""
    excluded: tuple[str, ...] = ()
    """The parts of the query that exclude something, as typed."""
