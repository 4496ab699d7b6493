"""Every export format keeps the contract: over healthy, hostile and damaged sessions, orphans, kept and redacted ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.export.document import OpenSession
from recollect.export.formats import FORMATS
from recollect.library.library import Library
from recollect.library.redaction import redacted_sessions
from recollect.store.home import Home
from recollect.testing import uuid_from
from recollect.testing.export_contract import CONTRACTS, build_export_home


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_export_home(tmp_path_factory.mktemp("export") / "claude")


@pytest.fixture(scope="module")
def sessions(home: Path) -> list[Any]:
    library = recollect.open(home)
    found = library.sessions(kept=None, count=False)
    first = [uuid_from("export", name) for name in ("rich", "hostile", "orphan")]
    ids = [*first, *(item.session_id for item in found if item.session_id not in first)]
    return [library.session(ident) for ident in ids]


@pytest.mark.parametrize("check", CONTRACTS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", FORMATS)
def test_contract(name: str, check: Any, sessions: Sequence[OpenSession], tmp_path: Path) -> None:
    check(FORMATS[name], sessions, tmp_path)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:
    """Sessions that only the vault has, redacted."""
    folder = tmp_path_factory.mktemp("kept")
    home = build_export_home(folder / "claude")
    library = Library([Home(home)], own_folder=lambda kind: folder / kind)
    library.keep()
    for name in ("rich", "hostile"):
        (path,) = home.glob(f"projects/*/{uuid_from('export', name)}.jsonl")
        path.unlink()
    again = Library([Home(home)], own_folder=lambda kind: folder / kind)
    found = [again.session(uuid_from("export", name)) for name in ("rich", "hostile", "orphan")]
    assert [session.home.kept_from is not None for session in found] == [True, True, False]
    with redacted_sessions(found, "personal") as (copies, _):
        yield copies


@pytest.mark.parametrize("name", FORMATS)
def test_kept_and_redacted_sessions(name: str, kept: Sequence[OpenSession], tmp_path: Path) -> None:
    for check in CONTRACTS:
        if check.__name__ != "every_depth_range_and_view_can_be_written":
            check(FORMATS[name], kept, tmp_path)
