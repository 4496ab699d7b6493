"""How rows hang together: parents, roots, cycles."""

from __future__ import annotations

from tests.compat.crafted.sheet import ABSENT, Sheet, swap


def plain_two_turns(s: Sheet) -> None:
    """The simplest conversation."""
    s.turns(1, 2)


def one_prompt_only(s: Sheet) -> None:
    """A prompt that was never answered."""
    s.user("U1")


def prompt_at_the_end(s: Sheet) -> None:
    """The last prompt has no answer."""
    s.turns(1)
    s.user("U2")


def two_prompts_in_a_row(s: Sheet) -> None:
    """An unanswered prompt in the middle."""
    s.user("U1")
    s.user("U2")
    s.assistant("A2")


def minimal_fields(s: Sheet) -> None:
    """Only what the client needs of a row."""
    s.turns(1, 2)
    keep = {"type", "uuid", "parentUuid", "timestamp", "message"}
    for index, line in enumerate(s.lines):
        assert isinstance(line, dict)
        kept = {key: value for key, value in line.items() if key in keep}
        kept["message"] = {"content": line["message"]["content"]}
        s.lines[index] = kept


def uuids_are_any_string(s: Sheet) -> None:
    """A uuid need not look like one."""
    s.user("U1", uuid="one")
    s.assistant("A1", uuid="two")
    s.user("U2", uuid="drei ß")
    s.assistant("A2", uuid="4")


def empty_string_uuid(s: Sheet) -> None:
    """An empty uuid in the middle."""
    s.turns(1)
    s.user("U2", uuid="")
    s.assistant("A2")


# -- missing parents: repaired within five seconds, else the conversation begins there ----------------------------------
def missing_parent(s: Sheet) -> None:
    """Everything before is lost."""
    s.turns(1)
    s.turn(2, parent="GHOST")


def missing_parent_of_root(s: Sheet) -> None:
    """The first row names a parent that is not there."""
    s.turn(1, parent="GHOST")
    s.turns(2)


def missing_parent_1s(s: Sheet) -> None:
    """Repaired: the row before is one second older."""
    s.turns(1)
    s.user("U2", parent="GHOST", gap=1)
    s.assistant("A2")


def missing_parent_5s(s: Sheet) -> None:
    """Exactly five seconds."""
    s.turns(1)
    s.user("U2", parent="GHOST", gap=5)
    s.assistant("A2")


def missing_parent_5001ms(s: Sheet) -> None:
    """One millisecond too far."""
    s.turns(1)
    s.user("U2", parent="GHOST", gap=5.001)
    s.assistant("A2")


def missing_parent_same_time(s: Sheet) -> None:
    """The row before has the same timestamp."""
    s.turns(1)
    s.user("U2", parent="GHOST", gap=0)
    s.assistant("A2")


def missing_parent_younger_before(s: Sheet) -> None:
    """The row before in the file is one second younger."""
    s.turns(1)
    s.user("U2", parent="GHOST", gap=-1)
    s.assistant("A2")


def missing_parent_two_near(s: Sheet) -> None:
    """Two rows within reach: a leaf of an abandoned branch and a later one."""
    s.turns(1)
    s.user("X1", parent="A1", gap=1)
    s.user("Y1", parent="A1", gap=1)
    s.user("U2", parent="GHOST", gap=1)
    s.assistant("A2")


def missing_parent_two_same_time(s: Sheet) -> None:
    """Two candidates with the same timestamp: which one is before?"""
    s.turns(1)
    s.user("X1", parent="A1", gap=1)
    s.user("Y1", parent="A1", gap=0)
    s.user("U2", parent="GHOST", gap=1)
    s.assistant("A2")


def missing_parent_near_row_later_in_file(s: Sheet) -> None:
    """The row one second older stands further down in the file."""
    s.turns(1)
    s.user("U2", parent="GHOST", gap=5)
    s.assistant("A2")
    s.assistant("X2", parent="A1", gap=-31)
    swap(s.lines, 3, 4)


def missing_parent_near_sidechain(s: Sheet) -> None:
    """The row one second older belongs to a subagent."""
    s.turns(1)
    s.user("S1", parent=None, isSidechain=True)
    s.user("U2", parent="GHOST", gap=1)
    s.assistant("A2")


def missing_parent_near_system(s: Sheet) -> None:
    """The row one second older is a system row."""
    s.turns(1)
    s.system("I1")
    s.user("U2", parent="GHOST", gap=1)
    s.assistant("A2")


def missing_parent_near_attachment(s: Sheet) -> None:
    """The row one second older is an attachment."""
    s.turns(1)
    s.attachment("T1")
    s.user("U2", parent="GHOST", gap=1)
    s.assistant("A2")


def missing_parent_near_progress(s: Sheet) -> None:
    """The row one second older is a progress row."""
    s.turns(1)
    s.progress("P1")
    s.user("U2", parent="GHOST", gap=1)
    s.assistant("A2")


def missing_parent_near_root(s: Sheet) -> None:
    """The row one second older is the root of another tree."""
    s.turns(1)
    s.user("X1", parent=None)
    s.user("U2", parent="GHOST", gap=1)
    s.assistant("A2")


def missing_parent_twice(s: Sheet) -> None:
    """Repaired twice on one walk."""
    s.turns(1)
    s.user("U2", parent="GHOST", gap=1)
    s.assistant("A2", parent="GHOST2", gap=1)
    s.user("U3", parent="GHOST3", gap=1)
    s.assistant("A3", gap=1)


def missing_parent_repaired_then_lost(s: Sheet) -> None:
    """The first gap is repaired, the one above is too wide."""
    s.turns(1)
    s.turn(2, parent="GHOST")
    s.user("U3", parent="GHOST2", gap=2)
    s.assistant("A3")


def missing_parent_on_answer(s: Sheet) -> None:
    """The answer lost its prompt: only the answer is left."""
    s.turns(1)
    s.assistant("A2", parent="GHOST")


def missing_parent_without_timestamp(s: Sheet) -> None:
    """The row with the missing parent has no timestamp to repair by."""
    s.turns(1)
    s.user("U2", parent="GHOST", gap=1, timestamp=ABSENT)
    s.assistant("A2", gap=1)


def missing_parent_candidate_without_timestamp(s: Sheet) -> None:
    """The row before it has no timestamp."""
    s.user("U1")
    s.assistant("A1", timestamp=ABSENT)
    s.user("U2", parent="GHOST", gap=1)
    s.assistant("A2")


def missing_parent_all_within_5s(s: Sheet) -> None:
    """A quick session with one line lost."""
    s.user("U1", gap=1)
    s.assistant("A1", gap=1)
    s.user("U2", gap=1)
    s.assistant("A2", gap=1)
    s.user("U3", gap=1)
    s.assistant("A3", gap=1)
    del s.lines[2]


# -- odd parents ------------------------------------------------------------------------------------------------------
def self_parent(s: Sheet) -> None:
    """A row that is its own parent."""
    s.turns(1)
    s.turn(2, parent="U2")


def self_parent_1s(s: Sheet) -> None:
    """Its own parent, one second after the row before."""
    s.turns(1)
    s.user("U2", parent="U2", gap=1)
    s.assistant("A2")


def cycle_over_everything(s: Sheet) -> None:
    """The first row hangs on the last."""
    s.turn(1, parent="A2")
    s.turns(2)


def cycle_in_the_middle(s: Sheet) -> None:
    """U2 hangs on A2, which hangs on U2."""
    s.turns(1)
    s.turn(2, parent="A2")
    s.turns(3)


def cycle_in_the_middle_1s(s: Sheet) -> None:
    """The same with rows one second apart."""
    s.user("U1", gap=1)
    s.assistant("A1", gap=1)
    s.user("U2", parent="A2", gap=1)
    s.assistant("A2", gap=1)
    s.user("U3", gap=1)
    s.assistant("A3", gap=1)


def cycle_of_two_rows(s: Sheet) -> None:
    """The whole file is a ring of two."""
    s.turn(1, parent="A1")


def second_root(s: Sheet) -> None:
    """A second tree: everything before is lost."""
    s.turns(1)
    s.turn(2, parent=None)


def second_root_1s(s: Sheet) -> None:
    """A root is never repaired."""
    s.turns(1)
    s.user("U2", parent=None, gap=1)
    s.assistant("A2", gap=1)


def second_root_abandoned(s: Sheet) -> None:
    """A second tree, then the first goes on."""
    s.turns(1)
    s.turn(2, parent=None)
    s.turn(3, parent="A1")


def every_row_a_root(s: Sheet) -> None:
    """All parents null."""
    s.user("U1", parent=None)
    s.assistant("A1", parent=None)
    s.user("U2", parent=None)
    s.assistant("A2", parent=None)


def no_parent_fields(s: Sheet) -> None:
    """No row has the field."""
    for index in (1, 2):
        s.user(f"U{index}", parentUuid=ABSENT)
        s.assistant(f"A{index}", parentUuid=ABSENT)


def parent_field_absent_once(s: Sheet) -> None:
    """The field is missing on an inner row, one second after the row before."""
    s.turns(1)
    s.user("U2", parentUuid=ABSENT, gap=1)
    s.assistant("A2")


def parent_is_empty_string(s: Sheet) -> None:
    """An empty parent, thirty seconds later."""
    s.turns(1)
    s.user("U2", parentUuid="")
    s.assistant("A2")


def parent_is_empty_string_1s(s: Sheet) -> None:
    """An empty parent, one second later."""
    s.turns(1)
    s.user("U2", parentUuid="", gap=1)
    s.assistant("A2")


def parent_is_a_number(s: Sheet) -> None:
    """A number as parent, one second later."""
    s.turns(1)
    s.user("U2", parentUuid=7, gap=1)
    s.assistant("A2")


def parent_of_unknown_type(s: Sheet) -> None:
    """The parent is a row of a type that this client does not know."""
    s.turns(1)
    s.row("row-of-the-future", "F1")
    s.turns(2)


def parent_of_unknown_type_1s(s: Sheet) -> None:
    """The same within five seconds of the row before."""
    s.turns(1)
    s.row("row-of-the-future", "F1", gap=1)
    s.user("U2", gap=1)
    s.assistant("A2")


def parent_in_other_case(s: Sheet) -> None:
    """A parent that differs in case from the uuid."""
    s.turns(1)
    s.turns(2)
    s.edit(lambda line: line.update(parentUuid=line["parentUuid"].upper()), 2)
