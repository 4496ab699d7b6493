"""Odd JSON on a line, odd characters, very large and nearly empty files."""

from __future__ import annotations

from tests.compat.crafted.sheet import Sheet, line_bytes


def lines_that_are_no_objects(s: Sheet) -> None:
    """Numbers, words, lists, null."""
    s.turns(1)
    s.raw(b'7\n"word"\n[1,2]\nnull\ntrue\n{}\n')
    s.turns(2)


def object_in_a_list(s: Sheet) -> None:
    """A row wrapped in a list."""
    s.turns(1, 2, 3)
    s.spoil(lambda data: b"[" + data.rstrip(b"\n") + b"]\n", 2)


def object_over_several_lines(s: Sheet) -> None:
    """A row printed prettily."""
    s.turns(1, 2, 3)
    s.spoil(lambda data: data.replace(b",", b",\n"), 2)


def trailing_comma(s: Sheet) -> None:
    """A comma before the last brace."""
    s.turns(1, 2, 3)
    s.spoil(lambda data: data[:-2] + b",}\n", 2)


def invalid_utf8(s: Sheet) -> None:
    """Bad bytes in a text."""
    s.turns(1)
    s.user("U2", "U2 @@ end")
    s.spoil(lambda data: data.replace(b"@@", b"\xff\xc3"))
    s.says("U2", "U2 \ufffd\ufffd end")
    s.assistant("A2")


def invalid_utf8_in_uuid(s: Sheet) -> None:
    """A bad byte in a uuid and in the parent that names it."""
    s.turns(1)
    s.user("U2", uuid="bad-@")
    s.assistant("A2", parentUuid="bad-@")
    for index in (2, 3):
        s.spoil(lambda data: data.replace(b"bad-@", b"bad-\xff"), index)
    s.contents["bad-\ufffd"] = s.contents.pop("bad-@")


def lone_surrogate_escaped(s: Sheet) -> None:
    """Half an emoji as an escape."""
    s.turns(1)
    s.user("U2", "U2 @@ end")
    s.spoil(lambda data: data.replace(b"@@", b"\\ud83d"))
    s.says("U2", "U2 \ufffd end")
    s.assistant("A2")


def lone_surrogate_raw(s: Sheet) -> None:
    """Half an emoji in bytes."""
    s.turns(1)
    s.user("U2", "U2 \ud83d end")
    s.assistant("A2")


def line_separator(s: Sheet) -> None:
    """U+2028, U+2029 and U+0085 in a text do not end a line."""
    s.turns(1)
    s.user("U2", "U2 \u2028 \u2029 \u0085 end")
    s.assistant("A2")


def raw_control_characters(s: Sheet) -> None:
    """A raw tab inside a string is no JSON."""
    s.turns(1, 2)
    s.user("U3", "U3 @ end")
    s.spoil(lambda data: data.replace(b"@", b"\t"))
    s.assistant("A3")


def raw_vertical_tab(s: Sheet) -> None:
    """A raw vertical tab inside a string, within five seconds."""
    s.turn(1, gap=1)
    s.user("U2", "U2 @ end", gap=1)
    s.spoil(lambda data: data.replace(b"@", b"\x0b"))
    s.assistant("A2", gap=1)


def escaped_nul(s: Sheet) -> None:
    """An escaped NUL in a text."""
    s.turns(1)
    s.user("U2", "U2 \0 end")
    s.assistant("A2")


def not_a_number(s: Sheet) -> None:
    """NaN is no JSON."""
    s.turns(1)
    s.user("U2", odd="@")
    s.spoil(lambda data: data.replace(b'"@"', b"NaN"))
    s.assistant("A2")
    s.turns(3)


def infinity(s: Sheet) -> None:
    """Infinity is no JSON, within five seconds."""
    s.turn(1, gap=1)
    s.user("U2", odd="@", gap=1)
    s.spoil(lambda data: data.replace(b'"@"', b"Infinity"))
    s.assistant("A2", gap=1)


def huge_numbers(s: Sheet) -> None:
    """2^70, 1e999, -0 and 400 digits."""
    s.turns(1)
    s.user("U2", odd="@")
    digits = b"9" * 400
    s.spoil(lambda data: data.replace(b'"@"', b"[1180591620717411303424,1e999,-0," + digits + b"]"))
    s.assistant("A2")


def odd_numbers(s: Sheet) -> None:
    """Leading zeros are no JSON."""
    s.turns(1)
    s.user("U2", odd="@")
    s.spoil(lambda data: data.replace(b'"@"', b"007"))
    s.assistant("A2")


def duplicate_keys(s: Sheet) -> None:
    """Keys given twice: the last one counts."""
    s.turns(1)
    s.user("U2")
    s.spoil(lambda data: b'{"type":"system","parentUuid":null,"uuid":"other",' + data[1:])
    s.assistant("A2")


def duplicate_keys_last_wins(s: Sheet) -> None:
    """The second parent is null: a root."""
    s.turns(1)
    s.user("U2")
    s.spoil(lambda data: data[:-2] + b',"parentUuid":null}\n')
    s.assistant("A2")


def proto_key(s: Sheet) -> None:
    """A key that is special in JavaScript."""
    s.turns(1)
    s.user("U2", __proto__={"type": "assistant"}, constructor=1)
    s.assistant("A2")


def escaped_keys(s: Sheet) -> None:
    """Keys written with escapes."""
    s.turns(1)
    s.user("U2")
    s.spoil(lambda data: data.replace(b'"parentUuid"', b'"p\\u0061rentUuid"').replace(b'"type"', b'"typ\\u0065"'))
    s.assistant("A2")


def deep_nesting(s: Sheet) -> None:
    """Five thousand lists in each other, in a field nobody reads."""
    s.turns(1)
    s.user("U2", odd="@")
    s.spoil(lambda data: data.replace(b'"@"', b"[" * 5000 + b"]" * 5000))
    s.assistant("A2")


def deep_nesting_200000(s: Sheet) -> None:
    """Two hundred thousand lists in each other."""
    s.turns(1)
    s.user("U2", odd="@")
    s.spoil(lambda data: data.replace(b'"@"', b"[" * 200_000 + b"]" * 200_000))
    s.assistant("A2")


def long_line(s: Sheet) -> None:
    """A text of two megabytes."""
    s.turns(1)
    s.user("U2", "U2 " + "long " * 400_000)
    s.assistant("A2")


def large_file(s: Sheet) -> None:
    """Above five megabytes the client reads a file another way."""
    s.turns(1)
    for number in range(12):
        s.user(f"P{number}", f"P{number} " + "x" * 500_000)
    s.turns(2)
    s.checkpoint("A2")


def large_file_with_branch(s: Sheet) -> None:
    """A large file whose last rows are an abandoned branch."""
    s.turns(1)
    for number in range(12):
        s.user(f"P{number}", f"P{number} " + "x" * 500_000)
    s.turn(2, parent="A1")
    s.turn(3, parent="A1")
    s.checkpoint("A2")


def unknown_state_lines(s: Sheet) -> None:
    """Types of the future without uuids."""
    s.turns(1)
    s.state("state-of-the-future", value=1)
    s.raw(b'{"no":"type"}\n{"type":7}\n{"type":null}\n')
    s.turns(2)


def old_summary_lines(s: Sheet) -> None:
    """Titles as old clients wrote them, at the top."""
    s.raw(line_bytes({"type": "summary", "summary": "A title", "leafUuid": "x"}))
    s.turns(1, 2)


def empty_file(s: Sheet) -> None:
    """No bytes at all: no conversation found."""
    s.raw(b"")


def only_line_feeds(s: Sheet) -> None:
    """Nothing but blank lines."""
    s.raw(b"\n\n\n")


def only_state_lines(s: Sheet) -> None:
    """A title and a mode, no row."""
    s.state("custom-title", customTitle="Only a title")
    s.state("mode", mode="normal")
    s.checkpoint("GHOST")


def all_lines_broken(s: Sheet) -> None:
    """Every row is cut."""
    s.turns(1)
    for index in (0, 1):
        s.spoil(lambda data: data[: len(data) // 2] + b"\n", index)


def only_byte_order_mark(s: Sheet) -> None:
    """Three bytes."""
    s.raw(b"\xef\xbb\xbf")
