"""Fork a session of a small home, at once, and read what came of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.edit.fork import ForkResult, plan_fork
from recollect.graph.rows import Transcript
from recollect.graph.thread import Thread, find_thread
from recollect.journal.changes import Journal, Record
from recollect.library.library import Library
from recollect.store.home import Home
from recollect.store.read import read_transcript
from recollect.store.scan import SessionFile
from recollect.testing import HomeBuilder


@dataclass
class Forked:
    result: ForkResult
    record: Record
    home: Home

    @property
    def path(self) -> Path:
        return self.result.path

    @property
    def folder(self) -> Path:
        """What stands beside the fork's main file."""
        return self.path.with_suffix("")

    @property
    def lines(self) -> list[bytes]:
        return self.path.read_bytes().split(b"\n")[:-1]

    @property
    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line.decode("utf-8", "replace")) for line in self.lines]

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [entry for entry in self.entries if "uuid" in entry]

    def states(self, kind: str) -> list[dict[str, Any]]:
        return [entry for entry in self.entries if entry["type"] == kind]

    @property
    def transcript(self) -> Transcript:
        return read_transcript(self.path, self.home)

    @property
    def thread(self) -> Thread:
        return find_thread(self.transcript)

    @property
    def sent(self) -> list[str | None]:
        return [row.uuid for row in self.thread.sent]

    def named(self, uuids: list[str]) -> list[str]:
        """Rows of the source by their names in the fork."""
        return [self.result.uuid_of(uuid) for uuid in uuids]


class Forge:
    """A written home with a journal."""

    def __init__(self, home: HomeBuilder | Path) -> None:
        self.home = Home(home if isinstance(home, Path) else home.write())
        self.journal = Journal(self.home.root.parent / "data")

    def file(self, session: str) -> SessionFile:
        return Library([self.home]).session(session).file

    def fork(self, session: str, **options: Any) -> Forked:
        change, result = plan_fork(self.journal, self.file(session), **options)
        with change:
            record = change.commit()
        return Forked(result, record, self.home)


def words(entry: dict[str, Any]) -> str:
    """What a row says, if that is plain text."""
    content = entry.get("message", {}).get("content")
    if isinstance(content, list):
        content = "".join(block.get("text", "") for block in content)
    return str(content)
