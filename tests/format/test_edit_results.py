"""What Edit, MultiEdit, Write and NotebookEdit leave behind, and the texts before and after."""

from __future__ import annotations

import difflib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.format.edit_results import PatchHunk, apply_patch, edit_of_call, parse_file_edit

ORIGINAL = "one\ntwo\nthree\n"
HUNK = {"oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 3, "lines": [" one", "-two", "+2", " three"]}


def edit_result(**fields: Any) -> dict[str, Any]:
    return {
        "filePath": "/w/a",
        "oldString": "two",
        "newString": "2",
        "originalFile": ORIGINAL,
        "structuredPatch": [],
    } | fields


def test_edit() -> None:
    edit = parse_file_edit(edit_result(structuredPatch=[HUNK], replaceAll=False, userModified=False, note="kept"))
    assert edit is not None
    assert (edit.path, edit.created, edit.original) == ("/w/a", False, ORIGINAL)
    assert edit.text_after() == "one\n2\nthree\n"
    assert edit.extra == {"note": "kept"}


def test_edit_everywhere() -> None:
    edit = parse_file_edit(edit_result(oldString="e", newString="E", replaceAll=True))
    assert edit is not None
    assert edit.text_after() == "onE\ntwo\nthrEE\n"


def test_deleting_a_text_takes_its_line_end_along() -> None:
    edit = parse_file_edit(edit_result(newString=""))
    assert edit is not None
    assert edit.text_after() == "one\nthree\n"


def test_edit_of_a_large_file_needs_what_was_known_before() -> None:
    edit = parse_file_edit(edit_result(originalFile=None))
    assert edit is not None
    assert not edit.created
    assert edit.text_after() is None
    assert edit.text_after(ORIGINAL) == "one\n2\nthree\n"
    assert edit.text_after("another text") is None
    assert edit.text_before() is None


def test_edit_that_the_user_changed_follows_the_patch() -> None:
    changed = HUNK | {"lines": [" one", "-two", "+TWO!", " three"]}
    edit = parse_file_edit(edit_result(structuredPatch=[changed], userModified=True))
    assert edit is not None
    assert edit.text_after() == "one\nTWO!\nthree\n"


def test_edit_with_an_empty_old_text_writes_a_new_file() -> None:
    edit = parse_file_edit(edit_result(oldString="", newString="all new", originalFile=None))
    assert edit is not None
    assert edit.created
    assert (edit.text_before(), edit.text_after()) == (None, "all new")


def test_multi_edit() -> None:
    edit = parse_file_edit(
        {
            "filePath": "/w/a",
            "originalFileContents": ORIGINAL,
            "structuredPatch": [],
            "edits": [
                {"old_string": "one", "new_string": "1", "replace_all": False},
                {"old_string": "1\ntwo", "new_string": "12"},
            ],
        }
    )
    assert edit is not None
    assert edit.text_after() == "12\nthree\n"


def test_write() -> None:
    created = parse_file_edit({"type": "create", "filePath": "/w/a", "content": "x", "structuredPatch": []})
    assert created is not None
    assert created.created
    assert (created.text_before(), created.text_after()) == (None, "x")
    updated = parse_file_edit(
        {"type": "update", "filePath": "/w/a", "content": "one\n2\nthree\n", "structuredPatch": [HUNK]}
    )
    assert updated is not None
    assert not updated.created
    assert updated.text_before() == ORIGINAL, "the patch taken back from the new text"


def test_notebook() -> None:
    result = {"notebook_path": "/w/n.ipynb", "original_file": "{}", "updated_file": "{1}", "cell_id": "a"}
    edit = parse_file_edit(result)
    assert edit is not None
    assert (edit.path, edit.text_before(), edit.text_after()) == ("/w/n.ipynb", "{}", "{1}")
    assert parse_file_edit(result | {"error": "no such cell"}) is None


@pytest.mark.parametrize(
    "result",
    [
        "Error: no match",
        None,
        [],
        {"filePath": "/w/p.md", "plan": "# P"},
        {"stdout": ""},
        {"filePath": 3, "structuredPatch": []},
    ],
)
def test_other_results_are_no_edits(result: object) -> None:
    assert parse_file_edit(result) is None


def test_calls_without_a_structured_result() -> None:
    written = edit_of_call("Write", {"file_path": "/w/a", "content": "x"}, "File created successfully at: /w/a")
    assert written is not None
    assert (written.path, written.created, written.text_after()) == ("/w/a", True, "x")
    overwritten = edit_of_call("Write", {"file_path": "/w/a", "content": "x"}, "The file /w/a has been updated.")
    assert overwritten is not None
    assert not overwritten.created
    edited = edit_of_call("Edit", {"file_path": "/w/a", "old_string": "o", "new_string": "0", "replace_all": True}, "")
    assert edited is not None
    assert edited.text_after("foo") == "f00"
    several = edit_of_call("MultiEdit", {"file_path": "/w/a", "edits": [{"old_string": "o", "new_string": "0"}]}, "")
    assert several is not None
    assert several.text_after("foo") == "f0o"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Read", {"file_path": "/w/a"}),
        ("Write", {"content": "x"}),
        ("Write", {"file_path": "/w/a"}),
        ("Edit", {"file_path": "/w/a", "old_string": 5, "new_string": "x"}),
        ("MultiEdit", {"file_path": "/w/a", "edits": []}),
        ("Edit", "text"),
    ],
)
def test_calls_that_say_nothing(tool: str, arguments: object) -> None:
    assert edit_of_call(tool, arguments, "ok") is None


def test_a_patch_that_is_not_understood_is_kept() -> None:
    edit = parse_file_edit(edit_result(structuredPatch=[HUNK, "?"]))
    assert edit is not None
    assert edit.patch == ()
    assert edit.extra == {"structuredPatch": [HUNK, "?"]}


def test_a_patch_for_another_text_is_refused() -> None:
    hunk = PatchHunk(old_start=1, old_lines=1, new_start=1, new_lines=1, lines=("-x", "+y"))
    assert apply_patch("z", [hunk]) is None


def hunks(before: list[str], after: list[str]) -> list[PatchHunk]:
    """The hunks of a unified diff with three lines around, as the client records them."""
    found = []
    for group in difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, a1, a2, b1, b2 in group:
            if tag == "equal":
                lines += [f" {line}" for line in before[a1:a2]]
            else:
                lines += [f"-{line}" for line in before[a1:a2]] + [f"+{line}" for line in after[b1:b2]]
        first, last = group[0], group[-1]
        found.append(
            PatchHunk(
                old_start=first[1] + 1,
                old_lines=last[2] - first[1],
                new_start=first[3] + 1,
                new_lines=last[4] - first[3],
                lines=tuple(lines),
            )
        )
    return found


lines_of_text = st.lists(st.sampled_from(["a", "b", "", "  c"]), min_size=1, max_size=24)


@given(lines_of_text, lines_of_text)
def test_patches_lead_there_and_back(before: list[str], after: list[str]) -> None:
    patch = hunks(before, after)
    assert apply_patch("\n".join(before), patch) == "\n".join(after)
    assert apply_patch("\n".join(after), patch, backwards=True) == "\n".join(before)
