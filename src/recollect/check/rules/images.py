"""Find pictures that are too large for the API: one is enough to make every further turn fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...format.row_edit import refused_images
from ..rule import ERROR, INFO, Finding, Rule
from ..subject import IMAGE, SessionSubject

RULE: Final = Rule(
    "image-too-large", ERROR, "A picture has more than 5 MB, or a side of more than 8,000 pixels.",
    "Sends it: the API refuses this turn and every later one.",
    "`recollect repair` puts a line of words in its place; the picture is kept in the side file.", "images",
)  # fmt: skip


def check(subject: SessionSubject) -> Iterator[Finding]:
    for row in subject.rows_with(IMAGE):
        for words in refused_images(subject.value(row)):
            live = subject.is_main and row.index in subject.live
            yield subject.finding(RULE, row, words, None if live else INFO)
