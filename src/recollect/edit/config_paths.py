"""Edit the files of a home that name projects by path: global config, prompt history, installed plugins, session indexes.

Only the strings that name a path change; two entries of one project become one, and nothing that stands there is lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..format.history import parse_history_line
from ..format.json_edit import (
    Edit,
    Member,
    apply_edits,
    decode_text,
    encode_text,
    member,
    members,
    string_tokens,
    values_of,
)
from ..format.json_file import decode_json_file
from ..format.line import read_lines
from ..store.home import Home, open_inside
from ..store.layout import SESSIONS_INDEX
from ..store.path_map import PathMap

INDEX: Final = SESSIONS_INDEX
"""Kept by Claude Code 2.0.77 to 2.1.20 as a cache: a session whose file has the listed time is shown without opening it."""
WORKTREE_KEYS: Final = ("originalCwd", "worktreePath", "preEnterOriginalCwd", "extensionRoot")
_LAST: Final = "last"
"""Figures of a project's last session (`lastCost`, `lastSessionId`, ...) belong together."""


# --- history.jsonl ----------------------------------------------------------------------------------------------------


def history_edits(home: Home, path: Path, paths: PathMap) -> tuple[list[Edit], int]:
    """Return the edits of each line's `project`, and how many damaged lines keep an old path."""
    found: list[Edit] = []
    left = 0
    with open_inside(home, path) as stream:
        for line in read_lines(stream):
            if line.more or line.part or b'"project"' not in line.data:
                continue
            start = 3 if line.number == 1 and line.data.startswith(b"\xef\xbb\xbf") else 0
            entries = parse_history_line(line.data, number=line.number)
            if not any(paths.is_change(entry.project) for entry in entries):
                continue
            place = member(line.data, "project", start) if len(entries) == 1 else None
            # A byte that is not text may stand anywhere else: quotes and braces are found without it.
            if place is None or decode_text(line.data[place.value_start : place.value_end]) != entries[0].project:
                left += 1
                continue
            new = encode_text(str(paths.moved(entries[0].project)))
            found.append(Edit(line.offset + place.value_start, line.offset + place.value_end, new))
    return found, left


def history_lines_without(home: Home, path: Path, drop: Callable[[str], bool]) -> tuple[list[Edit], int]:
    """Return the edits that remove the lines of some projects, and how many lines those are."""
    found: list[Edit] = []
    with open_inside(home, path) as stream:
        for line in read_lines(stream):
            if line.more or line.part:
                continue
            projects = [entry.project for entry in parse_history_line(line.data, number=line.number)]
            if projects and all(project is not None and drop(project) for project in projects):
                found.append(Edit(line.offset, line.offset + len(line.data), b""))
    return found, len(found)


# --- .claude.json -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ConfigChange:
    data: bytes
    renamed: tuple[tuple[str, str], ...] = ()
    merged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def keys(self) -> int:
        return len(self.renamed) + len(self.removed)


def config_problem(data: bytes) -> str | None:
    """Return why a config cannot be rewritten without loss; None if it can."""
    return decode_json_file(data, expect=dict).problem


def moved_config(data: bytes, paths: PathMap) -> ConfigChange | None:
    """Return the config with the new paths of projects; None if it cannot be read or names none of them."""
    projects = _projects(data)
    if projects is None:
        return None
    place, listed = projects
    grouped: dict[str, list[Member]] = {}
    for item in sorted(
        listed, key=lambda item: paths.is_change(item.key)
    ):  # one that stands at the new path comes first
        grouped.setdefault(paths.moved(item.key) or item.key, []).append(item)
    renamed = tuple(
        (item.key, new) for item in listed if (new := paths.moved(item.key)) is not None and new != item.key
    )
    edits = list(_repository_edits(data, paths))
    if renamed:
        kept = {group[0].key_start: (key, group) for key, group in grouped.items()}
        texts = [
            _entry(data, *kept[item.key_start], paths, _margin(data, listed[0].key_start))
            for item in listed
            if item.key_start in kept
        ]
        edits.append(_rebuilt(data, place, listed, texts))
    if not edits:
        return None
    merged = tuple(key for key, group in grouped.items() if len(group) > 1)
    return ConfigChange(apply_edits(data, edits), renamed, merged)


def config_without(data: bytes, drop: Callable[[str], bool]) -> ConfigChange | None:
    """Return the config without some projects; None if it cannot be read or has none of them."""
    projects = _projects(data)
    if projects is None:
        return None
    place, listed = projects
    gone = tuple(item.key for item in listed if drop(item.key))
    if not gone:
        return None
    texts = [data[item.key_start : item.value_end] for item in listed if item.key not in gone]
    return ConfigChange(apply_edits(data, [_rebuilt(data, place, listed, texts)]), removed=gone)


def project_paths(data: bytes) -> list[str]:
    """Return the paths of the projects in a config."""
    projects = _projects(data)
    return [item.key for item in projects[1]] if projects is not None else []


def _projects(data: bytes) -> tuple[Member, list[Member]] | None:
    if not isinstance(decode_json_file(data, expect=dict).value, dict):
        return None
    place = member(data, "projects", 3 if data.startswith(b"\xef\xbb\xbf") else 0)
    listed = members(data, place.value_start) if place is not None else None
    return (place, listed) if place is not None and listed else None


def _repository_edits(data: bytes, paths: PathMap) -> Iterator[Edit]:
    """Return the edits of `githubRepoPaths`, which says where repositories are checked out."""
    place = member(data, "githubRepoPaths", 3 if data.startswith(b"\xef\xbb\xbf") else 0)
    if place is None:
        return
    for token in string_tokens(data[place.value_start : place.value_end]):
        if not token.is_key and paths.is_change(token.text):
            new = encode_text(str(paths.moved(token.text)))
            yield Edit(place.value_start + token.start, place.value_start + token.end, new)


def _entry(data: bytes, key: str, group: list[Member], paths: PathMap, margin: str | None) -> bytes:
    """Return the member of one project with its new key; several entries become one that holds all they hold."""
    item = group[0]
    between = data[item.key_end : item.value_start]
    value = data[item.value_start : item.value_end]
    if len(group) > 1:
        values = [json.loads(data[each.value_start : each.value_end]) for each in group]
        if all(isinstance(each, dict) for each in values):
            whole: dict[str, Any] = values[0]
            for other in values[1:]:
                whole = merged_project(whole, other)
            value = _dumps(whole, margin)
    edits = [
        Edit(token.start, token.end, encode_text(str(paths.moved(token.text))))
        for name in WORKTREE_KEYS
        for token in values_of(value, name)
        if paths.is_change(token.text)
    ]
    return encode_text(key) + between + apply_edits(value, edits)


def merged_project(stands: Mapping[str, Any], comes: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two entries of one project. The first one wins; what it lacks, or has empty, comes from the other.

    Lists are joined, objects merged by key, and the figures of the last session are taken as a group.
    """
    own_figures = bool(stands.get("lastSessionId"))
    whole = dict(stands)
    for key, value in comes.items():
        current = whole.get(key)
        if key.startswith(_LAST) and own_figures:
            continue
        if isinstance(current, list) and isinstance(value, list):
            whole[key] = [*current, *(item for item in value if item not in current)]
        elif isinstance(current, dict) and isinstance(value, dict):
            whole[key] = {**value, **current}
        elif not current:
            whole[key] = value
    return whole


def _rebuilt(data: bytes, place: Member, listed: list[Member], texts: list[bytes]) -> Edit:
    """Return the object of all projects with other members, in its old layout."""
    before = data[place.value_start + 1 : listed[0].key_start]
    after = data[listed[-1].value_end : place.value_end - 1]
    text = b"{" + before + (b"," + before).join(texts) + after + b"}" if texts else b"{}"
    return Edit(place.value_start, place.value_end, text)


def _margin(data: bytes, key_start: int) -> str | None:
    """Return the white space before a key, from the start of the line; None if everything is on one line."""
    line = data[data.rfind(b"\n", 0, key_start) + 1 : key_start]
    return line.decode("ascii", "ignore") if not line.strip() and b"\n" in data[:key_start] else None


def _dumps(value: Any, margin: str | None = "") -> bytes:
    """Return a value as JSON with two spaces for each level, as Claude Code writes it; compact if `margin` is None."""
    layout: dict[str, Any] = {"separators": (",", ":")} if margin is None else {"indent": 2}
    try:
        data = json.dumps(value, ensure_ascii=False, **layout).encode()
    except UnicodeEncodeError:
        data = json.dumps(value, **layout).encode()
    return data.replace(b"\n", b"\n" + margin.encode()) if margin else data


# --- plugins/installed_plugins.json -----------------------------------------------------------------------------------


def plugin_edits(data: bytes, paths: PathMap) -> list[Edit]:
    """Return the edits for plugins that are installed for one project only."""
    return [
        Edit(token.start, token.end, encode_text(str(paths.moved(token.text))))
        for token in values_of(data, "projectPath")
        if paths.is_change(token.text)
    ]


# --- sessions-index.json ----------------------------------------------------------------------------------------------


def index_entries(data: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
    """Return a session index as plain data, and its entries; None if it is not one (Claude Code then makes a new one)."""
    value = decode_json_file(data, expect=dict).value
    if not isinstance(value, dict) or not isinstance(value.get("entries"), list):
        return None
    return value, [entry for entry in value["entries"] if isinstance(entry, dict)]


def listed_session(entry: Mapping[str, Any]) -> str | None:
    """Return the session that an entry of a session index is about; None if its id is not a text."""
    named = entry.get("sessionId")
    return named if isinstance(named, str) else None


def index_bytes(value: Mapping[str, Any], entries: list[dict[str, Any]]) -> bytes:
    """Return the bytes of a session index in the layout of Claude Code."""
    return _dumps({**value, "entries": entries})


def moved_index_entry(entry: Mapping[str, Any], paths: PathMap, place: Path) -> dict[str, Any]:
    """Return an entry of a session index with new paths of its file and project."""
    moved = {**entry, "fullPath": str(place)}
    project = entry.get("projectPath")
    if isinstance(project, str) and paths.moved(project) is not None:
        moved["projectPath"] = paths.moved(project)
    return moved
