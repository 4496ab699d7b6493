"""Match the values of filters: files by the last parts of their path, models by a part of their name, times.

The matching of projects is in `project_filter`.
"""

from __future__ import annotations


def fits(filter_name: str, asked: str, name: str) -> bool:
    """Return whether a name matches the value of a filter. Case is ignored; a star stands for anything."""
    asked, name = asked.casefold(), name.casefold()
    if "*" in asked and filter_name != "file":
        return _glob(asked, name)
    if filter_name == "model":
        return asked in name
    if filter_name == "file":
        return path_fits(asked, name)
    if filter_name == "tool" and name.startswith("mcp__"):
        return asked == name or asked in name.split("__")[1:]
    return asked == name


def path_fits(asked: str, path: str, *, below: bool = True) -> bool:
    """Return whether `asked` is the path, its last parts, or (with `below`) a folder above it. Case matters."""
    path = path.replace("\\", "/")
    asked = asked.replace("\\", "/")
    if "*" in asked:
        return _glob(asked, path) or _glob(f"*/{asked.lstrip('/')}", path)
    bare = asked.rstrip("/")
    if not bare:
        return asked != "" and (path == "/" or (below and path.startswith("/")))
    if path.rstrip("/") == bare or (below and path.startswith(f"{bare}/")):
        return True
    inner = bare.lstrip("/")
    return not asked.startswith("/") and (path.rstrip("/").endswith(f"/{inner}") or (below and f"/{inner}/" in path))


def _glob(pattern: str, name: str) -> bool:
    """Match a pattern in which a star stands for any characters, `/` included. Takes linear time for each star."""
    first, *inner = pattern.split("*")
    if not name.startswith(first):
        return False
    at = len(first)
    if not inner:
        return at == len(name)
    *inner, last = inner
    for piece in inner:
        place = name.find(piece, at)
        if place < 0:
            return False
        at = place + len(piece)
    return name.endswith(last) and len(name) - len(last) >= at


def nearest(asked: str, names: list[str], most: int = 3) -> list[str]:
    """Return names that are similar to the one asked for."""
    from difflib import get_close_matches

    by_last: dict[str, str] = {}
    for name in names:
        by_last.setdefault(name.casefold(), name)
        by_last.setdefault(name.replace("\\", "/").rstrip("/").rpartition("/")[2].casefold(), name)
    wanted = asked.casefold().strip("*")
    containing = [name for key, name in by_last.items() if wanted and wanted in key]
    close = [by_last[key] for key in get_close_matches(wanted, by_last, most, 0.6)]
    return list(dict.fromkeys([*close, *containing]))[:most]


def session_fits(value: str, session_id: str | None, title: str | None) -> bool:
    """Return whether a value is a session's id, the start of it (at least four characters), or a part of its title."""
    wanted = value.casefold()
    if session_id is not None and (session_id == wanted or (len(wanted) >= 4 and session_id.startswith(wanted))):
        return True
    return title is not None and wanted in title.casefold()


def time_range(name: str, value: str) -> tuple[int | None, int | None]:
    """Return the range of a `before:` or `after:` filter in microseconds: start (inclusive) and end (exclusive)."""
    from ...format.times import parse_moment

    moment = parse_moment(value)
    if moment is None:
        return None, None
    when = int(moment.timestamp() * 1_000_000)
    return (when, None) if name == "after" else (None, when)
