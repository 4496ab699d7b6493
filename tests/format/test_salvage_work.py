"""How much work a damaged line makes: in proportion to its length, whatever is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from recollect.format import salvage
from recollect.format.line import Extent, RawLine, value_extent

ROW = json.dumps(
    {"type": "user", "uuid": "x", "message": {"content": [{"type": "text", "text": "words"}] * 40}, "timestamp": "t"}
).encode()


@pytest.mark.parametrize(
    "line",
    [
        ROW[: len(ROW) // 2],
        ROW[:-1],
        ROW[len(ROW) // 3 :],
        ROW + ROW,
        b"\0" * 40 + ROW,
        ROW[: len(ROW) // 2] + ROW,
        b'{"type":' * 2000,
        b'{"type":"x","a":[' * 400,
        b'{"type":1}x' * 1000,
    ],
)
def test_the_bytes_gone_through_are_in_proportion(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    def counting(of: Callable[..., object]) -> Callable[..., object]:
        def counted(data: bytes | str, *rest: object, **more: object) -> object:
            nonlocal read
            read += len(data)
            return of(data, *rest, **more)

        return counted

    def read_value(data: bytes, start: int = 0, end: int | None = None) -> Extent:
        nonlocal read
        extent = value_extent(data, start, end)
        read += extent.reached - start
        return extent

    monkeypatch.setattr(salvage, "value_extent", read_value)
    for name in ("_split", "_read_patiently", "loads_leniently", "skim_object"):
        monkeypatch.setattr(salvage, name, counting(getattr(salvage, name)))
    salvage.salvage_line(RawLine(line + b"\n", 0, 2))
    assert read <= 40 * len(line) + 100_000
