"""List the files that a home holds now: each folder is listed once, each file gets one `stat`, none is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from ...format.path_text import to_path, to_text
from ...store.file_stamp import file_stamp, signed
from ...store.home import Home
from ...store.layout import CUSTOM_TITLE, HISTORY, PROJECTS, TASKS, TODOS, is_subagent_name, subagent_id_of
from ...store.paths import why_left_out
from ...store.scan import transcript_folders

#: A listed file: its kind, its stamp (`store.file_stamp`) and its device.
Seen = tuple[str, int, int, int, int, int]
#: Files by their path below the home, as text (`format.path_text`): the form of all paths in the catalogue.
Files = dict[str, Seen]


def list_files(home: Home, kinds: frozenset[str]) -> Files:
    """List all files of these kinds by their path below the home."""
    found: Files = {}
    for folder in transcript_folders(home, session_folders=False):
        below = "/".join((PROJECTS, *folder.parts))
        match len(folder.parts):
            case 1:
                for entry in folder.files:
                    if entry.name.endswith(".jsonl"):
                        kind = "subagent" if is_subagent_name(entry.name) else "session"
                        _note(home, entry, f"{below}/{entry.name}", kind, found)
                if "title" in kinds:
                    for entry in folder.folders:  # most have no title: one `stat` is faster than listing the folder
                        note_file(found, home, to_text(f"{below}/{entry.name}/{CUSTOM_TITLE}"), "title")
            case 3 | 5:
                for entry in folder.files:
                    if subagent_id_of(entry.name) is None:
                        continue
                    kind = "subagent" if is_subagent_name(entry.name) else "subagent_meta"
                    if kind in kinds:
                        _note(home, entry, f"{below}/{entry.name}", kind, found)
    if "history" in kinds:
        note_file(found, home, HISTORY, "history")
    root = str(home.root)
    if "task" in kinds:
        for inner in _folder(home, f"{root}/{TASKS}"):
            if _is_folder(home, inner):
                for entry in _entries(inner.path):
                    if entry.name.endswith(".json") and entry.name[:-5].isdigit():
                        _note(home, entry, f"{TASKS}/{inner.name}/{entry.name}", "task", found)
    if "todo" in kinds:
        for entry in _folder(home, f"{root}/{TODOS}"):
            if entry.name.endswith(".json"):
                _note(home, entry, f"{TODOS}/{entry.name}", "todo", found)
    return found


def _folder(home: Home, folder: str) -> Iterable[os.DirEntry[str]]:
    """List a folder; nothing if it is a link that must not be followed."""
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
        found[to_text(path)] = (kind, *file_stamp(info), signed(info.st_dev))


def note_file(found: Files, home: Home, path: str, kind: str) -> None:
    """Add one file by its path below the home, if it exists."""
    full = f"{home.root}/{to_path(path)}"
    try:
        info = os.stat(full)
        if os.path.islink(full) and why_left_out(home, full) is not None:
            return
    except OSError:
        return
    if stat.S_ISREG(info.st_mode):
        found[path] = (kind, *file_stamp(info), signed(info.st_dev))
