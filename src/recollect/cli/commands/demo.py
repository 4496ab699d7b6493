"""`recollect demo`: a made-up home of every age of the format, to look around in.

JSON: the same object as `recollect overview`, with `demo` (the folder).
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

import click

from ...errors import Refused
from ..command_run import CommandRun, command


@command("demo", epilog="recollect demo\nrecollect demo ./demo-home && recollect --home ./demo-home list")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def demo(run: CommandRun, folder: Path | None) -> None:
    """Build a demo home (in FOLDER, or a temporary one) and show its overview."""
    from .overview import show_overview

    made = make_demo(folder)
    run.say(f"demo home: {made}")
    run.homes = [str(made)]
    run.forget_library()
    show_overview(run, demo=str(made))


def make_demo(folder: Path | None) -> Path:
    from ...testing.demo import build_demo_home

    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(f"{folder} is not empty", hint="name a new or empty folder", slug="not-empty")
    root = Path(tempfile.mkdtemp(prefix="recollect-demo-")) / "claude" if folder is None else folder
    build_demo_home(root, now=datetime.now(UTC))
    return root
