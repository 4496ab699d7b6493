"""Small session files, each named after what it shows, built in code.

python -m tests.compat.crafted FOLDER        write them all, each into a config dir of its own
"""

from __future__ import annotations

from pathlib import Path

from tests.compat.ask import Question
from tests.compat.crafted import (
    chains,
    checkpoints,
    compactions,
    contents,
    lines,
    local_commands,
    made_up,
    order,
    preserved,
    results,
    rows,
    several_lines,
    times,
    tools,
    values,
    withdrawn,
)
from tests.compat.crafted.random_sessions import random_builder
from tests.compat.crafted.sheet import Builder, Case, build_case, builders_of, encoded_folder

MODULES = (
    chains,
    order,
    times,
    checkpoints,
    withdrawn,
    compactions,
    preserved,
    tools,
    results,
    rows,
    made_up,
    contents,
    lines,
    several_lines,
    values,
    local_commands,
)
BUILDERS: dict[str, Builder] = {name: builder for module in MODULES for name, builder in builders_of(module).items()}
RANDOM = "random-"


def builder_of(name: str) -> Builder:
    """The builder of a named case, or of a random one (``random-SEED``)."""
    return random_builder(int(name.removeprefix(RANDOM))) if name.startswith(RANDOM) else BUILDERS[name]


def write_case(name: str, folder: Path) -> tuple[Case, Question]:
    """Write one case below ``folder``: ``config/`` and the ``cwd/`` it belongs to."""
    cwd = folder.resolve() / "cwd"
    cwd.mkdir(parents=True, exist_ok=True)
    case = build_case(name, builder_of(name), str(cwd))
    project = folder.resolve() / "config" / "projects" / encoded_folder(cwd)
    project.mkdir(parents=True, exist_ok=True)
    (project / f"{case.session}.jsonl").write_bytes(case.data)
    return case, Question(folder.resolve() / "config", case.session, cwd)
