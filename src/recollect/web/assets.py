"""The JavaScript libraries that the package brings along; a checkout fetches them with `make web-assets`."""

from __future__ import annotations

from pathlib import Path

from ..errors import Unavailable

LIBRARIES = ("htmx.min.js", "uPlot.iife.min.js", "uPlot.min.css")
VENDOR = Path(__file__).parent / "vendor"


def check_assets() -> None:
    """Say what to do where they are missing, before a page is broken."""
    missing = [name for name in LIBRARIES if not (VENDOR / name).is_file()]
    if missing:
        raise Unavailable(
            f"the browser's libraries are not there: {', '.join(missing)}", slug="no-web-assets",
            hint="in a checkout, `make web-assets` fetches them; otherwise install the package again",
        )  # fmt: skip
