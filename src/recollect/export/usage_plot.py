"""Draw a usage report as a picture: an SVG, and a PNG made from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..analysis.cost import Totals
from ..analysis.prices.book import short_name
from ..analysis.usage import NO_TIME, PERIODS, Group
from ..errors import Refused, Unavailable
from ..journal import disk
from .charts import not_in_future, over_time
from .formatting import plural
from .money import dollars, money
from .plot_fonts import usable_family
from .terminal_text import safe_line

if TYPE_CHECKING:
    from ..analysis.usage import UsageReport

WIDTH: Final = 960
HEIGHT: Final = 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 60, 70
_COLORS: Final = (
    "#4269d0",
    "#efb118",
    "#ff725c",
    "#6cc5b0",
    "#3ca951",
    "#ff8ab7",
    "#a463f2",
    "#97bbf5",
    "#9c6b4e",
    "#9498a0",
)
ENDINGS: Final = (".svg", ".png")
MOST_BARS: Final = 120
_LETTER: Final = 7.5
"""The largest width of a letter of a label."""
_LEGEND: Final = 40
"""How many letters of a model's name are shown below the picture."""
_NO_XML: Final = re.compile("[\ufffe\uffff]")
_APART: Final = 24
"""Space before the bar of calls without a time, since that bar is not the next day."""


def write_plot(report: UsageReport, target: str, font_folders: Sequence[Path] = ()) -> None:
    """Write the chart: as a PNG if the name ends in .png, else as an SVG. A PNG needs a font from `font_folders`."""
    path = Path(target)
    svg = draw(report)
    data = _png(svg, font_folders) if path.suffix.lower() == ".png" else svg.encode()
    try:
        staged = path.with_name(f".{path.name}.staged")
        disk.remove_if_there(staged)
        disk.write_new(staged, [data])
        disk.replace(staged, path)
    except OSError as problem:
        raise Refused(f"cannot write {target}: {problem.strerror or problem}", slug="cannot-write-plot") from problem


def _png(svg: str, font_folders: Sequence[Path]) -> bytes:
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise Unavailable(
            "PNG files need the package resvg-py", hint="install recollect[plot], or write an .svg file", slug="no-png"
        ) from None

    def draw_with(text: str, family: str) -> bytes:
        return bytes(svg_to_bytes(svg_string=text, sans_serif_family=family))

    family = usable_family(draw_with, font_folders)
    if family is None:
        raise Unavailable(
            "no font was found, and a picture without its text says nothing",
            hint="install a font such as DejaVu Sans, or write an .svg file", slug="no-font",
        )  # fmt: skip
    return draw_with(svg, family)


def draw(report: UsageReport) -> str:
    """Draw stacked bars of cost by model, one for each row of the report, and for each period between them."""
    groups = _in_time(report)[-MOST_BARS:] if report.by in PERIODS else report.groups[:MOST_BARS]
    spent: dict[str, int] = {}
    for group in groups:
        for model, totals in group.models.items():
            spent[model] = spent.get(model, 0) + totals.cost
    models = sorted(spent, key=lambda model: (-spent[model], model))
    colors = {model: _COLORS[min(place, len(_COLORS) - 1)] for place, model in enumerate(models)}
    top = max((group.totals.cost for group in groups), default=0) or 1
    step, high = _scale(top)
    inner_width, inner_height = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="24" font-size="16">{escape(_title(report))}</text>',
    ]
    if left_out := _left_out(report, groups):
        parts.append(f'<text x="{_LEFT}" y="44" fill="#555555">{escape(left_out)}</text>')
    digits = next(digits for digits in range(2, 7) if step % 10 ** (6 - digits) == 0)
    for number in range(high // step + 1):
        y = _TOP + inner_height - inner_height * number * step / high
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>')
        words = f"${number * step / 1_000_000:,.{digits}f}"  # each as exact as the step between them
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555555">{words}</text>')
    apart = _APART if len(groups) > 1 and groups[-1].key == NO_TIME else 0
    slot = (inner_width - apart) / max(len(groups), 1)
    keys = [safe_line(group.key) for group in groups]
    labels = [key if len(key) <= 14 else key[:6] + "…" + key[-6:] for key in keys]
    widest = _LETTER * (max(map(len, labels), default=0) + 1)
    every = max(ceil(widest / slot), 1)  # so that no label overlaps the next one
    named = _named(groups, every)
    for place, group in enumerate(groups):
        x, y = _LEFT + slot * place, float(_TOP + inner_height)
        if place == len(groups) - 1:
            x += apart
        for model in models:
            spent_here = group.models[model].cost if model in group.models else 0
            if not spent_here:
                continue
            tall = inner_height * spent_here / high
            y -= tall
            parts.append(
                f'<rect x="{x + slot * 0.1:.2f}" y="{y:.2f}" width="{slot * 0.8:.2f}" height="{tall:.2f}" fill="{colors[model]}">'
                f"<title>{_words(group.key)} {_words(model)} {dollars(spent_here)}</title></rect>"
            )
        if place in named:
            middle, below, anchor = x + slot / 2, _TOP + inner_height + 16, "middle"
            if middle + _LETTER * len(labels[place]) / 2 > WIDTH:  # otherwise its end would be cut off
                middle, anchor = WIDTH - 2, "end"
            parts.append(
                f'<text x="{middle:.1f}" y="{below}" text-anchor="{anchor}" fill="#555555">{_words(labels[place])}</text>'
            )
    x = _LEFT
    for model in models[: len(_COLORS)]:
        name = safe_line(short_name(model), _LEGEND)
        parts.append(f'<rect x="{x}" y="{HEIGHT - 24}" width="10" height="10" fill="{colors[model]}"/>')
        parts.append(f'<text x="{x + 14}" y="{HEIGHT - 15}">{_words(name)}</text>')
        x += 30 + 7 * len(name)
    parts.append("</svg>\n")
    return "\n".join(parts)


def _words(text: str) -> str:
    """Return text as XML can hold it: names of models, branches and folders may contain characters that XML forbids."""
    return escape(_NO_XML.sub("\ufffd", safe_line(text)))


def _title(report: UsageReport) -> str:
    return f"Cost by {report.by.replace(',', ', ')}: {money(report.totals)} (days in {report.zone})"


def _left_out(report: UsageReport, drawn: list[Group]) -> str:
    """Describe what is in the title's sum but has no bar: rows beyond the largest number of bars, and days in the future."""
    shown = {group.keys for group in drawn}
    rest = Totals()
    rows = [group for group in report.groups if group.keys not in shown]
    for group in rows:
        rest.join(group.totals)
    return f"not drawn: {money(rest)} of {plural(len(rows), 'row')} of the table" if rows else ""


def _named(groups: list[Group], every: int) -> set[int]:
    """Return the positions with a label: every `every`-th. Calls without a time have one, with none right before it."""
    found = set(range(0, len(groups), every))
    last = len(groups) - 1
    if groups and groups[last].key == NO_TIME:
        found = {place for place in found if last - place >= every} | {last}
    return found


def _in_time(report: UsageReport) -> list[Group]:
    """Return the groups in order of time, with empty ones for periods without use; calls without a time come last."""
    known = {group.key: group for group in report.groups}
    timeless = known.pop(NO_TIME, None)
    drawn = over_time(not_in_future(dict.fromkeys(known, 0))[0], report.by)
    return [known.get(key) or Group((key,)) for key, _ in drawn] + ([timeless] if timeless is not None else [])


def _scale(top: int) -> tuple[int, int]:
    """Return a round step, and a multiple of it that is at least as high as the highest bar."""
    step = 1
    while step * 5 < top:
        for factor in (2, 5, 10):
            if step * factor * 5 >= top:
                step *= factor
                break
        else:
            step *= 10
    return step, -(-top // step) * step
