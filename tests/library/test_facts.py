"""Check, overview, doctor, config and flags as verbs of the library, on the demo home."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.errors import NotFound
from recollect.library.indexing import index_facts
from recollect.library.library import Library
from recollect.store.home import check_home
from recollect.testing.demo import build_demo_home


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("facts")
    build_demo_home(folder / "claude", now=datetime(2026, 3, 2, 12, tzinfo=UTC))
    return Library([check_home(folder / "claude")], own_folder=lambda kind: folder / kind)


def test_a_check_of_everything_counts_what_it_finds(library: Library) -> None:
    told: list[tuple[int, int]] = []
    result = library.check(progress=lambda done, todo: told.append((done, todo)))
    assert result.checked == len(library.files()) == told[-1][0] == told[-1][1]
    assert sum(result.counts.values()) == len(result.findings)
    assert result.whole == result.checked - sum(report.worst in ("error", "warning") for report in result.sessions)
    assert 0 < result.whole < result.checked
    errors = result.at_least("error")
    assert errors
    assert {item.severity for item in errors} == {"error"}
    assert result.at_least("info") == result.findings
    assert any(item.session_id is None for item in result.findings), "the home itself is looked at"


def test_a_check_of_one_session_or_rule(library: Library) -> None:
    whole = library.check()
    code = whole.at_least("error")[0].code
    only = library.check(rules=[code])
    assert {item.code for item in only.findings} == {code}
    ident = whole.at_least("error")[0].session_id
    assert ident is not None
    one = library.check(ident)
    assert one.checked == len(one.sessions) == 1
    assert [item.as_dict() for item in one.findings] == [
        item.as_dict() for item in library.session(ident).check().findings
    ]
    with pytest.raises(NotFound) as caught:
        library.check(rules=["no-such"])
    assert (caught.value.slug, code in caught.value.nearest) == ("no-such-rule", True)


def test_overview_and_doctor_agree(library: Library) -> None:
    glance, deep = library.overview(), library.doctor(deep=True)
    assert glance["sessions"] == deep["homes"][0]["sessions"] == len(library.files())
    assert glance["subagents"] == deep["homes"][0]["subagents"]
    assert glance["vault_problem"] is None
    assert deep["read_whole"]
    assert glance["damage"]["sessions"] == len({row["session_id"] for row in deep["rows"] if row["line"] is not None})


def test_what_is_kept_no_longer_counts_as_not_kept(tmp_path: Path) -> None:
    build_demo_home(tmp_path / "claude", now=datetime(2026, 3, 2, 12, tzinfo=UTC))
    library = Library([check_home(tmp_path / "claude")], own_folder=lambda kind: tmp_path / kind)
    now = datetime(2026, 3, 30, tzinfo=UTC).timestamp()
    before = library.overview(now=now)
    assert before["expiring_not_kept"] == len(before["expiring"]) > 0
    library.keep()
    library.refresh()
    assert library.overview(now=now)["expiring_not_kept"] == 0


def test_config_and_flags(library: Library) -> None:
    (row,) = library.config()
    assert row["home"] == str(library.homes[0].root)
    path = row["projects"][0]["path"]
    assert library.config(path)[0]["path"] == path
    with pytest.raises(NotFound):
        library.config("/nowhere")
    found = library.flags()
    assert found.problems == []
    for kind in {row["kind"] for row in found.rows}:
        assert {row["kind"] for row in library.flags(kind=kind).rows} == {kind}
    assert library.flags("no such name anywhere").rows == []


def test_the_index_tells_what_it_has(library: Library) -> None:
    facts = index_facts(library, library.index(statuses=True))
    assert facts["sessions"] == len(library.files())
    assert facts["index_bytes"] > 0
    again = index_facts(library, library.index(statuses=True))
    assert (again["files"], again["sessions"]) == (0, facts["sessions"])
