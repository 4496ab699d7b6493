"""The sessions in a config dir, with the folder from which each can be resumed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from tests.compat.ask import Question

SESSION_NAME = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def transcripts(config: Path) -> list[Path]:
    """Main transcripts; those of subagents have other names."""
    return sorted(path for path in (config / "projects").glob("*/*.jsonl") if SESSION_NAME.fullmatch(path.stem))


def folders_named(path: Path) -> Iterator[Path]:
    for line in path.read_bytes().split(b"\n"):
        if b'"cwd"' in line:
            cwd = json.loads(line).get("cwd")
            if isinstance(cwd, str):
                yield Path(cwd)


def questions(config: Path) -> list[Question]:
    """One for every session; a file that names no folder is asked for from the folder of its neighbours."""
    found = []
    for project in sorted((config / "projects").iterdir()):
        paths = [path for path in transcripts(config) if path.parent == project]
        homes = {path: next((folder for folder in folders_named(path) if folder.is_dir()), None) for path in paths}
        neighbour = next((folder for folder in homes.values() if folder), None)
        for path, folder in homes.items():
            if folder or neighbour:
                found.append(Question(config, path.stem, folder or neighbour or config))
    return found


def transcript_of(question: Question) -> Path:
    return next((question.config / "projects").glob(f"*/{question.session}.jsonl"))
