"""Lines as bytes: torn, glued, with holes, with odd ends."""

from __future__ import annotations

from tests.compat.crafted.sheet import Sheet


def torn_line_in_the_middle(s: Sheet) -> None:
    """The line and everything before it are lost."""
    s.turns(1, 2, 3)
    s.spoil(lambda data: data[: len(data) // 2] + b"\n", 2)


def torn_line_in_the_middle_1s(s: Sheet) -> None:
    """Within five seconds only that line is lost."""
    for number in (1, 2, 3):
        s.turn(number, gap=1)
    s.spoil(lambda data: data[: len(data) // 2] + b"\n", 2)


def torn_line_joined_with_next(s: Sheet) -> None:
    """A torn line without a line feed: the next one is lost with it."""
    s.turns(1, 2, 3)
    s.spoil(lambda data: data[: len(data) // 2], 2)


def torn_first_line(s: Sheet) -> None:
    """The root is torn."""
    s.turns(1, 2)
    s.spoil(lambda data: data[: len(data) // 2] + b"\n", 0)


def torn_tail(s: Sheet) -> None:
    """The last line is cut."""
    s.turns(1, 2)
    s.spoil(lambda data: data[: len(data) // 2])


def torn_tail_prompt(s: Sheet) -> None:
    """The last line, a prompt, is cut."""
    s.turns(1)
    s.user("U2")
    s.spoil(lambda data: data[: len(data) // 2])


def no_final_line_feed(s: Sheet) -> None:
    """Complete, only the line feed is missing."""
    s.turns(1, 2)
    s.spoil(lambda data: data.rstrip(b"\n"))


def glued_objects(s: Sheet) -> None:
    """Two objects on one line: the second is lost."""
    s.turns(1, 2, 3)
    s.spoil(lambda data: data.rstrip(b"\n"), 2)


def glued_objects_1s(s: Sheet) -> None:
    """The same within five seconds."""
    for number in (1, 2, 3):
        s.turn(number, gap=1)
    s.spoil(lambda data: data.rstrip(b"\n"), 2)


def glued_leaf(s: Sheet) -> None:
    """The last row is glued to the one before."""
    s.turns(1, 2)
    s.spoil(lambda data: data.rstrip(b"\n"), 2)


def glued_three(s: Sheet) -> None:
    """Three objects on one line at the end."""
    s.turns(1, 2)
    s.spoil(lambda data: data.rstrip(b"\n"), 1)
    s.spoil(lambda data: data.rstrip(b"\n"), 2)


def glued_with_space(s: Sheet) -> None:
    """Two objects with a space between."""
    s.turns(1, 2)
    s.spoil(lambda data: data.rstrip(b"\n") + b" ", 2)


def glued_state_line(s: Sheet) -> None:
    """A state line glued to the row before it."""
    s.turns(1)
    s.spoil(lambda data: data.rstrip(b"\n"))
    s.state("mode", mode="normal")
    s.turns(2)


def garbage_behind_object(s: Sheet) -> None:
    """Letters behind a complete object."""
    s.turns(1, 2)
    s.spoil(lambda data: data.rstrip(b"\n") + b"xyz\n", 1)


def garbage_before_object(s: Sheet) -> None:
    """Letters before a complete object."""
    s.turns(1, 2)
    s.spoil(lambda data: b"xyz" + data, 1)


def nul_run_before_line(s: Sheet) -> None:
    """A hole of NULs before a row."""
    s.turns(1, 2, 3)
    s.spoil(lambda data: b"\0" * 64 + data, 2)


def nul_run_as_line(s: Sheet) -> None:
    """A line of nothing but NULs."""
    s.turns(1)
    s.raw(b"\0" * 64 + b"\n")
    s.turns(2)


def nul_run_at_the_end(s: Sheet) -> None:
    """The file ends with NULs."""
    s.turns(1, 2)
    s.raw(b"\0" * 64)


def nul_behind_object(s: Sheet) -> None:
    """NULs behind a complete object."""
    s.turns(1, 2)
    s.spoil(lambda data: data.rstrip(b"\n") + b"\0\0\n", 1)


def byte_order_mark(s: Sheet) -> None:
    """A BOM at the start."""
    s.turns(1, 2)
    s.spoil(lambda data: b"\xef\xbb\xbf" + data, 0)


def byte_order_mark_inside(s: Sheet) -> None:
    """A BOM before an inner line."""
    s.turns(1, 2)
    s.spoil(lambda data: b"\xef\xbb\xbf" + data, 2)


def crlf(s: Sheet) -> None:
    """Windows line ends."""
    s.turns(1, 2)
    for index in range(len(s.lines)):
        s.spoil(lambda data: data.rstrip(b"\n") + b"\r\n", index)


def carriage_return_only(s: Sheet) -> None:
    """One line ends with a bare CR."""
    s.turns(1, 2, 3)
    s.spoil(lambda data: data.rstrip(b"\n") + b"\r", 2)


def blank_lines(s: Sheet) -> None:
    """Empty lines and lines of spaces."""
    s.turns(1)
    s.raw(b"\n\n   \n\t\n")
    s.turns(2)


def spaces_around_object(s: Sheet) -> None:
    """Spaces and tabs around an object."""
    s.turns(1, 2)
    s.spoil(lambda data: b" \t " + data.rstrip(b"\n") + b" \t \n", 1)


def form_feed_before_object(s: Sheet) -> None:
    """A form feed is no JSON space."""
    s.turns(1, 2)
    s.spoil(lambda data: b"\x0c" + data, 1)


def no_break_space_before_object(s: Sheet) -> None:
    """A no-break space before an object."""
    s.turns(1, 2)
    s.spoil(lambda data: "\u00a0".encode() + data, 1)
