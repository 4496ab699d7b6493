"""Scratch projects for the client to work in."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.compat import scenarios
from tests.compat.sealed import DUMMY_KEY

HERE = Path(__file__).resolve().parent
NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "id": "c1",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": ["print(1)"],
        }
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}
CLAUDE_FILES = {
    "commands/shout.md": "---\ndescription: Shout\n---\nShout this: $ARGUMENTS [fake:hello]\n",
    "agents/helper.md": "---\nname: helper\ndescription: A helper\ntools: Read, Bash\n---\nYou help.\n",
    "skills/greet/SKILL.md": "---\nname: greet\ndescription: Greets people\n---\nSay hello to $ARGUMENTS.\n",
}


def make_project(path: Path) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    (path / "a.txt").write_text("hello\n")
    (path / "b.txt").write_text("second file\n")
    (path / "dot.png").write_bytes(base64.b64decode(scenarios.PNG_1PX))
    (path / "n.ipynb").write_text(json.dumps(NOTEBOOK))
    (path / "CLAUDE.md").write_text("# Fake project\nBe brief.\n")
    server = {"command": sys.executable, "args": [str(HERE / "fake_mcp.py")]}
    (path / "mcp.json").write_text(json.dumps({"mcpServers": {"fake": server}}))
    for name, text in CLAUDE_FILES.items():
        target = path / ".claude" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "first"]):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        subprocess.run(["git", *identity, *command], cwd=path, check=True, capture_output=True)
    return path


def answer_first_questions(config: Path, projects: Sequence[Path]) -> None:
    """Answer what the interactive client asks at its first start (theme, key, trust) beforehand."""
    path = config / ".claude.json"
    data = json.loads(path.read_text()) if path.exists() else {}
    data.update(
        {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "bypassPermissionsModeAccepted": True,
            "customApiKeyResponses": {"approved": [DUMMY_KEY[-20:]], "rejected": []},
        }
    )
    for project in projects:
        entry = data.setdefault("projects", {}).setdefault(str(project), {})
        entry.update({"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True})
    path.write_text(json.dumps(data, indent=2))
