"""Recollect's command line, run in this process."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.cli.main import main


@dataclass(frozen=True)
class Output:
    code: int
    data: bytes
    complaints: str

    @property
    def lines(self) -> list[str]:
        return self.data.decode("utf-8", "surrogateescape").splitlines()

    def json(self) -> Any:
        return json.loads(self.data)


def recollect(config: Path, *arguments: str) -> Output:
    data, complaints = io.BytesIO(), io.StringIO()
    out = io.TextIOWrapper(data, "utf-8", "replace", write_through=True)
    with redirect_stdout(out), redirect_stderr(complaints):
        code = main(["--home", str(config), *arguments])
    out.flush()
    return Output(code, data.getvalue(), complaints.getvalue())


def thread(config: Path, session: str, *options: str) -> tuple[bool, list[str]]:
    """Whether there is a conversation, and the uuids of what would be sent."""
    output = recollect(config, "thread", session, *options)
    assert output.code in (0, 1), output.complaints
    return output.code == 0, output.lines
