"""Debian's Chromium for the tests: found, or installed. `python -m tests.browser.chromium` installs it where it can."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    named = os.environ.get("RECOLLECT_CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name)) is not None), None)


def install() -> str | None:
    """By apt, where this is a Debian and we may. Elsewhere the tests say why they are skipped."""
    found = find_chromium()
    if found is not None or shutil.which("apt-get") is None:
        return found
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    for command in (
        ["apt-get", "update", "-q"],
        ["apt-get", "install", "-y", "-q", "--no-install-recommends", "chromium"],
    ):
        finished = subprocess.run([*prefix, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if finished.returncode:
            print(finished.stderr.strip()[-500:], file=sys.stderr)
            return None
    return find_chromium()


if __name__ == "__main__":
    place = install()
    print(place or "no Chromium: the tests of the pages in a browser will be skipped")
