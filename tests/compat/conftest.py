"""The real client's answers, gathered once for a run of the tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.compat import clients
from tests.compat.ask import ask_many
from tests.compat.capture import capture, read_index
from tests.compat.crafted import write_case
from tests.compat.told import Store, Told

KEPT = os.environ.get("RECOLLECT_COMPAT_STORES")  # asked now: the tests themselves run without the caller's settings


@pytest.fixture(scope="session", autouse=True)
def fetched() -> None:
    for version in (clients.NEWEST, *clients.OLDER):
        try:
            clients.command(version)
        except clients.ClientUnavailable as problem:
            pytest.skip(f"the real client is not to be had: {problem}")


@pytest.fixture(scope="session")
def crafted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    """The crafted sessions that the selected tests ask for, by name."""
    folder = tmp_path_factory.mktemp("crafted")
    asked = [getattr(item, "callspec", None) for item in request.session.items]
    names = sorted({spec.params["crafted_name"] for spec in asked if spec and "crafted_name" in spec.params})
    written = [write_case(name, folder / name) for name in names]
    answers = ask_many([question for _, question in written])
    return {
        case.name: Told(question, case.transcript(), answer)
        for (case, question), answer in zip(written, answers, strict=True)
    }


@pytest.fixture(scope="session")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Store]:
    """The store that a version of the client filled; made when first asked for.

    ``RECOLLECT_COMPAT_STORES=FOLDER`` keeps the stores there and takes them from there the next time.
    """
    made: dict[str, Store] = {}

    def store(version: str) -> Store:
        if version not in made:
            out = Path(KEPT).resolve() / version if KEPT else tmp_path_factory.mktemp("captured")
            index = read_index(out) or capture(out, version, "all" if version == clients.NEWEST else "core")
            made[version] = Store(out / "config", {row["name"]: row["session"] for row in index})
        return made[version]

    return store
