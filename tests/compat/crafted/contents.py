"""What a row says: empty and odd contents, thoughts, pictures, blocks of the future."""

from __future__ import annotations

from typing import Any

from tests.compat.crafted.sheet import ABSENT, Sheet
from tests.compat.scenarios import PNG_1PX


def _middle(s: Sheet, kind: str, content: Any) -> None:
    """A turn, a row with this content, a turn."""
    s.turns(1)
    if kind == "user":
        s.user("X1", content)
    else:
        s.user("W1")
        s.assistant("X1", content)
    s.turns(2)


def user_empty_string(s: Sheet) -> None:
    """An empty prompt."""
    _middle(s, "user", "")


def user_empty_list(s: Sheet) -> None:
    """A prompt without blocks."""
    _middle(s, "user", [])


def user_blank_text(s: Sheet) -> None:
    """A prompt of spaces."""
    _middle(s, "user", "  \n ")


def user_empty_text_block(s: Sheet) -> None:
    """A prompt with an empty text block."""
    _middle(s, "user", [{"type": "text", "text": ""}])


def user_empty_list_at_the_end(s: Sheet) -> None:
    """The last prompt has no blocks."""
    s.turns(1)
    s.user("X1", [])


def user_empty_string_at_the_end(s: Sheet) -> None:
    """The last prompt is empty."""
    s.turns(1)
    s.user("X1", "")


def assistant_empty_list(s: Sheet) -> None:
    """An answer without blocks."""
    _middle(s, "assistant", [])


def assistant_empty_list_at_the_end(s: Sheet) -> None:
    """The last answer has no blocks."""
    s.turns(1)
    s.user("U2")
    s.assistant("X1", [])


def assistant_blank_text(s: Sheet) -> None:
    """An answer of spaces."""
    _middle(s, "assistant", [{"type": "text", "text": " \n"}])


def assistant_blank_text_at_the_end(s: Sheet) -> None:
    """The last answer is blank."""
    s.turns(1)
    s.user("U2")
    s.assistant("X1", [{"type": "text", "text": " \n"}])


def assistant_empty_text_block(s: Sheet) -> None:
    """An answer with an empty text block."""
    _middle(s, "assistant", [{"type": "text", "text": ""}])


def assistant_empty_and_full_text(s: Sheet) -> None:
    """An empty and a full block in one line."""
    _middle(s, "assistant", [{"type": "text", "text": ""}, {"type": "text", "text": "X1 full"}])


def assistant_string(s: Sheet) -> None:
    """An answer that is a plain string."""
    _middle(s, "assistant", "X1 string")


def user_blocks(s: Sheet) -> None:
    """A prompt of two text blocks."""
    _middle(s, "user", [{"type": "text", "text": "X1 one"}, {"type": "text", "text": "X1 two"}])


# -- missing and odd messages -----------------------------------------------------------------------------------------
def user_without_message(s: Sheet) -> None:
    """A row without a message, thirty seconds from its neighbours."""
    s.turns(1)
    s.user("X1", message=ABSENT)
    s.turns(2)


def user_without_message_at_the_end(s: Sheet) -> None:
    """The last row has no message."""
    s.turns(1)
    s.user("X1", message=ABSENT)


def assistant_without_message(s: Sheet) -> None:
    """An answer without a message."""
    s.turns(1)
    s.user("U2")
    s.assistant("X1", message=ABSENT)
    s.turns(3)


def message_null(s: Sheet) -> None:
    """A null message."""
    s.turns(1)
    s.user("X1", message=None)
    s.turns(2)


def message_string(s: Sheet) -> None:
    """A message that is a string."""
    s.turns(1)
    s.user("X1", message="X1")
    s.turns(2)


def content_absent(s: Sheet) -> None:
    """A message without content."""
    s.turns(1)
    s.user("X1", message={"role": "user"})
    s.turns(2)


def content_null(s: Sheet) -> None:
    """A null content."""
    s.turns(1)
    s.user("X1", message={"role": "user", "content": None})
    s.turns(2)


def content_object(s: Sheet) -> None:
    """A content that is an object."""
    s.turns(1)
    s.user("X1", message={"role": "user", "content": {"type": "text", "text": "X1"}})
    s.turns(2)


def content_number(s: Sheet) -> None:
    """A content that is a number."""
    s.turns(1)
    s.user("X1", message={"role": "user", "content": 7})
    s.turns(2)


def block_is_a_string(s: Sheet) -> None:
    """A block that is a string."""
    _middle(s, "user", ["X1 in a list"])


def block_is_null(s: Sheet) -> None:
    """A null among the blocks."""
    _middle(s, "user", [None, {"type": "text", "text": "X1"}])


def block_without_type(s: Sheet) -> None:
    """A block without a type."""
    _middle(s, "user", [{"text": "X1 untyped"}, {"type": "text", "text": "X1"}])


def role_against_type(s: Sheet) -> None:
    """A user row whose message says assistant."""
    s.turns(1)
    s.user("U2", message={"role": "assistant", "content": "U2"})
    s.assistant("A2", None)


def row_without_uuid(s: Sheet) -> None:
    """An inner row without a uuid; the next hangs on the row before it."""
    s.turns(1)
    s.user("X1", uuid=ABSENT)
    s.turn(2, parent="A1")


def row_without_uuid_at_the_end(s: Sheet) -> None:
    """The last row has no uuid."""
    s.turns(1)
    s.user("X1", uuid=ABSENT)


def no_uuids(s: Sheet) -> None:
    """No row has a uuid."""
    s.turn(1, uuid=ABSENT)
    s.turn(2, uuid=ABSENT)


def uuid_is_a_number(s: Sheet) -> None:
    """An inner uuid that is a number, and its child names it."""
    s.turns(1)
    s.user("X1", uuid=7)
    s.assistant("A2", parentUuid=7)


def type_is_missing(s: Sheet) -> None:
    """An inner row without a type."""
    s.turns(1)
    s.user("X1", type=ABSENT)
    s.turns(2)


# -- thoughts and other blocks ----------------------------------------------------------------------------------------
def thinking_only_in_the_middle(s: Sheet) -> None:
    """An answer that is only a thought."""
    _middle(s, "assistant", [{"type": "thinking", "thinking": "X1 thought", "signature": "c2ln"}])


def thinking_only_at_the_end(s: Sheet) -> None:
    """The last row is only a thought."""
    s.turns(1)
    s.user("U2")
    s.assistant("X1", [{"type": "thinking", "thinking": "X1 thought", "signature": "c2ln"}])


def thinking_and_text_in_two_lines(s: Sheet) -> None:
    """A thought and its answer."""
    s.user("U1")
    s.assistant("H1", [{"type": "thinking", "thinking": "H1", "signature": "c2ln"}], message_id="m1")
    s.assistant("A1", message_id="m1")
    s.turns(2)


def thinking_of_another_model(s: Sheet) -> None:
    """A thought of another model."""
    s.user("U1")
    s.assistant("H1", [{"type": "thinking", "thinking": "H1", "signature": "c2ln"}], message_id="m1")
    s.edit(lambda line: line["message"].update(model="claude-sonnet-4-5-20250929"))
    s.assistant("A1", message_id="m1")
    s.edit(lambda line: line["message"].update(model="claude-sonnet-4-5-20250929"))
    s.turns(2)


def redacted_thinking_only(s: Sheet) -> None:
    """A hidden thought and nothing else."""
    _middle(s, "assistant", [{"type": "redacted_thinking", "data": "RkFLRQ=="}])


def unknown_block(s: Sheet) -> None:
    """A block of the future is sent as it is."""
    _middle(s, "assistant", [{"type": "block_of_the_future", "x": 1}, {"type": "text", "text": "X1"}])


def unknown_block_only(s: Sheet) -> None:
    """A row with nothing but a block of the future."""
    _middle(s, "assistant", [{"type": "block_of_the_future", "x": 1}])


def picture(s: Sheet) -> None:
    """A picture beside words."""
    source = {"type": "base64", "media_type": "image/png", "data": PNG_1PX}
    _middle(s, "user", [{"type": "image", "source": source}, {"type": "text", "text": "X1"}])


def picture_only(s: Sheet) -> None:
    """A picture and nothing else."""
    _middle(s, "user", [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG_1PX}}])
