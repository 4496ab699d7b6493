"""One source of the version, and a changelog that a release can be made of."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib

import pytest
from tests.house.release import CHANGES, REPOSITORY, current_version, is_newer, released

import recollect

TEXT = "# Changes\n\nwords\n\n## Unreleased\n\n### Fixed\n\n- a\n\n## 0.1.0 - 2026-01-01\n\n- b\n"


def test_the_version_stands_in_one_place() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    assert "version" in settings["project"]["dynamic"]
    assert settings["tool"]["hatch"]["version"]["path"] == "src/recollect/__init__.py"
    assert recollect.__version__ == current_version()
    assert importlib.metadata.version("recollect")  # what was installed may be older than the checkout


def test_the_version_is_in_the_changelog() -> None:
    sections = re.findall(r"^## (.+)$", CHANGES.read_text("utf-8"), re.MULTILINE)
    assert sections[0] == "Unreleased"
    assert sections[1].startswith(f"{current_version()} - ")


def test_a_release_moves_what_is_unreleased() -> None:
    assert released(TEXT, "0.2.0", "2026-02-02") == TEXT.replace(
        "## Unreleased\n", "## Unreleased\n\n## 0.2.0 - 2026-02-02\n"
    )


def test_nothing_is_released_twice_or_empty() -> None:
    with pytest.raises(SystemExit, match="already"):
        released(TEXT, "0.1.0", "2026-02-02")
    with pytest.raises(SystemExit, match="nothing unreleased"):
        released(TEXT.replace("### Fixed\n\n- a\n", ""), "0.2.0", "2026-02-02")


@pytest.mark.parametrize(("version", "newer"), [("0.2.0", True), ("0.10.0", True), ("0.1.9", False), ("0.1.10", False)])
def test_versions_go_up(version: str, newer: bool) -> None:
    assert is_newer(version, "0.1.10") is newer


@pytest.mark.parametrize("version", ["", "1", "v0.3.0", "0.3.0rc1"])
def test_what_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(SystemExit, match="is not a version"):
        is_newer(version, "0.1.0")
