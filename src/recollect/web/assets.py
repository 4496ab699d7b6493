"""Find the JavaScript libraries that are part of the package; a checkout fetches them with `make web-assets`."""

from __future__ import annotations

from pathlib import Path

LIBRARIES = ("htmx.min.js", "uPlot.iife.min.js", "uPlot.min.css")
VENDOR = Path(__file__).parent / "vendor"
REMEDY = (
    "in a checkout, `make web-assets` fetches them; elsewhere install Recollect again where npm can be reached, "
    "with `pip install --force-reinstall --no-deps --no-cache-dir`"
)


def missing_libraries() -> list[str]:
    """List the libraries that could not be fetched when the package was built. The pages work without them."""
    return [name for name in LIBRARIES if not (VENDOR / name).is_file()]


def missing_sentence() -> str | None:
    """Say which libraries are missing and how to get them; None if none is missing."""
    missing = missing_libraries()
    if not missing:
        return None
    return (
        f"The libraries of the pages were not fetched when Recollect was installed ({', '.join(missing)}): "
        f"charts, live growth and parts that load by themselves are missing. To have them: {REMEDY}."
    )
