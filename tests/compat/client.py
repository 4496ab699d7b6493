"""One sealed installation of the real client: its own HOME, its own config dir, a dummy key, the fake API."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.compat.sealed import client_environment


@dataclass(frozen=True)
class Run:
    """What one run of the client gave."""

    code: int
    out: str
    err: str
    seconds: float
    timed_out: bool = False


class Client:
    def __init__(self, command: Sequence[str], root: Path, api_url: str, config: Path | None = None) -> None:
        self.command = list(command)
        self.root = root
        self.home = root / "home"
        self.config = config or root / "config"
        self.home.mkdir(parents=True, exist_ok=True)
        self.config.mkdir(parents=True, exist_ok=True)
        self.environment = client_environment(self.home, self.config, api_url)

    def run(
        self,
        arguments: Sequence[str],
        cwd: Path,
        *,
        stdin: str | None = None,
        extra: Mapping[str, str] | None = None,
        timeout: float = 90,
        interrupt_after: float | None = None,
    ) -> Run:
        """Run once; ``interrupt_after`` sends SIGINT after that many seconds."""
        started = time.monotonic()
        process = subprocess.Popen(
            [*self.command, *arguments],
            cwd=cwd,
            env={**self.environment, **(extra or {})},
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        timed_out = False
        try:
            if interrupt_after is not None:
                time.sleep(interrupt_after)
                os.kill(process.pid, signal.SIGINT)
            out, err = process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        return Run(process.returncode, out, err, round(time.monotonic() - started, 2), timed_out)

    def prompt(
        self,
        text: str,
        *arguments: str,
        cwd: Path,
        stdin: str | None = None,
        extra: Mapping[str, str] | None = None,
        timeout: float = 90,
        interrupt_after: float | None = None,
    ) -> Run:
        """``claude -p TEXT ARGUMENTS``"""
        return self.run(
            ["-p", text, *arguments], cwd, stdin=stdin, extra=extra, timeout=timeout, interrupt_after=interrupt_after
        )
