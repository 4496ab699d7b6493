"""Find sessions that lie in two project folders: after a transcript was copied, or a move was interrupted."""

from __future__ import annotations

from collections.abc import Iterable

from ..format.project_key import same_project_key
from .scan import SessionFile
from .summary import summarise


def copies_of_sessions(files: Iterable[SessionFile]) -> list[list[SessionFile]]:
    """Group the files of each home that have the same session id, the file that may keep the id first.

    That is the file in the project folder that its own lines name; among several of them, the newest. One file under
    two names (a link) is not a copy.
    """
    named: dict[tuple[str, str], list[SessionFile]] = {}
    for file in files:
        named.setdefault((str(file.home.root), file.session_id), []).append(file)
    found = [_different(same) for same in named.values() if len(same) > 1]
    return [sorted(same, key=_right_to_the_id, reverse=True) for same in found if len(same) > 1]


def _different(files: list[SessionFile]) -> list[SessionFile]:
    by_file: dict[object, SessionFile] = {}
    for file in files:
        try:
            info = file.path.stat()
        except OSError:
            continue
        by_file.setdefault((info.st_dev, info.st_ino), file)
    return list(by_file.values())


def _right_to_the_id(file: SessionFile) -> tuple[bool, float, str]:
    belongs = any(same_project_key(file.folder, cwd) for cwd in summarise(file).cwds)
    return belongs, file.mtime, str(file.path)
