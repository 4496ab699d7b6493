"""New uuids for the rows of a copy: as different as the old ones, the same in every file, and still uuids."""

from __future__ import annotations

import re
import uuid

from hypothesis import given
from hypothesis import strategies as st

from recollect.format.names import NIL_UUID, Names, Remapping
from recollect.testing import uuid_from

UUIDS = st.uuids(version=4).map(str)
ODD = st.one_of(
    st.text(max_size=40), st.just(NIL_UUID), UUIDS.map(str.upper), UUIDS.map(lambda text: text.replace("-", "")),
    UUIDS.map(lambda text: text + "0"), UUIDS.map(lambda text: text[:-1] + "é"),
)  # fmt: skip


@given(st.lists(UUIDS, unique=True), st.text())
def test_uuids_stay_different_and_are_new(old: list[str], secret: str) -> None:
    new = Remapping(secret).many(old)
    assert len(set(new)) == len(old)
    for before, after in zip(old, new, strict=True):
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", after)
        assert before == NIL_UUID or after != before
        assert uuid.UUID(after).variant == uuid.UUID(before).variant
        assert uuid.UUID(after).version == uuid.UUID(before).version


@given(st.lists(st.one_of(UUIDS, ODD)))
def test_many_at_once_are_what_each_is_alone(old: list[str]) -> None:
    mapping = Remapping("s")
    assert mapping.many(old) == [mapping.one(item) for item in old] == [Remapping("s").one(item) for item in old]


def test_names_that_only_together_look_like_uuids_are_told_apart() -> None:
    joined = uuid_from("a") + uuid_from("b")
    mapping = Remapping("s")
    assert mapping.many([joined[:30], joined[30:]]) == [mapping.one(joined[:30]), mapping.one(joined[30:])]


def test_every_copy_has_uuids_of_its_own() -> None:
    old = [uuid_from(str(number)) for number in range(50)]
    first, second = Names("s", uuid_from("one")), Names("s", uuid_from("two"))
    assert set(first.rows(old)).isdisjoint(second.rows(old))
    assert first.rows(old) == [first.row(item) for item in old]


def test_kept_uuids_are_kept() -> None:
    names = Names("s", uuid_from("one"), keep_uuids=True)
    assert names.row("x") == "x"
    assert names.rows(["x", "y"]) == ["x", "y"]


def test_no_row_stays_no_row() -> None:
    assert Names("s", uuid_from("one")).rows([NIL_UUID, uuid_from("a")])[0] == NIL_UUID
