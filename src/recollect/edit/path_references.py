"""Find the paths in a transcript that must be updated for the session to work after a move; all others stay as they are.

Followed, byte by byte inside their strings:
  - `persistedOutputPath` of a result, and the "saved to" path of its `<persisted-output>` text: the model reads the long
    output from there. (The request log is left alone: its entries are named by the hash of their content.)
  - `file-history-snapshot` and `-delta` lines: absolute tracking paths, `realParentDir` (Claude Code restores no file whose
    folder is another one than recorded), and backup names, which are hashes of absolute paths.
Followed by appending, since the last line of these kinds counts: `relocated` and `worktree-state`.
Not followed: `cwd` of rows, words of people and models, input and output of tools. They say what was then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..errors import RecollectError
from ..format.decode import parse_lines
from ..format.entries import REQUEST_LOG_TYPES, decode_exactly
from ..format.file_history import (
    DELTA_TYPE,
    SNAPSHOT_TYPE,
    FileBackup,
    FileDelta,
    FileSnapshot,
    hash_of_path,
    parse_backup_name,
    parse_file_history_entry,
)
from ..format.json_edit import Edit, encode_text, string_tokens, values_of
from ..format.line import read_entry_lines
from ..store.home import Home, open_inside
from ..store.path_map import PathMap, is_absolute, join_path

PERSISTED_KEY: Final = "persistedOutputPath"
PERSISTED_START: Final = "<persisted-output>"
_NEEDLES: Final = (b'"persistedOutputPath"', b'"<persisted-output>', b'"file-history-', b'"worktree-state"')
_SAVED: Final = re.compile(r"^(?:.* )?saved to: (?P<path>.+)$", re.MULTILINE)
_OUTPUT: Final = re.compile(r"[\\/](?P<session>[^\\/]+)[\\/]tool-results[\\/](?P<name>[^\\/]+)\Z")
_NAME_LIMIT: Final = 8 << 10
"""No path or backup name is longer than this; longer strings of a file-history line are not looked at."""

Outputs = Mapping[tuple[str, str], Path]
"""Long outputs that move: (session, file name) to the new place."""


@dataclass
class Scanned:
    """What a move has to change in one transcript."""

    edits: list[Edit] = field(default_factory=list)
    worktree: dict[str, Any] | None = None
    """The last `worktree-state` line with its paths moved; None where there is nothing to say."""
    backups: dict[str, str] = field(default_factory=dict)
    """Old hash of a path to its new one, for the backups in `file-history/`."""


@dataclass(frozen=True)
class Context:
    """What is known about the session of a transcript."""

    paths: PathMap
    outputs: Outputs
    folders: Sequence[str] = ()
    """Working directories of the session: tracking paths are relative to one of them."""
    backups: frozenset[str] = frozenset()
    """Names of the files in `file-history/<session>/`."""


def scan_transcript(home: Home, path: Path, context: Context) -> Scanned:
    """Read a transcript once and return what a move has to change in it. Raises as `open_inside` does."""
    found = Scanned()
    with open_inside(home, path) as stream:
        for line in read_entry_lines(stream):
            if line.more or line.part or not any(needle in line.data for needle in _NEEDLES):
                continue
            for located in parse_lines([line], []):
                start = located.offset - line.offset
                data = line.data[start : start + located.length]
                kind = located.entry.type
                if kind in REQUEST_LOG_TYPES:
                    continue
                if kind in (SNAPSHOT_TYPE, DELTA_TYPE):
                    edits = _file_history_edits(data, context, found.backups)
                elif kind == "worktree-state":
                    found.worktree = _moved_worktree(decode_exactly(data), context.paths)
                    continue
                else:
                    edits = _output_edits(data, context.outputs)
                found.edits += [Edit(e.start + located.offset, e.end + located.offset, e.text) for e in edits]
    return found


def _output_edits(data: bytes, outputs: Outputs) -> Iterator[Edit]:
    for token in values_of(data, PERSISTED_KEY):
        new = _new_output(token.text, outputs)
        if new is not None:
            yield Edit(token.start, token.end, encode_text(new))
    mark = f'"{PERSISTED_START}'.encode()
    if mark not in data:
        return
    for token in string_tokens(data):
        if not token.text.startswith(PERSISTED_START):
            continue
        match = _SAVED.search(token.text, 0, _NAME_LIMIT)
        new = _new_output(match["path"], outputs) if match else None
        if match is None or new is None:
            continue
        written = encode_text(match["path"])[1:-1]
        at = data.find(written, token.start, token.end)
        if at >= 0:
            yield Edit(at, at + len(written), encode_text(new)[1:-1])


def _new_output(path: str, outputs: Outputs) -> str | None:
    """Return the new path of a long output if its file moves; None if not. The path may name another home."""
    match = _OUTPUT.search(path)
    new = outputs.get((match["session"], match["name"])) if match else None
    return str(new) if new is not None and str(new) != path else None


def _file_history_edits(data: bytes, context: Context, backups: dict[str, str]) -> Iterator[Edit]:
    value = decode_exactly(data)
    entry = parse_file_history_entry(value) if isinstance(value, dict) else None
    if entry is None:
        return
    for path, backup in _tracked(entry):
        _note_hash(path, backup, context, backups)
    for token in string_tokens(data, limit=_NAME_LIMIT):
        name = parse_backup_name(token.text)
        if name is not None and name.path_hash in backups:
            yield Edit(token.start, token.end, encode_text(f"{backups[name.path_hash]}@v{name.version}"))
        elif is_absolute(token.text) and context.paths.is_change(token.text):
            yield Edit(token.start, token.end, encode_text(str(context.paths.moved(token.text))))


def _tracked(entry: FileSnapshot | FileDelta) -> list[tuple[str, FileBackup]]:
    if isinstance(entry, FileSnapshot):
        return list(entry.backups.items())
    return [(entry.path, entry.backup)] if entry.path is not None and entry.backup is not None else []


def _note_hash(path: str, backup: FileBackup, context: Context, backups: dict[str, str]) -> None:
    """Note the new name of a file backup, which is a hash of the file's path."""
    name = parse_backup_name(backup.file_name) if backup.file_name is not None else None
    if name is None or name.path_hash in backups or not any(n.startswith(name.path_hash) for n in context.backups):
        return
    candidates = [path] if is_absolute(path) else [join_path(folder, path) for folder in context.folders]
    if backup.real_parent_dir is not None:
        candidates.append(join_path(backup.real_parent_dir, re.split(r"[\\/]", path)[-1]))
    for candidate in candidates:
        new = context.paths.moved(candidate)
        if new is None or new == candidate or hash_of_path(candidate) != name.path_hash:
            continue
        new_hash = hash_of_path(new)
        if not any(other.startswith(new_hash) for other in context.backups):  # never over another backup
            backups[name.path_hash] = new_hash
        return


def _moved_worktree(value: Any, paths: PathMap) -> dict[str, Any] | None:
    worktree = value.get("worktreeSession") if isinstance(value, dict) else None
    if not isinstance(worktree, dict):
        return None
    moved = {
        key: paths.moved(item) if isinstance(item, str) and is_absolute(item) and paths.is_change(item) else item
        for key, item in worktree.items()
    }
    return {**value, "worktreeSession": moved} if moved != worktree else None


def relocated(session_id: str, path: str) -> dict[str, str]:
    """Return the line by which Claude Code notes that a session works in another folder."""
    return {"type": "relocated", "sessionId": session_id, "relocatedCwd": path}


def with_edits(home: Home, path: Path, edits: Sequence[Edit], tail: bytes = b"") -> Iterator[bytes]:
    """Yield the bytes of a file with edits applied and lines added at its end, in pieces of bounded size."""
    last = b""
    with open_inside(home, path) as stream:
        place = 0
        for edit in [*sorted(edits, key=lambda item: item.start), None]:
            length = -1 if edit is None else edit.start - place
            for piece in _pieces(stream, length):
                last = piece[-1:]
                yield piece
            if edit is not None:
                yield edit.text
                stream.seek(edit.end)
                place, last = edit.end, edit.text[-1:]
    if tail:
        yield tail if last in (b"", b"\n") else b"\n" + tail


def _pieces(stream: Any, length: int) -> Iterator[bytes]:
    while length != 0:
        piece = stream.read(1 << 20 if length < 0 else min(length, 1 << 20))
        if not piece:
            return
        yield piece
        length -= len(piece) if length > 0 else 0


def readable(home: Home, path: Path) -> bool:
    """Whether a file can be opened. One that cannot is moved unchanged."""
    try:
        with open_inside(home, path):
            return True
    except (RecollectError, OSError):
        return False


META_KEYS: Final = ("cwd", "worktreePath")


def subagent_meta_edits(data: bytes, paths: PathMap) -> list[Edit]:
    """Return the edits of the folder in which a subagent works, in its `.meta.json`."""
    return [
        Edit(token.start, token.end, encode_text(str(paths.moved(token.text))))
        for key in META_KEYS
        for token in values_of(data, key)
        if paths.is_change(token.text)
    ]
