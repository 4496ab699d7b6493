"""Tokens and money for the pages, from the library's accounts; nothing where those cannot be had."""

from __future__ import annotations

from .conversation import Shown
from .desk import Desk


def session_costs(desk: Desk) -> dict[str, str]:
    """What each session cost, in words, by its id."""
    return {}


def price_messages(desk: Desk, shown: list[Shown]) -> None:
    """Note the price of each response on the page."""
