"""Small session files, each named after what it shows, built in code.

    python -m tests.compat.crafted FOLDER        write them all, each into a config dir of its own
"""
from __future__ import annotations

from pathlib import Path

from tests.compat.ask import Question
from tests.compat.crafted import chains, checkpoints, compactions, contents, lines, order, rows, times, tools
from tests.compat.crafted.sheet import Builder, Case, build_case, builders_of, encoded_folder

MODULES = (chains, order, times, checkpoints, compactions, tools, rows, contents, lines)
BUILDERS: dict[str, Builder] = {name: builder for module in MODULES for name, builder in builders_of(module).items()}


def write_case(name: str, folder: Path) -> tuple[Case, Question]:
    """Write one case below ``folder``: ``config/`` and the ``cwd/`` it belongs to."""
    cwd = folder.resolve() / "cwd"
    cwd.mkdir(parents=True, exist_ok=True)
    case = build_case(name, BUILDERS[name], str(cwd))
    project = folder.resolve() / "config" / "projects" / encoded_folder(cwd)
    project.mkdir(parents=True, exist_ok=True)
    (project / f"{case.session}.jsonl").write_bytes(case.data)
    return case, Question(folder.resolve() / "config", case.session, cwd)
