"""The interactive client inside a private tmux server."""

from __future__ import annotations

import subprocess
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from tests.compat.client import Client


class Tui:
    def __init__(self, client: Client, cwd: Path, arguments: Sequence[str]) -> None:
        self.socket = f"recollect-{uuid.uuid4().hex[:8]}"
        self.environment = client.environment
        size = ["-x", "160", "-y", "50"]
        start = ["new-session", "-d", "-s", "main", *size, "-c", str(cwd), "--", *client.command, *arguments]
        self.tmux("-f", "/dev/null", *start)
        self.tmux("set-option", "-g", "remain-on-exit", "on")
        self.screens: list[str] = []

    def tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self.socket, *arguments], env=self.environment, capture_output=True, text=True, timeout=20
        )
        return done.stdout

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", "main")

    def wait(self, text: str, timeout: float = 30) -> bool:
        """Wait until TEXT is on the screen."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if text in self.screen():
                return True
            time.sleep(0.15)
        self.screens.append(f"--- waited in vain for {text!r} ---\n{self.screen()}")
        return False

    def keys(self, *keys: str, pause: float = 0.25) -> None:
        for key in keys:
            self.tmux("send-keys", "-t", "main", key)
            time.sleep(pause)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-t", "main", "-l", text)
        time.sleep(0.3)
        self.keys("Enter")

    def say(self, text: str, answer: str) -> None:
        """Send a prompt and let the turn come to rest: its last lines are written after the answer is shown."""
        self.type(text)
        self.wait(answer)
        time.sleep(1)

    def leave(self) -> None:
        self.screens.append(self.screen())
        self.type("/exit")
        time.sleep(2)

    def close(self) -> None:
        self.tmux("kill-server")
