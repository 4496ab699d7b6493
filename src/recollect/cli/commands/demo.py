"""`recollect demo`: a made-up home of every age of the format, to look around in.

JSON: the same object as `recollect overview`, with `demo` (the folder).
"""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from ...errors import Refused
from ..face import Face, command


@command("demo", epilog="recollect demo\nrecollect demo ./demo-home && recollect --home ./demo-home list")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def demo(face: Face, folder: Path | None) -> None:
    """Build a demo home (in FOLDER, or a temporary one) and show its overview."""
    from .overview import _print, survey

    made = make_demo(folder)
    face.say(f"demo home: {made}")
    face.homes = [str(made)]
    face.forget_library()
    answer = survey(face.library, time.time())
    if face.is_text:
        _print(face, answer, time.time())
    else:
        face.value(answer | {"demo": str(made)})


def make_demo(folder: Path | None) -> Path:
    from ...testing.demo import build_demo_home

    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(f"{folder} is not empty", hint="name a new or empty folder", slug="not-empty")
    root = Path(tempfile.mkdtemp(prefix="recollect-demo-")) / "claude" if folder is None else folder
    build_demo_home(root, now=datetime.now(UTC))
    return root
