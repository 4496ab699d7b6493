"""Each rule finds what it is for, at its place, and nothing in a healthy session."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.check.reports import SessionReport, check_home, check_session
from recollect.check.rule import ERROR, INFO, SEVERITIES, WARNING, Finding, fold
from recollect.check.rules import RULES
from recollect.edit.repair.fixes import FIXES
from recollect.library.library import open_library
from recollect.testing import ALL_AGES, DAMAGES, HomeBuilder, TranscriptBuilder, build_age, sample_session
from recollect.testing.toolcalls import bash, todo, todo_write

CWD = "/home/dev/orchard"


def checked(tmp_path: Path, data: bytes, name: str | None = None) -> SessionReport:
    """A session of these bytes, checked."""
    builder = HomeBuilder(tmp_path / "claude")
    session = builder.session(CWD)
    session.user("x")
    builder.damage(session, data)
    root = builder.write()
    if name is not None:
        path = builder.session_path(session)
        path.rename(path.with_name(name))
    return check_session(open_library([root]).files()[0])


def built(tmp_path: Path, build: Callable[[TranscriptBuilder], Any]) -> SessionReport:
    session = TranscriptBuilder("5c0f5a52-0000-4000-8000-000000000000", CWD, step=30.0)
    build(session)
    return checked(tmp_path, session.to_bytes())


def codes(report: SessionReport, *severities: str) -> set[str]:
    return {item.code for item in report.findings if item.severity in (severities or SEVERITIES)}


DAMAGE_CODES = {
    "torn-middle": {"torn", "history-out-of-reach", "valid-parent-reference"},
    "torn-tail": {"torn"},
    "glued": {"glued", "history-out-of-reach", "valid-parent-reference"},
    "nul-before": {"nul", "history-out-of-reach", "valid-parent-reference"},
    "prose-line": {"not-json"},
    "pretty-printed": set(),
    "null-line": {"not-object"},
    "invalid-utf8": {"encoding"},
    "lone-high-surrogate": {"surrogate"},
    "nan": {"nonstandard-number", "history-out-of-reach", "valid-parent-reference"},
    "raw-tab": {"control-character", "history-out-of-reach", "valid-parent-reference"},
    "deep-arrays": {"too-deep"},
    "missing-parent": {"valid-parent-reference", "history-out-of-reach"},
    "second-root": {"second-root", "history-out-of-reach"},
    "self-parent": {"self-parent", "history-out-of-reach"},
    "cycle-middle": {"circular-reference", "history-out-of-reach"},
    "uuid-null": {"missing-uuid", "history-out-of-reach"},
    "duplicate-uuid-same": {"duplicate-uuid"},
    "duplicate-uuid-other": {"duplicate-uuid-other"},
    "leaf-time-unparsable": {"timestamp", "no-conversation"},
    "times-missing": {"timestamp", "no-conversation"},
    "times-reversed": {"chronological-ordering", "newest-row-is-not-last"},
    "clock-jump": {"newest-row-is-not-last"},
    "swapped-lines": {"row-before-parent"},
    "message-null": {"unusable-message"},
    "unanswered-call": {"tool-use-without-result"},
    "orphan-result": {"tool-result-without-use"},
    "duplicate-result": {"duplicate-tool-result"},
    "unknown-block": {"unknown-block"},
    "unknown-type": {"unknown-type"},
    "future-version": {"unknown-version"},
    "session-id-mixed": {"foreign-session-id"},
    "checkpoint-unknown": {"unknown-checkpoint"},
    "escaped-separators": {"nul-in-text"},
    "only-state-lines": {"no-conversation"},
    "empty-file": {"empty-file"},
}


@pytest.mark.parametrize("kind", sorted(DAMAGE_CODES))
def test_damage_is_found_under_its_name(kind: str, tmp_path: Path) -> None:
    report = checked(tmp_path, DAMAGES[kind].make(1))
    assert DAMAGE_CODES[kind] <= codes(report)
    assert all(item.session_id == report.file.session_id for item in report.findings)


def test_a_finding_says_where(tmp_path: Path) -> None:
    data = DAMAGES["torn-middle"].make(1)
    report = checked(tmp_path, data)
    torn = next(item for item in report.findings if item.code == "torn")
    assert torn.line is not None and torn.offset is not None and torn.length is not None
    assert data.split(b"\n")[torn.line - 1] == data[torn.offset : torn.offset + torn.length]
    assert report.reachable_share is not None and report.reachable_share < 1


@pytest.mark.parametrize("age", ALL_AGES)
def test_healthy_sessions_of_every_age_have_no_errors(age: str, tmp_path: Path) -> None:
    build_age(tmp_path / "claude", age)
    for file in open_library([tmp_path / "claude"]).files():
        report = check_session(file)
        assert [item.code for item in report.findings if item.severity == ERROR] == []


def test_the_healthy_sample_has_no_findings_at_all(tmp_path: Path) -> None:
    data = sample_session().to_bytes()
    assert codes(checked(tmp_path, data), ERROR, WARNING) == set()


def test_the_rules_of_the_specification_go_by_their_names() -> None:
    names = {"valid-uuid", "valid-parent-reference", "chronological-ordering", "duplicate-uuid", "circular-reference"}
    assert names <= set(RULES)


def test_every_rule_says_what_happens_and_what_helps() -> None:
    home_fixes = {"config", "index", "name", "reach"}
    for rule in RULES.values():
        assert rule.title.endswith(".") and rule.client and rule.remedy
        assert rule.severity in SEVERITIES
        assert rule.fix is None or rule.fix in FIXES or rule.fix in home_fixes


# -- what rows hold ---------------------------------------------------------------------------------------------------
def test_thoughts_without_a_signature(tmp_path: Path) -> None:
    def build(t: TranscriptBuilder) -> None:
        t.user("Think.")
        t.assistant("Thought.", thinking="hm")
        for entry in t.entries:
            for block in entry.get("message", {}).get("content", []) if isinstance(entry.get("message"), dict) else []:
                if isinstance(block, dict) and block.get("type") == "thinking":
                    block["signature"] = ""

    assert "thinking-without-signature" in codes(built(tmp_path, build), ERROR)


def picture(data: str) -> list[dict[str, Any]]:
    return [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("A" * (6 << 20), True),
        (base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 8 + (9000).to_bytes(4) + (10).to_bytes(4)).decode(), True),
        (base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 8 + (900).to_bytes(4) + (10).to_bytes(4)).decode(), False),
    ],
)
def test_pictures_that_are_too_large(data: str, found: bool, tmp_path: Path) -> None:
    def build(t: TranscriptBuilder) -> None:
        row = t.user("Look.")
        t.entry(row)["message"]["content"] = [{"type": "text", "text": "Look."}, *picture(data)]
        t.assistant("Seen.")

    assert ("image-too-large" in codes(built(tmp_path, build), ERROR)) is found


def test_to_do_items_that_skip_a_state(tmp_path: Path) -> None:
    def build(t: TranscriptBuilder) -> None:
        t.user("Plan.")
        t.call(todo_write([todo("Dig", "pending")]))
        t.call(todo_write([todo("Dig", "completed")]))
        t.assistant("Done.")

    report = built(tmp_path, build)
    assert [item.detail for item in report.findings if item.code == "todo-transition"] == ["pending to completed: Dig"]


def test_an_unanswered_call_at_the_end_is_only_a_remark(tmp_path: Path) -> None:
    def build(t: TranscriptBuilder) -> None:
        t.user("Go.")
        t.assistant(tools=[bash("sleep 9")])

    assert "tool-use-without-result" in codes(built(tmp_path, build), INFO)


def test_what_was_left_by_a_rewind_is_no_damage(tmp_path: Path) -> None:
    def build(t: TranscriptBuilder) -> None:
        t.user("One.")
        first = t.assistant("1")
        t.user("Two.")
        t.assistant("2")
        t.rewind(first)
        t.user("Three.")
        t.assistant("3")

    assert codes(built(tmp_path, build), ERROR, WARNING) == set()


def test_a_file_that_begins_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    report = checked(tmp_path, b"".join(sample_session().to_bytes().splitlines(keepends=True)[3:]))
    assert "valid-parent-reference" in codes(report, INFO)
    assert codes(report, ERROR) == set()


def test_names_that_the_client_does_not_find(tmp_path: Path) -> None:
    report = checked(tmp_path, sample_session().to_bytes(), name="copy of it.jsonl")
    assert "file-name" in codes(report, ERROR)


def test_many_places_become_one_finding(tmp_path: Path) -> None:
    report = checked(tmp_path, DAMAGES["times-reversed"].make(0))
    found = [item for item in report.findings if item.code == "chronological-ordering"]
    assert len(found) == 1
    assert found[0].count > 10


def test_folding_keeps_what_should_stay_apart() -> None:
    apart = [Finding(RULES["torn"], Path("a")), Finding(RULES["torn"], Path("a"))]
    assert fold(apart) == apart


def test_files_of_subagents_are_looked_at(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session(CWD)
    t.user("Find it.")
    subagent = t.subagent("look")
    subagent.finish("found")
    t.assistant("There.")
    root = home.write()
    path = home.subagent_path(subagent)
    assert path is not None
    path.write_bytes(path.read_bytes()[:-30])
    report = check_session(open_library([root]).files()[0])
    assert [(item.code, item.subagent_id) for item in report.findings if item.severity == ERROR] == [
        ("torn", subagent.subagent_id)
    ]


def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    builder = HomeBuilder(tmp_path / "claude")
    builder.session(CWD).user("x")
    file = open_library([builder.write()]).files()[0]
    file.path.unlink()
    assert codes(check_session(file)) == {"unreadable"}


# -- homes ------------------------------------------------------------------------------------------------------------
def home_codes(root: Path) -> dict[str, Finding]:
    library = open_library([root])
    ((home, scan),) = library.scans
    return {item.code: item for item in check_home(home, scan)}


def test_what_is_left_of_sessions_that_are_gone(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session(CWD)
    t.user("Find it.")
    t.subagent("look").finish("found")
    root = home.write()
    gone = t.session_id
    for name, content in (
        (f"todos/{gone}.json", "[]"),
        (f"tasks/{gone}/1.json", "{}"),
        (f"file-history/{gone}/a@v1", "x"),
        (f"projects/-home-dev-orchard/{gone}/tool-results/t.txt", "x"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    home.session_path(t).unlink()
    found = home_codes(root)
    assert {"orphan-subagent", "orphan-todos", "orphan-tasks", "orphan-file-history", "orphan-tool-results"} <= set(
        found
    )


def test_config_settings_and_lists(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session(CWD)
    t.user("x")
    root = home.write()
    (root / ".claude.json").write_text('{"projects": {')
    (root / "settings.json").write_text("{,}")
    index = home.session_path(t).with_name("sessions-index.json")
    index.write_text(json.dumps({"version": 1, "entries": []}))
    (root / "todos").mkdir(exist_ok=True)
    (root / "todos" / f"{t.session_id}.json").write_text("{")
    found = home_codes(root)
    assert {"corrupt-config", "corrupt-settings", "stale-sessions-index", "corrupt-side-file"} <= set(found)
    assert found["stale-sessions-index"].path == index


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_permissions(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    home.session(CWD).user("x")
    root = home.write()
    root.chmod(0o755)
    (root / "projects").chmod(0o755)
    assert "permissions-too-open" in home_codes(root)
    root.chmod(0o700)
    assert "permissions-too-open" not in home_codes(root)


def test_the_same_session_in_two_projects(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session(CWD)
    t.user("x")
    root = home.write()
    other = root / "projects" / "-elsewhere"
    other.mkdir()
    (other / f"{t.session_id}.jsonl").write_bytes(home.session_path(t).read_bytes())
    (other / "stray.JSONL").write_text("x")
    assert {"session-id-twice", "skipped-file"} <= set(home_codes(root))


def test_two_projects_in_one_folder(tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    for cwd in ("/w/a-b", "/w/a/b"):
        home.session(cwd).user("x")
    found = home_codes(home.write())
    assert found["shared-folder"].detail == "/w/a-b and /w/a/b"
