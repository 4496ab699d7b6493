"""Fetch clients from the npm registry into a cache of the checkout: never an installation that somebody uses.

The cache is ``.cache/clients/<version>/package/`` (``RECOLLECT_CLIENTS_DIR`` names another folder). A version is
fetched once; it appears under its final name by one rename, so a killed download leaves nothing that looks complete.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NEWEST = "2.1.326"
BETWEEN = ("2.1.197",)
"""Of the same age as the newest one, asked only where ages matter less than versions."""
OLDER = ("2.0.77", "1.0.128")
LAST_AS_SCRIPT = (2, 1, 112)
"""Up to this version the package holds a ``cli.js`` for node; later ones come as a binary for each platform."""

REPOSITORY = Path(__file__).resolve().parents[2]
CACHE_VARIABLE = "RECOLLECT_CLIENTS_DIR"
CACHE = Path(os.environ.get(CACHE_VARIABLE) or REPOSITORY / ".cache" / "clients").resolve()


class ClientUnavailable(RuntimeError):
    """The client cannot be fetched or run here."""


def is_script(version: str) -> bool:
    return tuple(int(part) for part in version.split(".")) <= LAST_AS_SCRIPT


def package_name(version: str) -> str:
    if is_script(version):
        return "@anthropic-ai/claude-code"
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine().lower())
    if machine is None:
        raise ClientUnavailable(f"no client package for {platform.machine()}")
    return f"@anthropic-ai/claude-code-{sys.platform}-{machine}"


def command(version: str) -> list[str]:
    """The command that starts this version of the client, fetched first if need be."""
    folder = CACHE / version
    if not folder.is_dir():
        with _only_one_fetcher():
            if not folder.is_dir():
                _fetch(version, folder)
    if is_script(version):
        if shutil.which("node") is None:
            raise ClientUnavailable(f"client {version} needs node")
        return ["node", str(folder / "package" / "cli.js")]
    return [str(folder / "package" / "claude")]


@contextmanager
def _only_one_fetcher() -> Iterator[None]:
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _fetch(version: str, folder: Path) -> None:
    if shutil.which("npm") is None:
        raise ClientUnavailable("npm is needed to fetch the client")
    spec = f"{package_name(version)}@{version}"
    scratch = Path(tempfile.mkdtemp(prefix=".fetch-", dir=CACHE))
    try:
        done = subprocess.run(
            ["npm", "pack", "--silent", spec], cwd=scratch, capture_output=True, text=True, timeout=600
        )
        archives = list(scratch.glob("*.tgz"))
        if done.returncode != 0 or len(archives) != 1:
            raise ClientUnavailable(f"npm pack {spec}: {done.stderr.strip()[-300:] or 'no archive came'}")
        with tarfile.open(archives[0]) as archive:
            archive.extractall(scratch / "open", filter="data")
        (scratch / "open").rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main() -> int:
    for version in sys.argv[1:] or [NEWEST, *OLDER]:
        print(version, " ".join(command(version)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
