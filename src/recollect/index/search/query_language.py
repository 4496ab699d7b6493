"""Parse the query language of the search into a small tree whose parts have their positions in the query.

    words          all of them, in any order; identifiers and paths as they are: `getUserName`, `src/app.py`
    "a phrase"     these words side by side
    prefix*        words that begin with this; also "a phrase that goes o"*
    -word          not this; also -"a phrase", -tool:Bash, -(a OR b), NOT word
    word -x        an option of one or two letters after a word is text, as in a pasted `git commit -m`
    a OR b         either; parentheses group
    name:value     filters, see `FILTERS`; name:(a|b) for several, name:"two words" with blanks

The tree consists of `Part`s: words, filters, and their combinations.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import QueryError


class Part:
    """A part of a query with its position: `query[start:end]`."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def _content(self) -> tuple[object, ...]:
        return ()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Part) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._content()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._content()))})"


class Text(Part):
    """Words to find side by side: a phrase, or one word, which the tokenizer may split into several (identifiers)."""

    __slots__ = ("prefix", "quoted", "text")

    def __init__(self, text: str, *, prefix: bool = False, quoted: bool = False, start: int = 0, end: int = 0) -> None:
        super().__init__(start, end)
        self.text = text
        self.prefix = prefix
        self.quoted = quoted

    def _content(self) -> tuple[object, ...]:
        return (self.text, self.prefix, self.quoted)


class Filter(Part):
    """A filter `name:value`; one of the values must match."""

    __slots__ = ("name", "values")

    def __init__(self, name: str, values: tuple[str, ...], *, start: int = 0, end: int = 0) -> None:
        super().__init__(start, end)
        self.name = name
        self.values = values

    def _content(self) -> tuple[object, ...]:
        return (self.name, self.values)


class Everything(Part):
    """The part `*`, which every entry matches."""

    __slots__ = ()


class Not(Part):
    __slots__ = ("part",)

    def __init__(self, part: Part, *, start: int = 0, end: int = 0) -> None:
        super().__init__(start, end)
        self.part = part

    def _content(self) -> tuple[object, ...]:
        return (self.part,)


class All(Part):
    """Parts that must all match."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Part, ...], *, start: int = 0, end: int = 0) -> None:
        super().__init__(start, end)
        self.parts = parts

    def _content(self) -> tuple[object, ...]:
        return self.parts


class Either(All):
    """Parts of which one must match."""

    __slots__ = ()


def texts(part: Part, *, negated: bool = False) -> Iterator[Text]:
    """Yield the words to find, without excluded ones, in order."""
    if isinstance(part, Text):
        if not negated:
            yield part
    elif isinstance(part, Not):
        yield from texts(part.part, negated=not negated)
    elif isinstance(part, All):
        for item in part.parts:
            yield from texts(item, negated=negated)


def filters(part: Part) -> Iterator[Filter]:
    """Yield all filters, negated ones too, in order."""
    if isinstance(part, Filter):
        yield part
    elif isinstance(part, Not):
        yield from filters(part.part)
    elif isinstance(part, All):
        for item in part.parts:
            yield from filters(item)


#: Filter -> (description of its value, an example).
FILTERS: dict[str, tuple[str, str]] = {
    "project": ("a project: its path, the end of it, or a folder above", "project:myapp"),
    "session": ("a session: its id, the start of it, or its title", "session:3f2a"),
    "role": ("who speaks", "role:user"),
    "tool": ("a tool that is called or answers", "tool:Bash"),
    "model": ("a model, or a part of its name", "model:opus"),
    "file": ("a file that a tool was given: its path, or the last parts of it", "file:src/app.py"),
    "branch": ("a git branch", "branch:main"),
    "status": ("where the message stands in its session", "status:live"),
    "before": ("a moment", "before:2026-03-02"),
    "after": ("a moment", "after:7d"),
    "has": ("what is in the message", "has:error"),
}

#: Filters that take one of a few words.
CHOICES: dict[str, tuple[str, ...]] = {
    "role": ("user", "assistant", "tool", "summary", "system", "title", "meta"),
    "status": ("live", "abandoned", "subagent", "precompact"),
    "has": ("code", "image", "error", "thinking"),
}

MOMENTS = ("before", "after")
MAX_LENGTH = 4_000
MAX_DEPTH = 50
MAX_PARTS = 200


def parse(query: str) -> All:
    """Parse a query; all parts of the result must match. Raises QueryError with the position of a mistake."""
    if len(query) > MAX_LENGTH:
        raise QueryError(f"the query has {len(query):,} characters; {MAX_LENGTH:,} are the most", slug="bad-query")
    return _Parser(query).parse()


def mistake(query: str, start: int, what: str, hint: str, end: int | None = None) -> QueryError:
    """Build a QueryError that shows the query with carets below the mistake."""
    shown = " ".join(query.split("\n"))
    first, last = max(start - 60, 0), start + 60
    line = ("…" if first else "") + shown[first:last]
    blanks = _width(("…" if first else "") + shown[first:start])
    carets = max(_width(shown[start : min(end or start + 1, last)]), 1)
    text = f"cannot understand the query\n  {line}\n  {' ' * blanks}{'^' * carets}\n{what} (at character {start + 1})"
    return QueryError(text, hint=hint, slug="bad-query", place=(start, end or start + 1))


def _width(text: str) -> int:
    """Return how many columns a text takes on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


class _Parser:
    def __init__(self, query: str) -> None:
        self.query = query
        self.at = 0
        self.parts = 0

    def parse(self) -> All:
        found = self._either(0, None)
        if isinstance(found, Either) or not isinstance(found, All):
            found = All((found,), start=0, end=len(self.query))
        return found

    # --- structure ---------------------------------------------------------------------------------------------------

    def _either(self, depth: int, opened: int | None) -> Part:
        """Parse alternatives up to the closing parenthesis, or to the end."""
        if depth > MAX_DEPTH:
            raise self._wrong(self.at - 1, f"parentheses are nested deeper than {MAX_DEPTH}", "(a OR b) c")
        begin = self.at
        choices: list[Part] = []
        parts: list[Part] = []
        or_at: int | None = None
        behind_word = False
        while True:
            self._skip_blanks()
            if self.at >= len(self.query):
                if opened is not None:
                    raise self._wrong(opened, "this parenthesis is never closed", "(cats OR dogs) food")
                break
            if self.query[self.at] == ")":
                if opened is None:
                    raise self._wrong(self.at, "nothing was opened that this parenthesis could close", "(a OR b) c")
                break
            word = self._operator()
            if word == "OR":
                if not parts:
                    raise self._wrong(self.at - 2, "OR needs something on its left", "cats OR dogs", self.at)
                choices.append(_joined(parts, begin, self.at))
                parts, or_at, behind_word = [], self.at - 2, False
                continue
            if word == "AND":
                if not parts:
                    raise self._wrong(self.at - 3, "AND needs something on its left", "cats dogs", self.at)
                behind_word = False
                continue
            item = self._word() if behind_word and is_short_option(self._token()) else self._item(depth)
            behind_word = isinstance(item, Text)
            self.parts += 1
            if self.parts > MAX_PARTS:
                raise self._wrong(item.start, f"the query has more than {MAX_PARTS} parts", "cats OR dogs")
            parts.append(item)
        if or_at is not None and not parts:
            raise self._wrong(or_at, "OR needs something on its right", "cats OR dogs", or_at + 2)
        last = _joined(parts, begin, self.at)
        return Either((*choices, last), start=begin, end=self.at) if choices else last

    def _operator(self) -> str | None:
        """Parse OR or AND, in capitals, if one of them is the next word."""
        for word in ("OR", "AND"):
            end = self.at + len(word)
            if self.query.startswith(word, self.at) and (end >= len(self.query) or self.query[end] in " \t\n\r()"):
                self.at = end
                return word
        return None

    def _item(self, depth: int) -> Part:
        start = self.at
        query = self.query
        if query.startswith("NOT", start) and query[start + 3 : start + 4] in (" ", "("):
            self.at += 3
            self._skip_blanks()
            return self._negated(depth, start, "NOT")
        # `--force` and `->` are texts to find, not exclusions.
        if query[start] == "-" and not _is_sign(query[start + 1 : start + 2]):
            self.at += 1
            return self._negated(depth, start, "-")
        if query[start] == "(":
            self.at += 1
            inside = self._either(depth + 1, start)
            self.at += 1
            if isinstance(inside, All) and not inside.parts:
                raise self._wrong(start, "there is nothing between these parentheses", "(cats OR dogs)", self.at)
            return inside
        if query[start] == '"':
            text = self._quoted()
            return Text(text, prefix=self._star(), quoted=True, start=start, end=self.at)
        return self._word()

    def _negated(self, depth: int, start: int, sign: str) -> Part:
        if self.at >= len(self.query) or self.query[self.at] in " \t\n\r)":
            raise self._wrong(start, f"{sign} needs a word right after it", "cats -dogs", start + len(sign))
        if depth > MAX_DEPTH:
            raise self._wrong(start, f"nested deeper than {MAX_DEPTH}", "cats -dogs")
        part = self._item(depth + 1)
        return Not(part, start=start, end=self.at)

    def _token(self) -> str:
        """Return the text from here to the next blank, parenthesis or quotation mark, without consuming it."""
        end = self.at
        while end < len(self.query) and self.query[end] not in ' \t\n\r()"':
            end += 1
        return self.query[self.at : end]

    # --- words -------------------------------------------------------------------------------------------------------

    def _word(self) -> Part:
        start = self.at
        query = self.query
        while self.at < len(query) and query[self.at] not in ' \t\n\r()"':
            if query[self.at] == ":" and self.at > start:
                name = query[start : self.at].lower()
                if name in FILTERS:
                    self.at += 1
                    return self._filter(name, start)
                self._check_name(name, start)
            self.at += 1
        if self.at < len(query) and query[self.at] == "(" and self.at > start:
            return self._call(start)
        text = query[start : self.at]
        if text == "*":
            return Everything(start, self.at)
        prefix = text.endswith("*")
        text = text.rstrip("*")
        star = text.find("*", 1) if len(text) > 1 else -1
        if star > 0 and text[star - 1].isalnum() and text[star + 1 : star + 2].isalnum():
            raise self._wrong(
                start + star,
                "a star stands at the end of a word only",
                f"{text[:star]}*  (or: --regex '{text[:star]}.*')",
            )
        return Text(text, prefix=prefix, start=start, end=self.at)

    def _call(self, start: int) -> Part:
        """Parse `main()` and `f(x)`, as copied from code: the parentheses belong to the word."""
        query = self.query
        depth = 0
        for place in range(self.at, len(query)):
            if query[place] in " \t\n\r" and depth == 0:
                break
            depth += {"(": 1, ")": -1}.get(query[place], 0)
            if depth == 0:
                self.at = place + 1
                return Text(query[start : self.at], quoted=True, start=start, end=self.at)
        raise self._wrong(self.at, "this parenthesis is never closed", f'"{query[start : self.at]}"')

    def _quoted(self) -> str:
        start = self.at
        end = self.query.find('"', start + 1)
        if end < 0:
            words = self.query[start + 1 :].split()
            raise self._wrong(start, "this quotation mark is never closed", f'"{" ".join(words[:4]) or "two words"}"')
        self.at = end + 1
        return self.query[start + 1 : end]

    def _star(self) -> bool:
        if self.query.startswith("*", self.at):
            self.at += 1
            return True
        return False

    # --- filters -----------------------------------------------------------------------------------------------------

    def _filter(self, name: str, start: int) -> Filter:
        query = self.query
        value_at = self.at
        if self.at < len(query) and query[self.at] == '"':
            values = [self._quoted()]
        elif self.at < len(query) and query[self.at] == "(":
            end = query.find(")", self.at)
            if end < 0:
                raise self._wrong(self.at, "this parenthesis is never closed", FILTERS[name][1])
            values = [word.strip().strip('"') for word in query[self.at + 1 : end].replace(" OR ", "|").split("|")]
            self.at = end + 1
        else:
            while self.at < len(query) and query[self.at] not in " \t\n\r()":
                self.at += 1
            values = [query[value_at : self.at]]
        if not all(values):
            takes, example = FILTERS[name]
            raise self._wrong(start, f"{name}: needs a value right after the colon, {takes}", example, self.at)
        if name in CHOICES:
            values = [self._choice(name, value, value_at) for value in values]
        elif name in MOMENTS:
            self._check_moments(name, values, value_at)
        return Filter(name, tuple(values), start=start, end=self.at)

    def _choice(self, name: str, value: str, place: int) -> str:
        word = value.lower()
        if word in CHOICES[name]:
            return word
        raise self._wrong(
            place, f"{name}: is one of {', '.join(CHOICES[name])}, not {value!r}", f"{name}:{CHOICES[name][0]}", self.at
        )

    def _check_moments(self, name: str, values: list[str], place: int) -> None:
        from ...format.times import parse_moment

        if len(values) > 1:
            raise self._wrong(place, f"{name}: takes one moment", FILTERS[name][1], self.at)
        if parse_moment(values[0]) is None:
            raise self._wrong(
                place, f"{values[0]!r} is not a time", f"{name}:2026-03-02, {name}:yesterday, {name}:7d", self.at
            )

    def _check_name(self, name: str, start: int) -> None:
        """Raise QueryError if a name before a colon looks like a mistyped filter; any other such name is a word."""
        if not name.isalpha() or len(name) < 3 or self.query[self.at + 1 : self.at + 2] in ("", " ", ":", "/"):
            return
        from difflib import get_close_matches

        close = get_close_matches(name, FILTERS, 1, 0.8)
        if close or name in _OTHER_NAMES:
            meant = close[0] if close else _OTHER_NAMES[name]
            raise self._wrong(
                start, f"there is no filter {name}:", f'{FILTERS[meant][1]}  (or in quotes, to find the words: "{name}: …")',
                self.at + 1,
            )  # fmt: skip

    # --- ends --------------------------------------------------------------------------------------------------------

    def _skip_blanks(self) -> None:
        while self.at < len(self.query) and self.query[self.at].isspace():
            self.at += 1

    def _wrong(self, start: int, what: str, example: str, end: int | None = None) -> QueryError:
        return mistake(self.query, start, what, f"for example: {example}", end)


def is_short_option(text: str) -> bool:
    """Return whether a text looks like an option of a command: a minus and one or two letters or digits."""
    return 2 <= len(text) <= 3 and text[0] == "-" and text[1:].isascii() and text[1:].isalnum()


def exclusions(tree: All, query: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the parts of a query that exclude something, as typed, and notes on how each minus was interpreted.

    A minus means one thing in a query and another in a pasted command line, so the user gets a note about it.
    """
    excluded = []
    notes = []
    for part, before in _with_the_one_before(tree):
        typed = query[part.start : part.end]
        if isinstance(part, Text):
            if not part.quoted and is_short_option(typed):
                notes.append(f"{typed} was looked for as text; to leave out what has it: NOT {typed[1:]}")
        elif isinstance(part, Not):
            excluded.append(typed)
            note = f"left out what fits {typed.removeprefix('NOT').lstrip(' -')}"
            if isinstance(part.part, Text) and typed[0] == "-":
                words = f"{before.text} {typed}" if isinstance(before, Text) else typed
                note += f'; to find {typed} itself: "{words.replace(chr(34), "")}"'
            notes.append(note)
    return tuple(excluded), tuple(notes)


def _with_the_one_before(part: Part, before: Part | None = None) -> Iterator[tuple[Part, Part | None]]:
    """Yield words, filters and negated parts, each with the part on its left."""
    if not isinstance(part, All):
        yield part, before
        return
    left = None
    for item in part.parts:
        yield from _with_the_one_before(item, left)
        left = None if isinstance(part, Either) else item


#: Names that other search tools have for these filters.
_OTHER_NAMES = {"since": "after", "until": "before", "path": "file", "from": "role", "date": "after", "repo": "project"}


def _is_sign(letter: str) -> bool:
    """Return whether a minus and this character after it are text to find, such as `->`, and not an exclusion."""
    return letter != "" and not letter.isspace() and not letter.isalnum() and letter not in '"()_./~@#$*'


def _joined(parts: list[Part], start: int, end: int) -> Part:
    return parts[0] if len(parts) == 1 else All(tuple(parts), start=start, end=end)
