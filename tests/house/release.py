"""Make a release: the changes get a version and a day, and the version its number in the one place that holds it.

    make release VERSION=0.3.0

Writes `CHANGELOG.md` and `src/recollect/__init__.py`, builds archive and wheel into `dist/`, and says which commands are left:
nothing is committed, tagged or uploaded.
"""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[2]
CHANGES: Final = REPOSITORY / "CHANGELOG.md"
VERSION_FILE: Final = REPOSITORY / "src" / "recollect" / "__init__.py"
_VERSION_LINE: Final = re.compile(r'^__version__ = "(?P<version>[^"]+)"$', re.MULTILINE)
_UNRELEASED: Final = re.compile(r"^## Unreleased\n(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def current_version() -> str:
    """Return the version that the package has."""
    found = _VERSION_LINE.search(VERSION_FILE.read_text("utf-8"))
    if found is None:
        raise SystemExit(f"{VERSION_FILE.name} names no version")
    return found["version"]


def released(changes: str, version: str, day: str) -> str:
    """Return the changelog with everything unreleased under a version, and an empty section for what comes next."""
    if re.search(rf"^## {re.escape(version)}\b", changes, re.MULTILINE):
        raise SystemExit(f"{version} is in CHANGELOG.md already")
    found = _UNRELEASED.search(changes)
    if found is None or not found["body"].strip():
        raise SystemExit("CHANGELOG.md has nothing unreleased")
    return changes[: found.start()] + f"## Unreleased\n\n## {version} - {day}\n{found['body']}" + changes[found.end() :]


def is_newer(version: str, than: str) -> bool:
    """Tell whether a version of three numbers comes after another one."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"{version!r} is not a version such as 0.3.0")
    return tuple(map(int, version.split("."))) > tuple(map(int, than.split(".")))


def main(version: str) -> None:
    """Write the release and build it."""
    if not is_newer(version, current_version()):
        raise SystemExit(f"{version} does not come after {current_version()}")
    if subprocess.run(["git", "status", "--porcelain"], cwd=REPOSITORY, capture_output=True).stdout.strip():
        raise SystemExit("there are changes that are not committed")
    changes = released(CHANGES.read_text("utf-8"), version, f"{datetime.now(UTC):%Y-%m-%d}")
    CHANGES.write_text(changes, "utf-8", newline="\n")
    source = _VERSION_LINE.sub(f'__version__ = "{version}"', VERSION_FILE.read_text("utf-8"))
    VERSION_FILE.write_text(source, "utf-8", newline="\n")
    subprocess.run([sys.executable, "-m", "build", "--outdir", "dist"], cwd=REPOSITORY, check=True)
    print(f"then: git commit -am 'Version {version}' && git tag v{version}, and upload what is in dist/")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1]:
        raise SystemExit("which version? make release VERSION=0.3.0")
    main(sys.argv[1])
