"""Check whether other users of this machine may read the transcripts."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Final

from ..rule import WARNING, Finding, Rule
from ..subject import HomeSubject

RULE: Final = Rule(
    "permissions-too-open", WARNING, "Others may read what is in the home.",
    "Writes transcripts with whatever the umask permits.", "`chmod -R go-rwx` the folder.",
)  # fmt: skip
_OPEN: Final = stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP | stat.S_IWOTH


def check(subject: HomeSubject) -> Iterator[Finding]:
    if os.name != "posix":
        return
    home = subject.home
    if not _is_open(home.root):
        return  # nobody gets in, whatever stands inside
    for path in (home.projects, home.config_file, home.root / "history.jsonl"):
        if _is_open(path):
            yield Finding(RULE, path, f"mode {stat.S_IMODE(os.stat(path).st_mode):o}")


def _is_open(path: os.PathLike[str]) -> bool:
    try:
        return bool(os.stat(path).st_mode & _OPEN)
    except OSError:
        return False
