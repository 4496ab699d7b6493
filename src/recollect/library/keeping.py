"""Copy what is new in homes into the vault, and check whether anything is new.

Separate from `Library`, and with few imports: a hook runs the check after every turn.
"""

from __future__ import annotations

import os
import time

from ..environment import home_folders, own_folder, own_folder_name, refuse_inside
from ..errors import RecollectError
from ..vault.selection import KEPT_FILES, KEPT_FOLDERS, SeenFiles, walk_root
from ..vault.selection import Walk as Walk

TYPE_CHECKING = False  # see vault/selection.py
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Final

    from ..store.home import Home
    from ..vault.capture import CaptureReport as CaptureReport

    Progress = Callable[[int, int], None]
    """Called with the number of files done and of files to do in total."""


def walk_homes(named: Sequence[str]) -> dict[str, Walk] | None:
    """Walk through the homes and compare their files with what was last kept; `Walk.is_kept` of each home is the result.

    The keys are the folders of the homes as they were named. Returns None if it takes more to find out which homes are meant,
    or whether they may be kept: `keep_homes` finds that out and reports what is wrong.
    """
    roots = _roots(named)
    if not roots or os.name == "nt":
        return None
    try:
        vault, cache = (os.path.join(own_folder_name(kind), "vault") for kind in ("data", "cache"))
        refuse_inside(vault, roots)
    except RecollectError:
        return None
    walks: dict[str, Walk] = {}
    for root in roots:
        walk = walks[root] = walk_root(root)
        walk.is_kept = SeenFiles(cache, vault, os.path.realpath(root)).is_all(walk.files)
    return walks


def _roots(named: Sequence[str]) -> list[str] | None:
    """List the folders of the homes, each once; None if it takes more to find out which they are, or whether they exist."""
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


def keep_homes(
    homes: Sequence[Home],
    *,
    full: bool = False,
    progress: Progress | None = None,
    walks: Mapping[str, Walk] | None = None,
    folders: Callable[[str], Path] = own_folder,
) -> list[CaptureReport]:
    """Copy everything new in the homes into the vault, and report what was copied, home by home.

    `full` compares the content of every file with the vault, whatever its time. `walks` are walks through the homes that were
    made just now (`walk_homes`), by the home's folder; other homes are walked here. `folders` returns our own folders.
    """
    from ..vault.capture import capture
    from ..vault.vault import Vault

    vault = Vault(folders("data") / "vault")
    return [
        capture(
            vault, home, cache=folders("cache") / "vault", full=full, progress=progress,
            walk=None if walks is None else walks.get(str(home.root)),
        )
        for home in homes
    ]  # fmt: skip


def damage_words(report: CaptureReport) -> str | None:
    """Return a message if the vault had lost something that the home still had; None otherwise."""
    if not report.healed:
        return None
    files = f"{report.healed:,} {'file' if report.healed == 1 else 'files'}"
    return (
        f"DAMAGE: the vault had lost part of {files} of {report.home}; the home still has them, and they are stored again. "
        "Look at the disk that the vault is on"
    )


def keep_on(
    homes: Sequence[Home], *, polling: bool = False, folders: Callable[[str], Path] = own_folder
) -> Iterator[list[CaptureReport]]:
    """Keep now, and again whenever something changes in the homes, until interrupted."""
    yield keep_homes(homes, folders=folders)
    for _ in changes_in(homes, at_least_every=1.0 if polling else 60.0, polling=polling):
        yield keep_homes(homes, folders=folders)


GATHER_MS: Final = 1_500
"""Changes within this time are kept together."""


def changes_in(homes: Sequence[Home], *, at_least_every: float = 60.0, polling: bool = False) -> Iterator[None]:
    """Yield whenever files of the homes changed, and after `at_least_every` seconds anyway. Ends when interrupted."""
    folders = [home.root for home in homes if home.root.is_dir()]
    if not polling and folders:
        try:
            from watchfiles import watch

            milliseconds = int(at_least_every * 1000)
            for _ in watch(
                *folders, watch_filter=lambda _, path: _matters(homes, path), debounce=GATHER_MS, step=200,
                rust_timeout=milliseconds, yield_on_timeout=True,
            ):  # fmt: skip
                yield
            return
        except OSError:
            pass  # more folders than the system can watch
    while True:
        time.sleep(at_least_every)
        yield


def _matters(homes: Sequence[Home], path: str) -> bool:
    for home in homes:
        root = f"{home.root}{os.sep}"
        if path.startswith(root) and path[len(root) :].split(os.sep)[0] in (*KEPT_FOLDERS, *KEPT_FILES):
            return True
    return False
