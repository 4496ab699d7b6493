"""Check `sessions-index.json`, Claude Code's own cache of its sessions (2.0.77 - 2.1.20), which is often out of date."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...store.layout import SESSIONS_INDEX
from ...store.side_files import sessions_index
from ..rule import WARNING, Finding, Rule
from ..subject import HomeSubject

RULE: Final = Rule(
    "stale-sessions-index", WARNING, "The client's list of sessions does not say what is in the folder.",
    "2.0.77 - 2.1.20 do not list sessions that are missing in it; newer ones do not read it.",
    "`recollect repair --home-files` writes it anew.", "index",
)  # fmt: skip


def check(subject: HomeSubject) -> Iterator[Finding]:
    folders: dict[str, set[str]] = {}
    for file in subject.scan.sessions:
        if file.client_lists:
            folders.setdefault(file.folder, set()).add(file.session_id)
    for name, present in folders.items():
        folder = subject.home.projects / name
        index = sessions_index(subject.home, folder)
        if index is None:
            continue
        listed = {entry.session_id for entry in index.entries}
        missing, gone = len(present - listed), len(listed - present)
        if index.problem or missing or gone:
            told = index.problem or f"{missing} sessions are missing in it, {gone} are gone"
            yield Finding(RULE, folder / SESSIONS_INDEX, told)
