"""Lines under new names: the right ones change, and not a byte beside them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recollect.format.names import NIL_UUID, Names, RowNames
from recollect.format.relink import (
    backups_named,
    renamed_row,
    renamed_state,
    rows_named,
    with_new_outputs,
)

OLD, NEW = "old-session", "new-session"
ROW = RowNames("u", "U", "p", "P", OLD, None)


def encoded(entry: dict[str, Any], **options: Any) -> bytes:
    return json.dumps(entry, **{"ensure_ascii": False, "separators": (",", ":"), **options}).encode(
        "utf-8", "surrogatepass"
    )


def entry(**fields: Any) -> dict[str, Any]:
    return {"parentUuid": "p", "sessionId": OLD, "type": "user", "uuid": "u", **fields}


class TestNames:
    def test_a_row_has_one_name_for_each_fork(self) -> None:
        one = Names(OLD, NEW)
        assert one.row("u") == one.row("u") == Names("another", NEW).row("u") != Names(OLD, "third").row("u")
        assert one.row("u") != one.row("v")

    def test_names_that_stay(self) -> None:
        assert Names(OLD, NEW, keep_uuids=True).row("u") == "u"
        assert Names(OLD, NEW).row(NIL_UUID) == NIL_UUID

    def test_any_text_can_be_a_uuid(self) -> None:
        assert len({Names(OLD, NEW).row(text) for text in ("", '"', "\ud800", "é", "\x00")}) == 5


class TestRows:
    def test_the_quick_way(self) -> None:
        made, only_names = renamed_row(encoded(entry()), ROW, Names(OLD, NEW))
        assert only_names
        assert made == encoded(
            {"parentUuid": "P", "sessionId": NEW, "type": "user", "uuid": "U",
             "forkedFrom": {"sessionId": OLD, "messageUuid": "u"}}
        )  # fmt: skip

    @pytest.mark.parametrize("plain", [True, False], ids=["quick", "exact"])
    @pytest.mark.parametrize(
        ("line", "spelling"),
        [
            (entry(), {}),
            (entry(), {"separators": (" , ", " : ")}),
            ({"message": {"sessionId": OLD, "uuid": "u", "parentUuid": "p"}, **entry()}, {}),
            ({"message": '"sessionId":"old-session","uuid":"u"', **entry()}, {}),
            (entry(forkedFrom={"sessionId": "grandparent", "messageUuid": "g"}), {}),
            (entry(text="\u2028 \ud800 é \x7f"), {}),
            ({"uuid": "first of two", "sessionId": "also"} | entry(), {}),
        ],
        ids=["as the client writes", "spaced", "the same inside", "the same in words", "a fork", "odd text", "order"],
    )
    def test_all_ways_lead_to_the_same(self, line: dict[str, Any], spelling: dict[str, Any], plain: bool) -> None:
        made, _ = renamed_row(encoded(line, **spelling), ROW, Names(OLD, NEW), plain=plain)
        wanted = {**line, "sessionId": NEW, "uuid": "U", "parentUuid": "P"}
        wanted["forkedFrom"] = {"sessionId": OLD, "messageUuid": "u"}
        assert json.loads(made.decode("utf-8", "surrogatepass")) == wanted

    def test_of_two_members_with_one_name_the_last_counts(self) -> None:
        line = b'{"uuid":"u","sessionId":"old-session","parentUuid":"p","uuid":"u"}'
        made, _ = renamed_row(line, ROW, Names(OLD, NEW))
        assert made.startswith(b'{"uuid":"u","sessionId":"new-session","parentUuid":"P","uuid":"U"')

    @pytest.mark.parametrize("missing", ["parentUuid", "sessionId", "uuid"])
    def test_what_is_missing_is_added(self, missing: str) -> None:
        line = entry()
        del line[missing]
        names: dict[str, dict[str, Any]] = {
            "parentUuid": {"old_parent": None},
            "sessionId": {"old_session": None},
            "uuid": {"old_uuid": None},
        }
        made, _ = renamed_row(encoded(line), ROW._replace(**names[missing]), Names(OLD, NEW))
        assert json.loads(made)[missing] == {"parentUuid": "P", "sessionId": NEW, "uuid": "U"}[missing]

    def test_a_value_of_another_type_is_replaced(self) -> None:
        made, _ = renamed_row(encoded(entry(uuid=5, parentUuid={"a": [1]})), ROW, Names(OLD, NEW))
        assert (json.loads(made)["uuid"], json.loads(made)["parentUuid"]) == ("U", "P")

    def test_a_root(self) -> None:
        line = RowNames("u", "U", None, None, OLD, None)
        made, only_names = renamed_row(encoded(entry(parentUuid=None)), line, Names(OLD, NEW))
        assert only_names
        assert json.loads(made)["parentUuid"] is None

    def test_a_new_time(self) -> None:
        made, _ = renamed_row(encoded(entry(timestamp=None)), ROW._replace(timestamp="T"), Names(OLD, NEW))
        assert json.loads(made)["timestamp"] == "T"

    def test_kept_uuids_leave_all_but_session_and_parent(self) -> None:
        line = entry(sourceToolAssistantUUID="s", logicalParentUuid="l", summarizedTurnPromptUuids=["q"])
        row = ROW._replace(uuid="u", source_assistant="s")
        for plain in (True, False):
            made, _ = renamed_row(encoded(line), row, Names(OLD, NEW, keep_uuids=True), plain=plain)
            assert json.loads(made) == {**line, "sessionId": NEW, "parentUuid": "P"}

    def test_links_to_other_rows(self) -> None:
        names = Names(OLD, NEW)
        line = entry(sourceToolAssistantUUID="s", logicalParentUuid="l", summarizedTurnPromptUuids=["q", "r"])
        made, _ = renamed_row(encoded(line), ROW._replace(source_assistant="s"), names, plain=False)
        told = json.loads(made)
        assert told["sourceToolAssistantUUID"] == names.row("s")
        assert told["logicalParentUuid"] == names.row("l")
        assert told["summarizedTurnPromptUuids"] == [names.row("q"), names.row("r")]

    def test_deep_nesting(self) -> None:
        deep = b'{"parentUuid":"p","sessionId":"old-session","uuid":"u","x":' + b"[" * 50_000 + b"]" * 50_000 + b"}"
        made, _ = renamed_row(deep, ROW, Names(OLD, NEW))
        assert made.startswith(b'{"parentUuid":"P","sessionId":"new-session","uuid":"U","x":[[[')
        assert len(made) > 100_000


METADATA = {
    "trigger": "auto",
    "preservedMessages": {"anchorUuid": "a", "uuids": ["k1", "k2", "k3"], "allUuids": ["k1", "k2", "k3"]},
    "preservedSegment": {"headUuid": "k1", "anchorUuid": "a", "tailUuid": "k3"},
}


class TestCompactions:
    def told(self, preserved: tuple[str, ...] | None, names: Names, metadata: Any = METADATA) -> Any:
        line = encoded(entry(type="system", compactMetadata=metadata))
        made, _ = renamed_row(line, ROW._replace(preserved=preserved), names, plain=False)
        return json.loads(made)["compactMetadata"]

    def test_all_rows_it_names(self) -> None:
        names = Names(OLD, NEW)
        kept = [names.row(name) for name in ("k1", "k2", "k3")]
        assert self.told(None, names) == {
            "trigger": "auto",
            "preservedMessages": {"anchorUuid": names.row("a"), "uuids": kept, "allUuids": kept},
            "preservedSegment": {"headUuid": kept[0], "anchorUuid": names.row("a"), "tailUuid": kept[2]},
        }

    @pytest.mark.parametrize("keep", [False, True])
    def test_those_that_are_still_preserved(self, keep: bool) -> None:
        names = Names(OLD, NEW, keep)
        told = self.told(("k1", "k2"), names)
        assert told["preservedMessages"]["uuids"] == [names.row("k1"), names.row("k2")]
        assert told["preservedSegment"]["tailUuid"] == names.row("k2")

    def test_none_of_them(self) -> None:
        told = self.told((), Names(OLD, NEW))
        assert told == {"trigger": "auto", "preservedMessages": None, "preservedSegment": None}

    @pytest.mark.parametrize("metadata", [None, 5, [], {}, {"preservedMessages": "x"}, {"preservedSegment": [1]}])
    def test_odd_ones_stay(self, metadata: Any) -> None:
        assert self.told(None, Names(OLD, NEW), metadata) == metadata


class TestStateLines:
    def test_every_kind_of_link(self) -> None:
        names = Names(OLD, NEW)
        line = {
            "type": "file-history-snapshot",
            "messageId": "m",
            "snapshot": {"messageId": "m", "trackedFileBackups": {"uuid": {"backupFileName": "m"}}},
            "sessionId": OLD,
            "parentSessionId": OLD,
            "leafUuid": "l",
            "archivedUuids": ["x", "y"],
            "tag": "m",
        }
        told = json.loads(renamed_state(encoded(line), names))
        assert told == {
            **line, "messageId": names.row("m"), "snapshot": {**line["snapshot"], "messageId": names.row("m")},  # type: ignore[dict-item]
            "sessionId": NEW, "parentSessionId": NEW, "leafUuid": names.row("l"),
            "archivedUuids": [names.row("x"), names.row("y")],
        }  # fmt: skip

    def test_another_sessions_child_stays_its_child(self) -> None:
        line = encoded({"type": "fork-context-ref", "parentSessionId": "somebody"})
        assert renamed_state(line, Names(OLD, NEW)) == line

    def test_what_a_checkpoint_of_files_speaks_of(self) -> None:
        name = "0123456789abcdef@v2"
        backups = {"a": {"backupFileName": name}, "b": {"backupFileName": None}, "c": {"backupFileName": "../x"}}
        line = encoded(
            {
                "type": "file-history-snapshot",
                "messageId": "m",
                "snapshot": {"messageId": "s", "trackedFileBackups": backups},
            }
        )
        assert rows_named(line) == {"m", "s"}
        assert backups_named(line) == {name}


class TestOutputs:
    PLACE = f"/h/projects/-w/{OLD}/tool-results/t1.txt"

    @pytest.fixture
    def names(self) -> Names:
        return Names(OLD, NEW, outputs={"t1.txt": "/h/projects/-w/ü/t1.txt"})

    def test_the_structured_place_and_the_one_the_model_is_told(self, names: Names) -> None:
        said = f'<persisted-output>\nOutput too large. Full output saved to: {self.PLACE}\n\nPreview "x"'
        line = {
            "content": said,
            "toolUseResult": {"persistedOutputPath": self.PLACE},
            "words": f"saved to: {self.PLACE}",
        }
        told = json.loads(with_new_outputs(encoded(line), names))
        assert told["toolUseResult"]["persistedOutputPath"] == "/h/projects/-w/ü/t1.txt"
        assert told["content"] == said.replace(self.PLACE, "/h/projects/-w/ü/t1.txt")
        assert told["words"] == line["words"]
        assert names.outputs_met == {"t1.txt"}

    @pytest.mark.parametrize(
        "place", ["/h/other-session/tool-results/t1.txt", f"/h/{OLD}/tool-results/t2.txt", "t1.txt"]
    )
    def test_other_places_stay(self, place: str, names: Names) -> None:
        line = encoded({"toolUseResult": {"persistedOutputPath": place}, "x": "tool-results"})
        assert with_new_outputs(line, names) == line
        assert names.outputs_met == set()
