"""Hold the files of a home in memory until they are written with fixed modification times."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from recollect.testing.encoding import encode_file
from recollect.testing.identifiers import DEFAULT_START, parse_time


@dataclass(frozen=True)
class StagedFile:
    content: bytes
    modified: datetime | None = None
    mode: int = 0o600


class Staging:
    """Relative paths with content. Nothing touches the disk before `write`."""

    def __init__(self, root: str | Path, start: str | datetime = DEFAULT_START) -> None:
        self.root = Path(root)
        self.start = parse_time(start)
        self.files: dict[str, StagedFile] = {}
        self.links: dict[str, str] = {}
        self.folders: set[str] = set()

    def file(
        self,
        path: str,
        content: bytes | str,
        *,
        modified: str | datetime | None = None,
        mode: int = 0o600,
    ) -> str:
        """Stage any file; returns its absolute path. Without `modified` it gets the home's latest moment."""
        data = content.encode() if isinstance(content, str) else content
        when = None if modified is None else parse_time(modified)
        self.files[str(PurePosixPath(path))] = StagedFile(data, when, mode)
        return str(self.root / path)

    def json(self, path: str, value: Any, *, modified: str | datetime | None = None) -> str:
        return self.file(path, encode_file(value), modified=modified)

    def folder(self, path: str) -> str:
        """Stage an empty folder."""
        self.folders.add(path)
        return str(self.root / path)

    def link(self, path: str, target: str) -> str:
        """Stage a symbolic link; `target` is written as it is."""
        self.links[path] = target
        return str(self.root / path)

    def latest(self) -> datetime:
        return max([self.start, *(file.modified for file in self.files.values() if file.modified is not None)])

    def write(self) -> Path:
        """Write everything, set the times, and return the root."""
        self.root.mkdir(parents=True, exist_ok=True)
        for name in sorted(self.folders):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        latest = self.latest()
        for name, staged in sorted(self.files.items()):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(staged.content)
            path.chmod(staged.mode)
            seconds = (staged.modified or latest).timestamp()
            os.utime(path, (seconds, seconds))
        for name, target in sorted(self.links.items()):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            try:
                path.symlink_to(target)
            except OSError:  # no right to create links, as on most Windows machines
                path.write_bytes(self.files[str(PurePosixPath(name).parent / target)].content)
        return self.root
