"""Envelopes are the same as those of the patient reader, whatever the file holds."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format import envelopes
from recollect.format.decode import file_entries
from recollect.format.envelopes import Envelope, read_envelopes


def _entry(number: int, **more: Any) -> bytes:
    entry = {
        "parentUuid": None, "isSidechain": False, "type": "user", "message": {"role": "user", "content": f"word {number}\n\"{{"},
        "uuid": f"u{number}", "timestamp": "2026-03-01T00:00:00.000Z", "cwd": "/p", "sessionId": "s", "version": "2.1.0",
        "gitBranch": "main", **more,
    }  # fmt: skip
    return json.dumps(entry, ensure_ascii=number % 2 == 0).encode()


def _patient(data: bytes) -> list[tuple[str | None, ...]]:
    found = [item.entry for item in file_entries(io.BytesIO(data), [])]
    return [
        (
            entry.parentUuid if isinstance(entry.parentUuid, str) else None, entry.type, entry.uuid, entry.timestamp,
            entry.cwd, entry.sessionId, entry.version, entry.gitBranch,
        )
        for entry in found
    ]  # fmt: skip


def _fast(data: bytes) -> list[tuple[str | None, ...]]:
    found = [item for batch in read_envelopes(io.BytesIO(data)) for item in batch]
    return [tuple(getattr(item, name) for name in Envelope.__struct_fields__) for item in found]


_DAMAGED = (
    b"", b"\x00\x00\x00", b"not json", b"[]", b"7", _entry(1)[:60], _entry(2) + _entry(3), _entry(4) + b" " + _entry(5),
    b'{"type":"user","uuid":7}', b'{"type":"user","uuid":"x","message":NaN}', b'{"type":"user","uuid":"\\ud800"}',
    b'{"type":"user","cwd":"\xff"}', b'{"type":"user","message":"\x01"}', _entry(6) + b"\r", b'{"type":null}', b"{}",
    b'\xef\xbb\xbf{"type":"summary"}',
)  # fmt: skip


@given(st.lists(st.one_of(st.integers(0, 50).map(_entry), st.sampled_from(_DAMAGED)), max_size=30), st.booleans())
def test_same_as_the_patient_reader(lines: list[bytes], ends: bool) -> None:
    data = b"\n".join(lines) + (b"\n" if ends else b"")
    assert _fast(data) == _patient(data)


@given(st.lists(st.one_of(st.integers(0, 50).map(_entry), st.sampled_from(_DAMAGED)), max_size=30))
def test_same_with_a_small_buffer(lines: list[bytes]) -> None:
    data = b"\n".join(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(envelopes, "BUFFER", 64)
        patch.setattr(envelopes, "LONGEST", 256)
        patch.setattr(envelopes, "_FEW", 100)
        assert _fast(data) == _patient(data)


def test_long_lines_and_a_mark_at_the_start() -> None:
    long = _entry(0, extra="x" * 700_000)
    longer = _entry(1, extra="é" * 5_000_000)
    data = b"\xef\xbb\xbf" + long + b"\n" + longer + b"\n" + _entry(2) + b"\n" + longer
    assert _fast(data) == _patient(data)
    assert [item[2] for item in _fast(data)] == ["u0", "u1", "u2", "u1"]


def test_nothing() -> None:
    assert _fast(b"") == []
