"""Run `recollect keep --quiet` without click, and `recollect keep` if nothing is new: a hook runs it after every turn.

Only `recollect [--home DIR]... keep [--quiet]` is handled here. Everything else, and whatever needs more output, is left to
the command: `try_keep` returns None, and the command uses the walks through the homes that were made here.
"""

from __future__ import annotations

import sys

from ..library.keeping import walk_homes

TYPE_CHECKING = False  # see library/keeping.py
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..library.keeping import Walk

WALKS: dict[str, Walk] = {}
"""The walks through the homes that `try_keep` made in this process, by the folder of the home."""


def try_keep(arguments: Sequence[str], walks: dict[str, Walk] | None = None) -> int | None:
    """Return the exit code, or None if the command has to run. The walks are put into `walks`."""
    understood = _understood(arguments)
    found = walk_homes(understood[0]) if understood is not None else None
    if understood is None or found is None:
        return None
    if walks is not None:
        walks.update(found)
    homes, quiet = understood
    if all(walk.is_kept and (quiet or not walk.skipped) for walk in found.values()):
        return 0 if quiet else _print(found)
    return _keep(homes, found) if quiet else None


def _keep(homes: Sequence[str], walks: dict[str, Walk]) -> int | None:
    """Keep what is new, and print nothing unless something was wrong; None if the command has to report it."""
    from ..library.homes import open_homes
    from ..library.keeping import damage_words, keep_homes

    try:
        reports = keep_homes(open_homes(homes), walks=walks)
    except Exception:  # the error will occur again, and the command reports it
        return None
    except KeyboardInterrupt:
        return 130
    words = [text for report in reports if (text := damage_words(report)) is not None]
    if words:
        from ..export.terminal_text import safe

        sys.stderr.write("".join(f"{safe(text)}\n" for text in words))
    return None if any(report.lost for report in reports) else 0


def _understood(arguments: Sequence[str]) -> tuple[list[str], bool] | None:
    """Return the named homes and whether to be quiet; None if something else is requested."""
    homes: list[str] = []
    quiet, named = False, False
    words = iter(arguments)
    for word in words:
        if word == "--home":
            homes.append(next(words, ""))
        elif word == "keep" and not named:
            named = True
        elif named and word in ("--quiet", "-q"):
            quiet = True
        else:
            return None
    return (homes, quiet) if named and "" not in homes else None


def _print(walks: dict[str, Walk]) -> int | None:
    from ..export.terminal_text import safe

    lines = [
        safe(f"{root}: nothing new in {len(walk.files):,} {'file' if len(walk.files) == 1 else 'files'}")
        for root, walk in walks.items()
    ]
    try:
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
    except OSError:  # the command itself reports what is wrong with the output
        return None
    return 0
