"""Explain every total, response by response, each with its pricing rule, its price and the line it came from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ..format.times import to_iso
from ..index.api_calls.rows import ADVISOR, PROGRESS
from .api_calls import ApiCall
from .cost import PARTS, micro_dollars, parts
from .prices.book import PriceBook, short_name
from .zones import Zone

#: What no transcript records, so that no total can include it.
OMITTED: Final = (
    "calls that Claude Code makes on the side and does not write down (titles, topics, summaries, checks)",
    "requests that failed or were interrupted before the API told their counts",
    "costs of the server's tools other than web searches, and discounts, taxes or flat rates of your plan",
    "sessions whose files are gone",
)


def explain(item: ApiCall, book: PriceBook, zone: Zone) -> dict[str, Any]:
    """Return one response as a row: its parts add up to its cost exactly."""
    counts = item.counts
    tariff = book.tariff(item.model, item.time, counts.prompt, item.speed, item.service_tier, item.geo)
    amounts = dict(zip(PARTS, (counts[0], counts[1], counts[2], counts[3], counts[4], counts[6]), strict=True))
    row: dict[str, Any] = {
        "time": to_iso(None if item.time is None else item.time / 1_000_000),
        "day": zone.day(item.time) or None,
        "session_id": item.session_id,
        "subagent_id": item.subagent_id,
        "model": item.model,
        "message_id": item.message_id,
        "request_id": item.request_id or None,
        "file": f"{item.home}/{item.path}",
        "line": item.line,
        "output_line": item.output_line,
        "copies": item.copies,
        "recorded_in": "progress" if item.flags & PROGRESS else "iterations" if item.flags & ADVISOR else "assistant",
        "lower_bound": item.lower_bound,
        "odd": item.odd,
        "zoneless": item.zoneless,
        "cost_micro_usd": None,
        "rule": "no price: the model is not in the table",
        "price_since": None,
        "price_source": None,
        "assumed": None,
        "prices": book.version,
    }
    if tariff is None:
        row["parts"] = [{"part": name, "amount": amount, "cost_micro_usd": None} for name, amount in amounts.items()]
        return row
    costs = parts(counts, tariff, book.search)
    rates = (*tariff.dollars(), None)
    row |= {
        "cost_micro_usd": micro_dollars(counts, tariff, book.search),
        "rule": tariff.rule,
        "price_since": tariff.since,
        "price_source": tariff.source,
        "assumed": tariff.assumed or None,
        "parts": [
            {"part": name, "amount": amount, "usd_per_million": rate, "cost_micro_usd": cost}
            for (name, amount), rate, cost in zip(amounts.items(), rates, costs, strict=True)
            if amount
        ],
    }
    return row


def fits(item: ApiCall, ident: str, zone: Zone) -> bool:
    """Return whether an id selects a response.

    It may be the id of its message, request, session or subagent, its model (also the short name that tables show), or
    its day. An advisor's usage belongs to the message that asked the advisor.
    """
    return bool(
        item.message_id.removesuffix("#advisor") == ident.removesuffix("#advisor")
        or item.request_id == ident
        or (item.session_id or "").startswith(ident)
        or (item.subagent_id or "") == ident
        or ident in (item.model, short_name(item.model))
        or zone.day(item.time).startswith(ident)
    )


def chosen(found: Iterable[ApiCall], ident: str, zone: Zone) -> list[ApiCall]:
    return [item for item in found if not ident or fits(item, ident, zone)]
