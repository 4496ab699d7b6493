"""Every test runs in a home of its own: nothing outside its temporary folder is read or written by default."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("ci", deadline=None, derandomize=True, max_examples=100)
settings.register_profile(
    "thorough", deadline=None, max_examples=5_000, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# A shell that starts something in the background has it ignore Ctrl-C, and so would every command that the tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """HOME and every folder that Recollect or the client would take from the environment lie in a folder of their own."""
    home = tmp_path_factory.mktemp("own-home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    for name in list(os.environ):
        if name.startswith(("CLAUDE", "RECOLLECT_", "XDG_")) and name != "RECOLLECT_CORPUS":
            monkeypatch.delenv(name)
    for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(home / "xdg" / kind.lower()))
        monkeypatch.setenv(f"RECOLLECT_{kind}_DIR", str(home / "recollect" / kind.lower()))
    return home
