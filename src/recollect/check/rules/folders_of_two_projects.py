"""Find folders below `projects/` with sessions of two projects, whose paths lead to the same name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...store.project_folders import folders_of_two_projects
from ..rule import INFO, Finding, Rule
from ..subject import HomeSubject

RULE: Final = Rule(
    "shared-folder", INFO, "Two projects share a folder: their paths differ only in what its name leaves out.",
    "Tells their sessions apart by their lines since 2.1.325; older clients mix them, and all share the memory.",
    "`recollect split` parts them.",
)  # fmt: skip


def check(subject: HomeSubject) -> Iterator[Finding]:
    for name, projects in folders_of_two_projects(subject.home).items():
        yield Finding(RULE, subject.home.projects / name, " and ".join(projects))
