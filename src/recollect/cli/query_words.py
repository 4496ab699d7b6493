"""Read the words of a query on the command line: `-word` is one of them, not an option."""

from __future__ import annotations

from collections.abc import Sequence

import click

_GUARD = "\x00"


class QueryCommand(click.Command):
    """Reads arguments with a single minus as words of the query (`-h` is the help unless a word comes before it)."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with_value = {
            name for item in self.params if isinstance(item, click.Option) and not item.is_flag for name in item.opts
        }
        guarded = []
        has_word = is_value = False
        for word in args:
            is_query = not is_value and not word.startswith("--")
            if is_query and len(word) > 1 and word[0] == "-" and (word != "-h" or has_word):
                word = _GUARD + word
            guarded.append(word)
            has_word = has_word or is_query
            is_value = not is_value and word in with_value
        return super().parse_args(ctx, guarded)


def joined_words(words: Sequence[str]) -> str:
    """Return the query as one text."""
    return " ".join(word.removeprefix(_GUARD) for word in words)
