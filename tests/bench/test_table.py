"""The page of figures: a full run writes all of it, a run of some benchmarks their rows alone."""

from __future__ import annotations

from pathlib import Path

from bench.table import BEGIN, END, Goal, Row, figures_on, markdown, with_rows, write_between_markers

OLD = [
    Row("start", "help", 0.01, ratio=1.0),
    Row("append", "synced", 0.06, compared_with="fsync", ratio=1.5, goal=Goal("<= 1.4", 1.4, 1.5)),
    Row("append", "bare", 0.03),
    Row("fork", "100 MB", 0.6, ratio=6.7),
]
NEW = [Row("append", "synced", 0.05, compared_with="fsync", ratio=1.3, goal=Goal("<= 1.4", 1.4, 1.3))]


def test_rows_of_what_was_measured_again_take_the_place_of_the_old_ones() -> None:
    figures = f"Taken one day.\n\n{markdown(OLD)}"
    again = with_rows(figures, NEW)
    assert again.startswith("Taken one day.\n\nMeasured again")
    assert "append" in again.splitlines()[2]
    assert again.endswith(markdown([OLD[0], *NEW, OLD[3]]))


def test_measured_again_twice_is_said_once_and_new_abilities_come_last() -> None:
    figures = with_rows(f"Taken one day.\n\n{markdown(OLD)}", NEW)
    again = with_rows(figures, [Row("vault", "capture", 2.0)])
    assert again.count("Measured again") == 1
    assert again.splitlines()[2].endswith(": append, vault.")
    assert again.endswith(markdown([OLD[0], *NEW, OLD[3], Row("vault", "capture", 2.0)]))


def test_the_page_around_the_figures_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{BEGIN}\n\nold\n\n{END}\n\nbehind\n")
    write_between_markers(page, "new")
    assert figures_on(page) == "new"
    assert page.read_text().startswith("# Title\n") and page.read_text().endswith(f"{END}\n\nbehind\n")
