"""What a home holds right now: one look at each folder, one `stat` per file, nothing opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import Final

from ...format.path_text import to_path, to_text
from ...store.home import Home
from ...store.paths import why_left_out

_SIGN: Final = 1 << 63
#: A file as it stands in its folder: (kind, size, mtime_ns, ctime_ns, inode, device).
Seen = tuple[str, int, int, int, int, int]
#: Files by their path below the home, as text (`format.path_text`), which is how the catalogue has all paths.
Files = dict[str, Seen]


def list_files(home: Home, kinds: frozenset[str]) -> Files:
    """All files of these kinds, by their path below the home. One look at each folder, one `stat` per file."""
    found: Files = {}
    root = str(home.root)
    for folder in _folder(home, f"{root}/projects"):
        if _is_folder(home, folder):
            _look_into_project(home, folder.path, f"projects/{folder.name}", kinds, found)
    if "history" in kinds:
        note_file(found, root, "history.jsonl", "history", home)
    if "task" in kinds:
        for folder in _folder(home, f"{root}/tasks"):
            if _is_folder(home, folder):
                for entry in _entries(folder.path):
                    if entry.name.endswith(".json") and entry.name[:-5].isdigit():
                        _note(home, entry, f"tasks/{folder.name}/{entry.name}", "task", found)
    if "todo" in kinds:
        for entry in _folder(home, f"{root}/todos"):
            if entry.name.endswith(".json"):
                _note(home, entry, f"todos/{entry.name}", "todo", found)
    return found


def _look_into_project(home: Home, folder: str, below: str, kinds: frozenset[str], found: Files) -> None:
    for entry in _entries(folder):
        name = entry.name
        if name.endswith(".jsonl"):
            kind = "subagent" if name.startswith("agent-") else "session"
            _note(home, entry, f"{below}/{name}", kind, found)
        elif "." not in name and name != "memory" and _is_folder(home, entry):
            path = f"{below}/{name}"
            if "title" in kinds:
                for inner in _entries(entry.path):
                    if inner.name == "custom-title.json":
                        _note(home, inner, f"{path}/{inner.name}", "title", found)
                    elif inner.name == "subagents" and _is_folder(home, inner):
                        _look_at_subagents(home, inner.path, f"{path}/subagents", kinds, found, runs=True)
            else:
                subagents = f"{entry.path}/subagents"
                try:
                    mode = os.lstat(subagents).st_mode
                except OSError:
                    continue  # most sessions have none
                if not stat.S_ISLNK(mode) or why_left_out(home, subagents) is None:
                    _look_at_subagents(home, subagents, f"{path}/subagents", kinds, found, runs=True)


def _look_at_subagents(home: Home, folder: str, below: str, kinds: frozenset[str], found: Files, *, runs: bool) -> None:
    for entry in _entries(folder):
        name = entry.name
        if name.startswith("agent-"):
            if name.endswith(".jsonl"):
                _note(home, entry, f"{below}/{name}", "subagent", found)
            elif name.endswith(".meta.json") and "subagent_meta" in kinds:
                _note(home, entry, f"{below}/{name}", "subagent_meta", found)
        elif runs and name == "workflows" and _is_folder(home, entry):
            for run in _entries(entry.path):
                if run.is_dir(follow_symlinks=False):
                    _look_at_subagents(home, run.path, f"{below}/workflows/{run.name}", kinds, found, runs=False)


def _folder(home: Home, folder: str) -> Iterable[os.DirEntry[str]]:
    """What is in a folder that may be a link."""
    return () if os.path.islink(folder) and why_left_out(home, folder) is not None else _entries(folder)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            return list(listing)
    except OSError:
        return []


def _is_folder(home: Home, entry: os.DirEntry[str]) -> bool:
    try:
        if entry.is_dir(follow_symlinks=False):
            return True
        return entry.is_dir() and why_left_out(home, entry.path) is None
    except OSError:
        return False


def _note(home: Home, entry: os.DirEntry[str], path: str, kind: str, found: Files) -> None:
    try:
        info = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            if why_left_out(home, entry.path) is not None:
                return
            info = entry.stat()
    except OSError:
        return
    if stat.S_ISREG(info.st_mode):
        inode, device = info.st_ino, info.st_dev
        if inode >= _SIGN or device >= _SIGN:
            inode, device = signed(inode), signed(device)
        found[to_text(path)] = (kind, info.st_size, info.st_mtime_ns, info.st_ctime_ns, inode, device)


def note_file(found: Files, root: str, path: str, kind: str, home: Home) -> None:
    full = f"{root}/{to_path(path)}"
    try:
        info = os.stat(full)
        if os.path.islink(full) and why_left_out(home, full) is not None:
            return
    except OSError:
        return
    if stat.S_ISREG(info.st_mode):
        inode, device = signed(info.st_ino), signed(info.st_dev)
        found[path] = (kind, info.st_size, info.st_mtime_ns, info.st_ctime_ns, inode, device)


def signed(number: int) -> int:
    """SQLite's numbers have a sign; inode numbers of some file systems use all 64 bits."""
    return number - (1 << 64) if number >= _SIGN else number
