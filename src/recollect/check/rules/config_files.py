"""Check whether the JSON files that configure Claude Code are whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...store.config_files import client_config, settings_files
from ..rule import ERROR, Finding, Rule
from ..subject import HomeSubject

CONFIG: Final = Rule(
    "corrupt-config", ERROR, "The global config cannot be read.",
    "Starts as on the first day: projects, permissions, servers and the account are forgotten.",
    "`recollect repair --home-files` restores the newest whole backup and merges what is still readable.", "config",
)  # fmt: skip
SETTINGS: Final = Rule(
    "corrupt-settings", ERROR, "A settings file cannot be read.",
    "Ignores all of it, or refuses to start; with it the wish to keep transcripts longer than 30 days.",
    "Correct the file; the detail says where it breaks.",
)  # fmt: skip


def check(subject: HomeSubject) -> Iterator[Finding]:
    config = client_config(subject.home)
    if config is not None and config.problem:
        yield Finding(CONFIG, subject.home.config_file, config.problem)
    for name, settings in settings_files(subject.home).items():
        if settings.problem:
            yield Finding(SETTINGS, subject.home.root / name, settings.problem)
