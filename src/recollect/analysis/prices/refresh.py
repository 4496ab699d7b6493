"""`make prices`: rewrite table.json from the installed `genai-prices` package and overrides.toml.

    python -m recollect.analysis.prices.refresh          write
    python -m recollect.analysis.prices.refresh --check  only report what would change; exit 1 if something would

Rates become whole micro-dollars per million tokens, so that a token's price is a whole number of millionths of a
micro-dollar and no sum is ever rounded before a response is complete.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from .book import plain_name

FOLDER: Final = Path(__file__).parent
TABLE: Final = FOLDER / "table.json"
OVERRIDES: Final = FOLDER / "overrides.toml"
MICRO: Final = 1_000_000
#: If a price list has no cache price, there was no cache: such tokens, if any, cost as much as input.
_FIELDS: Final = ("input_mtok", "output_mtok", "cache_write_mtok", "cache_write_1h_mtok", "cache_read_mtok")


def build(overrides: dict[str, Any], package_version: str, models: list[Any]) -> dict[str, Any]:
    """Return the whole table."""
    starts: dict[str, str] = overrides["starts"]
    periods: dict[str, list[dict[str, Any]]] = {}
    windows: dict[str, int] = {}
    for model in models:
        name = plain_name(model.id)
        windows[name] = model.context_window or 0
        periods[name] = list(_package_periods(model, starts.get(name, "2023-01-01"), package_version))
    for row in overrides.get("same", []):
        source = f"overrides: {row['reason']}"
        begin = starts[row["model"]]
        periods[row["model"]] = [{**period, "from": begin, "source": source} for period in periods[row["as"]]]
        windows[row["model"]] = windows.get(row["as"], 0)
    replaced: set[str] = set()
    for row in overrides.get("period", []):
        if row["model"] not in replaced:
            replaced.add(row["model"])
            # The package's prices stay for the days before the first override.
            periods[row["model"]] = [item for item in periods.get(row["model"], []) if item["from"] < row["from"]]
        periods[row["model"]].append(_override(row))
    fast: dict[str, list[dict[str, Any]]] = {}
    for row in overrides.get("fast", []):
        fast.setdefault(row["model"], []).append(_override(row))
    windows |= overrides.get("windows", {})
    missing = sorted(set(periods) - set(starts))
    if missing:
        raise SystemExit(f"no start date in overrides.toml for: {', '.join(missing)}")
    return {
        "source": f"genai-prices {package_version} and overrides.toml",
        "search": _micro(overrides["search"]["dollars"]),
        "factors": [[row["field"], row["value"], row["percent"], row["reason"]] for row in overrides["factor"]],
        "models": {
            name: {
                "window": windows.get(name, 0),
                "periods": sorted(periods[name], key=lambda item: str(item["from"])),
                **({"fast": fast[name]} if name in fast else {}),
            }
            for name in sorted(periods)
        },
    }


def _package_periods(model: Any, start: str, version: str) -> Iterator[dict[str, Any]]:
    source = f"genai-prices {version}"
    prices = model.prices
    if not isinstance(prices, list):
        yield _rated(prices, start, source)
        return
    for conditional in prices:
        begin = getattr(conditional.constraint, "start_date", None)
        yield _rated(conditional.prices, start if begin is None else begin.isoformat(), source)


def _rated(price: Any, start: str, source: str) -> dict[str, Any]:
    values: list[Any] = [getattr(price, name, None) for name in _FIELDS]
    low = [_base(value) for value in values]
    if low[0] is None or low[1] is None:
        raise SystemExit(f"no price of input or output: {price}")
    filled = [_micro(value if value is not None else low[0]) for value in low]
    row: dict[str, Any] = {"from": start, "rates": filled, "source": source}
    tiers = {tier.start for value in values if hasattr(value, "tiers") for tier in value.tiers}
    if len(tiers) > 1:
        raise SystemExit(f"several tiers, which the rule of prompt length does not know: {price}")
    if tiers:
        row["above"] = tiers.pop()
        row["long_rates"] = [
            _micro(value.tiers[0].price if hasattr(value, "tiers") else (value if value is not None else low[0]))
            for value in values
        ]
    return row


def _base(value: Any) -> Decimal | None:
    found: Decimal | None = value.base if hasattr(value, "tiers") else value
    return found


def _override(row: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "from": row["from"],
        "rates": [_micro(text) for text in row["rates"]],
        "source": f"overrides: {row['reason']}",
    }
    if "above" in row:
        made |= {"above": row["above"], "long_rates": [_micro(text) for text in row["long_rates"]]}
    return made


def _micro(dollars: Decimal | str) -> int:
    exact = Decimal(dollars) * MICRO
    if exact != int(exact):
        raise SystemExit(f"{dollars} is not a whole number of micro-dollars")
    return int(exact)


def current() -> dict[str, Any]:
    """Return the table that the installed package and the overrides give today."""
    from genai_prices.data import providers  # type: ignore[import-untyped,unused-ignore]

    models = next(provider.models for provider in providers if provider.id == "anthropic")
    return build(tomllib.loads(OVERRIDES.read_text("utf-8")), metadata.version("genai-prices"), list(models))


def main() -> int:
    made = current()
    old = json.loads(TABLE.read_text("utf-8")) if TABLE.is_file() else {"version": None}
    same = {key: value for key, value in old.items() if key != "version"} == made
    if "--check" in sys.argv[1:]:
        print("prices are as they were" if same else f"{TABLE.name} is out of date: make prices")
        return 0 if same else 1
    if same:
        print("prices are as they were")
        return 0
    text = json.dumps({"version": date.today().isoformat(), **made}, indent=1)
    sys.stdout.write(f"wrote {_write(text)}\n")
    return 0


def _write(text: str) -> Path:
    from ...journal.disk import remove_if_there, write_new

    remove_if_there(TABLE)
    write_new(TABLE, (text.encode(), b"\n"), mode=0o644)
    return TABLE


if __name__ == "__main__":
    sys.exit(main())
