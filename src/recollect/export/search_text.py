"""Write the results of a search as text and as JSON. Imports little: a search must start fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .terminal_text import safe, safe_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..index.search.results import Hit, SearchResults, SessionHits

_BOLD, _DIM, _MARK, _CYAN, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[36m", "\x1b[0m"


def found_data(found: SearchResults, homes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the results as `--json` prints them."""
    totals: dict[str, Any] = {
        "total": found.total, "exact": found.exact, "more": found.more, "mode": found.mode, "notes": list(found.notes),
        "excluded": list(found.excluded), "advice": list(found.advice),
    }  # fmt: skip
    if found.facets is not None:
        totals["facets"] = found.facets
    return {"rows": [session_data(item, homes) for item in found.sessions], **totals}


def session_data(item: SessionHits, homes: Sequence[str] = ()) -> dict[str, Any]:
    """Return a session and its hits as a row of JSON."""
    return {
        "session_id": item.session_id,
        "title": None if item.title is None else " ".join(item.title.split()),
        "project": item.project,
        "home": item.home,
        "path": item.path,
        "modified": iso(item.modified),
        "hit_count": item.hit_count,
        "hits": [
            {
                "line": hit.line,
                "uuid": hit.uuid,
                "role": hit.role,
                "subagent_id": hit.subagent_id,
                "time": iso(hit.time),
                "score": round(hit.score, 3),
                "snippet": hit.snippet.text,
                "marks": [list(mark) for mark in hit.snippet.marks],
                "command": command_line(item, hit, homes),
            }
            for hit in item.hits
        ],
    }


def found_text(found: SearchResults, colored: bool, homes: Sequence[str] = ()) -> Iterator[str]:
    """Yield lines for a terminal or a pipe. Everything from transcripts is made safe before it is styled."""
    for number, item in enumerate(found.sessions):
        if number:
            yield ""
        yield _heading(item, colored, exact=found.exact)
        for hit in item.hits:
            words = " · ".join(part for part in (hit.role or "", clock(hit.time), (hit.uuid or "")[:8]) if part)
            command = safe(command_line(item, hit, homes))
            yield f"  {_styled(command, _CYAN, colored)}  {_styled(safe_line(words), _DIM, colored)}"
            yield f"    {_snippet(hit, colored)}"
    if found.facets is not None:
        yield from _facets(found.facets, colored)


def summary_line(found: SearchResults, offset: int) -> str:
    """Say how much was found, and how to see more."""
    least = "" if found.exact else "at least "
    matches = f"{least}{found.total:,} {'match' if found.total == 1 else 'matches'}"
    count = len(found.sessions)
    shown = f"{matches}; {count} {'session' if count == 1 else 'sessions'} shown"
    return f"{shown}, --offset {offset + count} for more" if found.more else shown


def _heading(item: SessionHits, colored: bool, *, exact: bool) -> str:
    title = safe_line(item.title or "(no title)", 100)
    project = safe_line(_tail(item.project or ""))
    parts = [
        _styled(safe(item.reference), _BOLD, colored),
        clock(item.modified),
        project,
        _styled(title, _BOLD, colored),
    ]
    more = item.hit_count - len(item.hits)
    if more > 0:
        parts.append(_styled(f"(+{more:,})", _DIM, colored))
    return "  ".join(part for part in parts if part)


def _snippet(hit: Hit, colored: bool) -> str:
    pieces = []
    for text, is_mark in hit.snippet.pieces():
        shown = safe(text).replace("\n", " ").replace("\t", " ")
        if is_mark:
            shown = f"{_MARK}{shown}{_OFF}" if colored else f"«{shown}»"
        pieces.append(shown)
    return "".join(pieces)


def _facets(facets: dict[str, dict[str, int]], colored: bool) -> Iterator[str]:
    for name, counts in facets.items():
        if not counts:
            continue
        yield ""
        yield _styled(name, _BOLD, colored)
        for value, count in counts.items():
            yield f"  {count:>8,}  {safe_line(value)}"


def command_line(item: SessionHits, hit: Hit, homes: Sequence[str] = ()) -> str:
    """Return the command that shows the hit in its conversation."""
    named = [word for home in homes for word in ("--home", home)]
    return " ".join(["recollect", *(_quoted(word) for word in (*named, *item.open_command(hit)))])


def _quoted(word: str) -> str:
    if word and all(letter.isascii() and (letter.isalnum() or letter in "-_./~:@%+=") for letter in word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def _styled(text: str, style: str, colored: bool) -> str:
    return f"{style}{text}{_OFF}" if colored and text else text


def _tail(path: str) -> str:
    parts = path.replace("\\", "/").rstrip("/").split("/")
    return "/".join(parts[-2:]) if len(parts) > 2 else path


def clock(moment: float | None) -> str:
    """Write local date and time to the minute."""
    import time

    if moment is None:
        return ""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))
    except (OverflowError, OSError, ValueError):
        return ""


def iso(moment: float | None) -> str | None:
    """Write a moment for JSON: `2026-03-02T09:00:00.000Z`."""
    import time

    if moment is None:
        return None
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment // 1)) + f".{int(moment * 1000) % 1000:03d}Z"
    except (OverflowError, OSError, ValueError):
        return None
