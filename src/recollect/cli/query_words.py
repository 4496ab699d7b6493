"""The words of a query on the command line: `-word` is one of them, not an option."""

from __future__ import annotations

from collections.abc import Sequence

import click

_GUARD = "\x00"


class QueryCommand(click.Command):
    """Takes arguments that begin with a single minus as words of the query (`-h` stays the help)."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with_value = {
            name for item in self.params if isinstance(item, click.Option) and not item.is_flag for name in item.opts
        }
        guarded = [
            word if before in with_value or not _is_negated(word) else _GUARD + word
            for before, word in zip(["", *args], args, strict=False)
        ]
        return super().parse_args(ctx, guarded)


def _is_negated(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and word[1] != "-" and word != "-h"


def joined_words(words: Sequence[str]) -> str:
    """The query as one text."""
    return " ".join(word.removeprefix(_GUARD) for word in words)
