"""A session that Claude Code resumes whole is left alone: no plan, no error, everything reachable. Whatever was done in it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.check.reports import check_session
from recollect.check.rule import ERROR
from recollect.check.rules import RULES
from recollect.check.rules.lines import DAMAGED_LINES as DAMAGED_LINES
from recollect.edit.repair.plan import plan_repair
from recollect.journal.changes import Journal
from recollect.library.library import Library, open_library
from recollect.store.scan import SessionFile
from recollect.testing import ALL_AGES, DAMAGES, HomeBuilder, TranscriptBuilder, build_age, build_demo_home, uuid_from
from recollect.testing.toolcalls import bash, failed, read
from recollect.testing.transcript import ForkStyle

CWD = "/home/dev/orchard"
FORKS: tuple[ForkStyle | None, ...] = (None, "fork-session", "branch", "sdk")


def assert_left_alone(library: Library, data: Path) -> int:
    """The number of healthy sessions: those without a damaged line."""
    seen = 0
    for file in library.files():
        report = check_session(file)
        if any(item.code in DAMAGED_LINES and item.severity == ERROR for item in report.findings):
            continue
        seen += 1
        assert [item.code for item in report.findings if item.severity == ERROR] == []
        assert report.reachable_share == 1.0
        assert fixes_of(file, data) == []
    return seen


def fixes_of(file: SessionFile, data: Path) -> list[str]:
    change, result = plan_repair(Journal(data), file)
    with change:
        return [item.fix for item in result.fixes]


@pytest.mark.parametrize("age", ALL_AGES)
def test_the_sessions_of_an_age(age: str, tmp_path: Path) -> None:
    build_age(tmp_path / "claude", age)
    assert assert_left_alone(open_library([tmp_path / "claude"]), tmp_path / "data") > 1


def test_the_demo(tmp_path: Path) -> None:
    build_demo_home(tmp_path / "claude")
    assert assert_left_alone(open_library([tmp_path / "claude"]), tmp_path / "data") > 8


# --- what people do, in any order ---------------------------------------------------------------------------------------

Deed = Callable[[TranscriptBuilder], None]


def talk(t: TranscriptBuilder) -> None:
    t.user("Water the trees.")
    t.assistant("Watered.", thinking="With which can?")


def odd_words(t: TranscriptBuilder) -> None:
    """NULs and half of a surrogate pair, as the output of a tool that was cut brings them."""
    t.user("Show me the file.")
    t.call(bash("cat seed.bin", "a\x00b\ud83d"))
    t.assistant("It is binary.")


def one_call(t: TranscriptBuilder) -> None:
    t.user("What grows here?")
    t.call(bash("ls", "apple\n"))
    t.call(failed("Read", {"file_path": f"{CWD}/pear"}, "File does not exist."))
    t.assistant("Apples.")


def several_calls(t: TranscriptBuilder) -> None:
    t.user("Look at both.")
    t.parallel([bash("ls", "a\n"), read(f"{CWD}/a", "x")], "Two at once.")
    t.assistant("Seen.")


def subagent(t: TranscriptBuilder) -> None:
    t.user("Find the ladder.")
    subagent = t.subagent("Find the ladder.")
    subagent.call(bash("find . -name ladder", "./shed/ladder\n"))
    subagent.finish("In the shed.")
    t.assistant("It is in the shed.")


def compaction(t: TranscriptBuilder) -> None:
    question, answer = t.user("How tall is it?"), t.assistant("Four metres.")
    t.compact("auto", "We measured a tree.", preserved=[question, answer] if t.dialect.preserved_messages else [])


def rewind(t: TranscriptBuilder) -> None:
    kept = t.head
    talk(t)
    if kept is not None:
        t.rewind(kept)
    talk(t)


def rewind_to_the_start(t: TranscriptBuilder) -> None:
    """Clients that write no checkpoints leave nothing by which this could be told from a lost link."""
    if t.dialect.checkpoint:
        t.rewind(None)
    talk(t)


def retraction(t: TranscriptBuilder) -> None:
    """Esc before the answer: the prompt is taken back, and sent again in other words."""
    before = t.head
    t.user("Watr the trees.")
    if t.dialect.attachment_rows:
        t.attachment("date", date="2026-03-02")
    t.head = before
    if t.dialect.checkpoint and before is not None:
        t.withdraw_checkpoint()
    talk(t)


def late_withdrawal(t: TranscriptBuilder) -> None:
    """The client writes in batches: the checkpoint may be withdrawn behind the prompt that takes the other one's place."""
    if not t.dialect.checkpoint:
        return
    talk(t)
    t.last_prompt("Water the trees.")
    t.head = None
    t.user("Feed the trees.")
    t.attachment("date", date="2026-03-02")
    t.withdraw_checkpoint()
    t.assistant("Fed.")


def command(t: TranscriptBuilder) -> None:
    """The words around a command are written when it ends: the first of them is the newest."""
    t.wait(3)
    t.user("<local-command-caveat>Caveat</local-command-caveat>", meta=True)
    t.wait(-3)
    t.user("<command-name>/cost</command-name>")
    t.system("local_command", "<local-command-stdout>little</local-command-stdout>", level="info")


def broken_off(t: TranscriptBuilder) -> None:
    t.user("Prune all of it.")
    t.user([{"type": "text", "text": "[Request interrupted by user]"}])


def failure(t: TranscriptBuilder) -> None:
    t.user("Ask again.")
    t.api_error()


def state_lines(t: TranscriptBuilder) -> None:
    t.title("Orchard")
    if t.dialect.last_prompt and t.head is not None:
        t.last_prompt("Water the trees.")
    t.state("tag", tag="green")


def unknown_line(t: TranscriptBuilder) -> None:
    t.state("weather", sun=True)


DEEDS: tuple[Deed, ...] = (
    talk, odd_words, one_call, several_calls, subagent, compaction, rewind, rewind_to_the_start, retraction,
    late_withdrawal, command, broken_off, failure, state_lines, unknown_line,
)  # fmt: skip


def build(folder: Path, age: str, deeds: list[Deed], fork: ForkStyle | None = None) -> Library:
    home = HomeBuilder(folder / "claude", version=age)
    t = home.session(CWD, session_id=uuid_from("healthy"))
    if fork is not None:
        source = home.session(CWD, session_id=uuid_from("healthy source"))
        for first in (talk, several_calls, talk):
            first(source)
        t.fork_copy(source, style=fork)
    for deed in deeds:
        deed(t)
    talk(t)
    return open_library([home.write()])


@settings(max_examples=80)
@given(
    st.sampled_from(ALL_AGES),
    st.lists(st.sampled_from(DEEDS), max_size=7),
    st.sampled_from(FORKS),
)
def test_whatever_people_do(age: str, deeds: list[Deed], fork: ForkStyle | None) -> None:
    with tempfile.TemporaryDirectory() as name:
        assert assert_left_alone(build(Path(name), age, deeds, fork), Path(name) / "data") == (2 if fork else 1)


@pytest.mark.parametrize("age", ALL_AGES)
@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
def test_each_deed_alone_and_after_others(deed: Deed, age: str, tmp_path: Path) -> None:
    assert assert_left_alone(build(tmp_path / "first", age, [deed]), tmp_path / "data") == 1
    assert assert_left_alone(build(tmp_path / "later", age, [talk, one_call, deed, talk]), tmp_path / "data") == 1


def test_the_first_prompt_taken_back_is_no_second_root(tmp_path: Path) -> None:
    library = build(tmp_path, ALL_AGES[-1], [retraction])
    session = library.session(uuid_from("healthy"))
    assert [place.status for place in session.thread.placements][:3] == ["abandoned", "abandoned", "live"]
    assert "second-root" not in [item.code for item in check_session(session.file).findings]


@pytest.mark.parametrize("deeds", [[rewind], [retraction], [late_withdrawal]])
def test_a_lost_link_is_seen_in_a_session_with_rewinds(deeds: list[Deed], tmp_path: Path) -> None:
    """What was taken back on purpose is no excuse for what is lost elsewhere in the file."""
    home = HomeBuilder(tmp_path / "claude")
    t = home.session(CWD, session_id=uuid_from("healthy"))
    for deed in (*deeds, talk, talk):
        deed(t)
    lost = t.user("Where are we?", parent=None)
    t.assistant("At the start, it seems.")
    library = open_library([home.write()])
    file = library.files()[0]
    assert [item.uuid for item in check_session(file).findings if item.code == "second-root"] == [lost]
    assert fixes_of(file, tmp_path / "data") == ["links"]


@pytest.mark.parametrize(
    "kind", ["times-reversed", "times-equal", "clock-jump", "swapped-lines", "role-missing", "pretty-printed"]
)
def test_what_only_older_versions_need_waits_for_its_rule(kind: str, tmp_path: Path) -> None:
    home = HomeBuilder(tmp_path / "claude")
    t = home.session(CWD)
    t.user("x")
    home.damage(t, DAMAGES[kind].make(1))
    file = open_library([home.write()]).files()[0]
    change, result = plan_repair(Journal(tmp_path / "data"), file)
    with change:
        assert (result.fixes, result.changes_something) == ([], False)
        assert result.for_older
    codes = [code for code, rule in RULES.items() if rule.fix in result.for_older]
    change, asked = plan_repair(Journal(tmp_path / "data"), file, rules=codes)
    with change:
        assert [item.fix for item in asked.fixes] == result.for_older
