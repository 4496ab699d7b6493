"""`recollect keep` where nothing is new, without anything it does not need: it runs at the end of every turn, from a hook.

Only the plainest form is understood here, and only the answer that nothing is new is given here. Anything else (something new,
a vault that is not as it was left, a folder that cannot be read, another option) is left to the command itself: `try_keep`
answers None, and nothing was printed.
"""

from __future__ import annotations

import os
import sys

from ..environment import home_folders, own_folder_name, refuse_inside
from ..errors import RecollectError
from ..vault.seen import SeenFiles
from ..vault.selection import walk_root

TYPE_CHECKING = False  # see vault/selection.py
if TYPE_CHECKING:
    from collections.abc import Sequence


def try_keep(arguments: Sequence[str]) -> int | None:
    """The exit code, or None where the command has to do it."""
    asked = _understood(arguments)
    if asked is None or os.name == "nt":
        return None
    homes, form, quiet = asked
    roots = _roots(homes)
    if not roots:
        return None
    try:
        vault, cache = (os.path.join(own_folder_name(kind), "vault") for kind in ("data", "cache"))
        refuse_inside(vault, roots)
    except RecollectError:  # the command itself tells it
        return None
    counts: list[tuple[str, int]] = []
    for root in roots:
        found = walk_root(root)
        if found.skipped and not (quiet and form == "text"):
            return None
        if not SeenFiles(cache, vault, os.path.realpath(root)).is_all(found.files):
            return None
        counts.append((root, len(found.files)))
    if not quiet or form != "text":
        return _print(counts, form)
    return 0


def _understood(arguments: Sequence[str]) -> tuple[list[str], str, bool] | None:
    homes: list[str] = []
    form, quiet, named = "text", False, False
    words = iter(arguments)
    for word in words:
        if word in ("--json", "--jsonl"):
            form = word[2:]
        elif word == "--home":
            home = next(words, "")
            if not home:
                return None
            homes.append(home)
        elif word == "keep" and not named:
            named = True
        elif named and word in ("--quiet", "-q"):
            quiet = True
        elif word != "--no-color":
            return None
    return (homes, form, quiet) if named else None


def _roots(named: list[str]) -> list[str] | None:
    """The homes as they are called, each once. None where it takes more to know what they are, or whether they are."""
    folders, are_named = home_folders(named)
    roots: dict[str, str] = {}
    for folder in folders:
        folder = folder.rstrip("/")
        if not are_named and not os.path.lexists(folder):
            continue
        if not os.path.isdir(f"{folder}/projects") or any(part in ("", ".") for part in folder.split("/")[1:]):
            return None
        roots.setdefault(os.path.realpath(folder), folder)
    return list(roots.values())


def _print(counts: list[tuple[str, int]], form: str) -> int | None:
    if form == "text":
        from ..export.terminal_text import safe

        lines = [
            safe(f"{root}: nothing new in {count:,} {'file' if count == 1 else 'files'}") for root, count in counts
        ]
    else:
        import json
        from dataclasses import asdict

        from ..vault.report import CaptureReport

        homes = [{**asdict(CaptureReport(root, count)), "sessions": []} for root, count in counts]
        told = {"homes": homes, "bytes": 0, "stored": 0}
        lines = [json.dumps(told, indent=2 if form == "json" else None)]
    try:
        sys.stdout.write("\n".join(lines) + "\n")
        sys.stdout.flush()
    except OSError:  # the command itself tells what is wrong with the output
        return None
    return 0
