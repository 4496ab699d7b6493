"""Putting a file back on disk as it was at a message: the diff is shown, asked for, and journaled."""

from __future__ import annotations

import os
from pathlib import Path

from ..environment import home_candidates
from ..errors import DamagedData, Refused
from ..library.session import Session
from ..store.file_contents import FileState, unified_diff
from ..store.home import existing_homes
from ..store.paths import is_secret, refuse_in_homes
from .changing import carry_out, confirm
from .face import Face


def restore_file(
    face: Face, session: Session, path: str, state: FileState, output: str | None, *, dry_run: bool, yes: bool
) -> None:
    """Write the state to the file's own place (or `output`); a state in which it did not exist removes it."""
    target = Path(os.path.abspath(os.path.expanduser(path if output is None else output)))
    _refuse_place(face, target)
    if state.content is None and state.exists is not False:
        raise DamagedData(f"what {path} held there is not known: {state.note or 'no backup'}", slug="unknown-content")
    now = _current(target)
    if now == state.content:
        raise Refused(f"{target} is already as it was there", slug="nothing-to-do")
    lines = unified_diff(now, state.content, str(target), ("on disk", "as it was"))
    if face.is_text:
        for line in lines:
            face.print(line)
    with face.journal.change(session.home, "restore-file", f"Restore {target} from session {session.id}") as change:
        if state.content is None:
            change.remove(target, elsewhere=True)
        else:
            change.write(target, [state.content], replace=now is not None, elsewhere=True)
        result = {
            "path": path, "target": str(target), "exists": state.content is not None, "certain": state.certain,
            "diff": "".join(f"{line}\n" for line in lines),
        }  # fmt: skip
        if not dry_run:
            confirm(f"{target} would be changed", yes=yes, question=f"Put {target} back as it was?")
        carry_out(face, change, result, dry_run=dry_run, yes=True, said=f"{target} is as it was")


def _refuse_place(face: Face, target: Path) -> None:
    """Before anything there is read or shown: what is no file of a project is no business of this command."""
    if is_secret(target):
        raise Refused(f"{target.name} holds secrets and is never touched", slug="secret")
    if target.is_symlink() or (target.exists() and not target.is_file()):
        raise Refused(f"{target} is not a regular file", slug="not-a-file")
    homes = [*face.library.homes, *existing_homes(home_candidates()[0])]
    refuse_in_homes(homes, target, hint="--output FILE puts it into another folder")


def _current(target: Path) -> bytes | None:
    try:
        return target.read_bytes()
    except FileNotFoundError:
        return None
