"""The parts of a parsed query: words, filters, and their combinations, each with its position in the query's text."""

from __future__ import annotations

from collections.abc import Iterator


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
