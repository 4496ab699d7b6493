"""`usage --plot` and `--heat`: what can be seen in the pictures."""

from __future__ import annotations

import re
import zlib
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.analysis.scene import Scene, tokens
from tests.cli.usage_scene import FULL, SESSION, ask, scene

from recollect import environment
from recollect.export import plot_fonts, usage_plot

__all__ = ["ask", "scene"]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_plots(ask: Any, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"plot.{ending}"
    assert ask("usage", "--by", "month", "--plot", str(target)).code == 0
    data = target.read_bytes()
    assert data.startswith(b"<svg" if ending == "svg" else b"\x89PNG") and len(data) > 500


@pytest.mark.parametrize("days", [3, 12, 29, 31, 64, 120, 400])
def test_no_label_stands_on_the_next_one(ask: Any, scene: Scene, tmp_path: Path, days: int) -> None:
    for day in (0, days - 1):
        when = datetime(2025, 1, 5, 12, tzinfo=UTC) + timedelta(days=day)
        scene.append(SESSION, scene.answer(f"d{day}", FULL, request=f"d{day}", time=when.isoformat(), session=SESSION))
    target = tmp_path / "plot.svg"
    assert ask("usage", "--until", "2026-02-15", "--timezone", "UTC", "--plot", str(target)).code == 0
    found = re.findall(r'<text x="([\d.]+)" y="\d+" text-anchor="middle"[^>]*>(\d{4}-\d\d-\d\d)<', target.read_text())
    assert len(found) >= 3
    places = [float(x) for x, _ in found]
    assert min(right - left for left, right in pairwise(places)) > 12 * 0.6 * len(found[0][1])


def drawn(ask: Any, target: Path, *chosen: str) -> str:
    assert ask("usage", "--timezone", "UTC", "--plot", str(target), *chosen).code == 0
    return target.read_text()


@pytest.mark.parametrize("output", [2, 900, 1000, 1500, 100_000])
def test_the_numbers_of_the_axis_have_equal_steps(ask: Any, scene: Scene, tmp_path: Path, output: int) -> None:
    scene.write(SESSION, scene.answer("m1", tokens(0, output), time="2026-03-01T10:00:00.000Z", session=SESSION))
    svg = drawn(ask, tmp_path / "plot.svg", "--subagent", "main")
    shown = re.findall(r'text-anchor="end" fill="#555555">\$([\d.]+)<', svg)
    numbers = [float(text) for text in shown]
    assert len(set(shown)) == len(shown) > 2 and len({len(text) for text in shown}) == 1
    steps = [after - before for before, after in pairwise(numbers)]
    assert max(steps) - min(steps) < 1e-9 and numbers[-2] < output * 15e-6 <= numbers[-1] + 1e-9


@pytest.mark.parametrize("days", [1, 3, 40, 119, 200])
def test_what_has_no_time_stands_apart_with_its_name(ask: Any, scene: Scene, tmp_path: Path, days: int) -> None:
    rows = [
        scene.answer(
            f"d{day}", FULL, request=f"d{day}", session=SESSION,
            time=(datetime(2025, 1, 5, 12, tzinfo=UTC) + timedelta(days=day)).isoformat(),
        )
        for day in range(days)
    ]  # fmt: skip
    scene.write(SESSION, *rows, scene.answer("n1", FULL, request="n1", time=None, session=SESSION))
    svg = drawn(ask, tmp_path / "plot.svg", "--subagent", "main")
    bars = [
        float(x) for x in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="[\d.]+" height="[\d.]+" fill="#4', svg)
    ][:-1]
    labels = re.findall(r'<text x="([\d.]+)" y="366" text-anchor="(\w+)"[^>]*>([^<]+)<', svg)
    assert labels[-1][2] == "(no time)"
    if days > 1:
        assert bars[-1] - bars[-2] > (bars[1] - bars[0] if days > 2 else 0) + 20
    for (left, one, words), (right, other, _) in pairwise(labels):
        end = float(left) + (0 if one == "end" else 6.9 * len(words) / 2)
        start = float(right) - 6.9 * 9 / (1 if other == "end" else 2)
        assert end <= start
    assert float(labels[-1][0]) + (0 if labels[-1][1] == "end" else 6.9 * 9 / 2) < usage_plot.WIDTH
    left_out = max(days - 119, 0)
    assert ("not drawn" in svg) == bool(left_out)
    if left_out:
        assert f"not drawn: $0.29 of {left_out} rows of the table" in svg


def test_days_in_the_future_are_said_to_be_left_out(ask: Any, scene: Scene, tmp_path: Path) -> None:
    scene.append(SESSION, scene.answer("f1", FULL, request="f1", time="2999-01-01T10:00:00.000Z", session=SESSION))
    assert "not drawn: $0.0035 of 1 row of the table" in drawn(ask, tmp_path / "plot.svg")


def pixels(data: bytes) -> list[list[tuple[int, ...]]]:
    """Rows of pixels of a PNG with 8 bits a channel, as resvg writes it."""
    at, packed, width, kind = 8, b"", 0, 0
    while at < len(data):
        length = int.from_bytes(data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if name == b"IHDR":
            width, kind = int.from_bytes(body[:4]), body[9]
        packed += body if name == b"IDAT" else b""
        at += length + 12
    size = {2: 3, 6: 4}[kind]
    raw, rows, above = zlib.decompress(packed), [], bytes(width * size)
    for start in range(0, len(raw), width * size + 1):
        line = bytearray(raw[start + 1 : start + 1 + width * size])
        for place in range(len(line)):
            left = line[place - size] if place >= size else 0
            corner = above[place - size] if place >= size else 0
            line[place] = (line[place] + filtered(raw[start], left, above[place], corner)) & 255
        rows.append([tuple(line[place : place + size]) for place in range(0, len(line), size)])
        above = bytes(line)
    return rows


def filtered(kind: int, left: int, above: int, corner: int) -> int:
    near = min((left, above, corner), key=lambda value: abs(left + above - corner - value))
    return (0, left, above, (left + above) // 2, near)[kind]


def ink(rows: list[list[tuple[int, ...]]], x: range, y: range) -> int:
    """How many pixels of an area are not white."""
    return sum(rows[line][place][:3] != (255, 255, 255) for line in y for place in x)


def test_text_can_be_seen_in_a_png(ask: Any, tmp_path: Path) -> None:
    target = tmp_path / "plot.png"
    assert ask("usage", "--by", "month", "--timezone", "UTC", "--plot", str(target)).code == 0
    rows = pixels(target.read_bytes())
    assert (len(rows), len(rows[0])) == (usage_plot.HEIGHT, usage_plot.WIDTH)
    assert ink(rows, range(70, 300), range(8, 30)) > 200, "the title"
    assert ink(rows, range(66), range(50, 360)) > 100, "the numbers of the axis"
    assert ink(rows, range(400, 600), range(355, 372)) > 50, "the month"
    assert ink(rows, range(84, 200), range(395, 410)) > 100, "the names of the models"


def test_without_any_font_it_says_so(ask: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot_fonts, "_USUAL", ("No Such Family",))
    monkeypatch.setattr(environment, "font_folders", lambda: [tmp_path / "nowhere"])
    ran = ask("usage", "--plot", str(tmp_path / "plot.png"))
    assert ran.code == 8 and "no-font" in ran.err and "no font was found" in ran.err
    assert not (tmp_path / "plot.png").exists()


def font_file(path: Path, family: str) -> Path:
    """No more of a font than its table of names."""
    text = family.encode("utf-16-be")
    fields = (3, 1, 0x409, 1, len(text), 0)
    names = b"".join(value.to_bytes(2) for value in (0, 1, 18, *fields)) + text
    record = b"name" + bytes(4) + (28).to_bytes(4) + len(names).to_bytes(4)
    path.write_bytes(b"\0\1\0\0" + (1).to_bytes(2) + bytes(6) + record + names)
    return path


def test_a_font_that_nobody_thought_of_is_found_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "a.ttf").write_bytes(b"no font")
    (tmp_path / "b.ttf").write_bytes(b"")
    assert plot_fonts.family_of(font_file(tmp_path / "c.otf", "Grace Ünd")) == "Grace Ünd"

    def draw(svg: str, family: str) -> bytes:
        return b"text" if "Cost" in svg and family == "Grace Ünd" else b""

    assert plot_fonts.usable_family(draw, [tmp_path]) == "Grace Ünd"


def test_a_plot_of_another_kind_is_refused(ask: Any, tmp_path: Path) -> None:
    assert ask("usage", "--plot", str(tmp_path / "plot.gif")).code == 2


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_name_with_characters_that_no_picture_may_hold(ask: Any, scene: Scene, tmp_path: Path, ending: str) -> None:
    branch = "\x1b]0;title\x07<&\x00\ufffe\ud800\u202e"
    model = "claude-opus-5\x1b[31m" + "x" * 300
    rows = [
        scene.answer(f"p{name}", FULL, request=name, model=name, gitBranch=branch) for name in (model, "claude-opus-5")
    ]
    scene.write("p", *rows)
    for by in ("branch", "model"):
        picture = tmp_path / f"plot.{ending}"
        assert ask("usage", "--by", by, "--plot", str(picture)).code == 0
        if ending == "svg":
            text = "".join(ElementTree.parse(picture).getroot().itertext())
            assert "\x1b" not in text and "\u202e" not in text and "x" * 60 not in text


def test_heat_map(ask: Any) -> None:
    out = ask("usage", "--heat").out
    assert out.splitlines()[1].startswith("Mon") and "█" in out


def test_what_a_heat_map_has_no_room_for_is_told(ask: Any, scene: Scene) -> None:
    """Days before its first week, and calls without a time; a day without a known price is a day of work, too."""
    for number, (when, model) in enumerate(
        (
            ("2023-05-06T10:00:00Z", "claude-opus-5"), ("2024-02-01T10:00:00Z", "claude-opus-5"), (None, "claude-opus-5"),
            ("2026-02-10T10:00:00Z", "nobody-9"),
        )
    ):  # fmt: skip
        scene.append("t", scene.answer(f"h{number}", tokens(200_000, 0), request=f"h{number}", time=when, model=model))
    ran = ask("usage", "--heat", "--timezone", "UTC")
    assert "not drawn: $2.00 up to 2024-02-01\n" in ran.err
    assert "not drawn: $1.00 without a time\n" in ran.err
    (tuesday,) = [line for number, line in enumerate(ran.out.splitlines()) if number == 2]
    assert tuesday.rstrip("·")[-1] == "░"
    assert "not drawn" not in ask("usage", "--heat", "--since", "2026-01-01").err
