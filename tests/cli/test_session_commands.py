"""Finding a session, and show, thread, tree, subagents, tools, cat, doctor, completion."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.running import run

from recollect.export.terminal_text import safe
from recollect.testing import ALL_AGES, DAMAGES, HomeBuilder, build_age
from recollect.testing.toolcalls import bash, read

ESCAPES = "\x1b]52;c;aGk=\x07\x1b[2J\x1b[31mred\x1b[0m\x9b1m\x1bP1$r\x1b\\\u202e\u200bword\x07\ud800"


@pytest.fixture
def builder(tmp_path: Path) -> HomeBuilder:
    return HomeBuilder(tmp_path / "claude", version="2.1.325")


class TestFinding:
    def test_by_id_prefix_title_path_and_last(self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
        old = builder.session("/w/a", modified="2026-01-01T00:00Z")
        old.user("old one")
        new = builder.session("/w/b", modified="2026-02-01T00:00Z")
        new.user("new one")
        new.title("My Own Title")
        root = builder.write()
        for reference in (new.session_id, new.session_id[:8], "my own title", "own tit", "last"):
            assert run(capsys, root, "thread", reference, "--json").data["session_id"] == new.session_id
        path = str(builder.session_path(old))
        assert run(capsys, root, "thread", path, "--json").data["session_id"] == old.session_id

    def test_no_such_session_names_the_nearest(self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
        t = builder.session("/w/a")
        t.user("Cache the tide tables")
        ran = run(capsys, builder.write(), "show", "cache the time tables")
        assert ran.code == 3
        assert t.session_id in ran.err

    def test_an_ambiguous_prefix_lists_them(self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
        for tail in "12":
            builder.session("/w/a", session_id=f"aaaa0000-0000-4000-8000-00000000000{tail}").user(tail)
        ran = run(capsys, builder.write(), "show", "aaaa")
        assert ran.code == 3
        assert "00000000000" + "1" in ran.err
        assert "00000000000" + "2" in ran.err

    def test_a_path_outside_the_home_is_refused(
        self, builder: HomeBuilder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        builder.session("/w/a").user("hi")
        other = tmp_path / "other.jsonl"
        other.write_text("{}\n")
        assert run(capsys, builder.write(), "cat", str(other)).code == 6

    def test_a_link_to_something_that_is_no_transcript_is_not_followed(
        self, builder: HomeBuilder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        t = builder.session("/w/a")
        t.user("hi")
        root = builder.write()
        outside = tmp_path / "outside"
        outside.write_bytes(t.to_bytes())
        link = builder.session_path(t).with_name("bbbb0000-0000-4000-8000-000000000001.jsonl")
        link.symlink_to(outside)
        assert run(capsys, root, "list", "--json").data["total"] == 1
        assert run(capsys, root, "cat", str(link)).code == 6
        skipped = run(capsys, root, "doctor", "--json").data["homes"][0]["skipped"]
        assert skipped == [{"path": str(link), "why": "a link out of the home to a file that is not named .jsonl"}]


class TestCat:
    @pytest.mark.parametrize("name", sorted(name for name in DAMAGES if "huge" not in name))
    def test_damage_comes_out_as_it_went_in(
        self, name: str, builder: HomeBuilder, capfdbinary: pytest.CaptureFixture[bytes]
    ) -> None:
        t = builder.session("/w/a")
        t.user("hi")
        data = DAMAGES[name].make(5)
        builder.damage(t, data)
        root = builder.write()
        from recollect.cli.main import main

        assert main(["--home", str(root), "cat", t.session_id]) == 0
        sys.stdout.flush()
        assert capfdbinary.readouterr().out == data

    def test_an_subagents_file(self, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        from recollect.cli.main import main

        root = tmp_path / "claude"
        described = build_age(root, "2.1.325")
        session = next(item for item in described.sessions if item.subagents)
        path = next(root.glob(f"projects/*/{session.session_id}/subagents/agent-*.jsonl"))
        subagent = path.stem.removeprefix("agent-")
        assert main(["--home", str(root), "cat", session.session_id, "--subagent", subagent]) == 0
        sys.stdout.flush()
        assert capfdbinary.readouterr().out == path.read_bytes()


@pytest.mark.parametrize("version", ALL_AGES)
def test_thread_and_subagents_of_every_age(version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "claude"
    for session in build_age(root, version).sessions:
        assert run(capsys, root, "thread", session.session_id).out.split() == list(session.thread)
        rows = run(capsys, root, "subagents", session.session_id, "--json").data["rows"]
        there = [
            row for row in rows if row["layout"] != "mentioned"
        ]  # known only from results of subagents without a transcript
        assert len(there) == len(session.subagents)
        assert all(row["tool_use_id"] for row in there)


def test_thread_of_nothing_is_exit_1(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/a")
    t.title("only a title")
    ran = run(capsys, builder.write(), "thread", t.session_id)
    assert (ran.code, ran.out) == (1, "")


def test_thread_by_the_rules_of_an_older_version(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/a")
    one, two, left = t.user("one"), t.assistant("two"), t.user("three")
    t.rewind(two)
    t.wait(-90)
    other = t.user("another three")
    root = builder.write()
    assert run(capsys, root, "thread", t.session_id).out.split() == [one, two, other]
    assert run(capsys, root, "thread", t.session_id, "--client", "2.0.77").out.split() == [one, two, left]
    data = run(capsys, root, "thread", t.session_id, "--client", "2.0.77", "--json").data
    assert (data["client"], data["leaf"], data["leaf_reason"]) == ("2.0.77", left, "row with the latest time")
    assert run(capsys, root, "thread", t.session_id, "--client", "1.0.0").code == 2


def test_thread_says_as_whose_words_a_row_is_sent(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/a")
    t.user("one")
    t.system("local_command", "<local-command-stdout>little</local-command-stdout>")
    t.system("informational", "nothing")
    t.assistant("two")
    root = builder.write()

    def roles(*options: str) -> list[str | None]:
        return [row["sent_as"] for row in run(capsys, root, "thread", t.session_id, "--json", *options).data["rows"]]

    assert roles() == ["user", "user", None, "assistant"]
    assert roles("--client", "2.0.77") == ["user", None, None, "assistant"]


def test_show_pages(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/a")
    for number in range(10):
        t.user(f"question {number}")
        t.assistant(f"answer {number}")
    answer = run(capsys, builder.write(), "show", "last", "--from", "3", "--limit", "2", "--json").data
    assert [row["text"] for row in answer["rows"]] == ["question 1", "answer 1"]
    assert answer["total"] == 20


def test_show_folds_tools_and_nests_subagents(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/a")
    t.user("go")
    t.call(bash("make test", "line one\nline two"))
    subagent = t.subagent("look into it")
    subagent.call(read("/w/a/x", "inner words"))
    subagent.finish("subagent's answer")
    root = builder.write()
    short = run(capsys, root, "show", "last").out
    assert "⏵ Bash  make test" in short
    assert "line one" in short
    assert "(+1 lines)" in short
    assert "subagent" in short
    assert "subagent's answer" in short
    assert "make test" not in run(capsys, root, "show", "last", "--tools", "none").out
    assert "line two" in run(capsys, root, "show", "last", "--tools", "full").out


def test_show_a_branch(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/a")
    t.user("start")
    kept = t.assistant("common")
    t.user("first way")
    t.assistant("went there")
    t.rewind(kept)
    t.user("second way")
    t.assistant("went here")
    root = builder.write()
    assert [row["text"] for row in run(capsys, root, "show", "last", "--json").data["rows"]] == [
        "start", "common", "second way", "went here",
    ]  # fmt: skip
    assert [row["text"] for row in run(capsys, root, "show", "last", "--branch", "1", "--json").data["rows"]] == [
        "start", "common", "first way", "went there",
    ]  # fmt: skip
    assert run(capsys, root, "show", "last", "--branch", "7").code == 3
    tree = run(capsys, root, "tree", "last", "--json").data
    assert [(row["prompt"], row["status"], row["left_at"]) for row in tree["rows"]] == [
        ("first way", "abandoned", kept)
    ]
    assert "branch 1 (abandoned, 2 messages) first way" in run(capsys, root, "tree", "last").out


def test_show_before_a_compaction(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/a")
    t.title("A title")
    t.user("long ago")
    t.assistant("old answer")
    t.compact("auto", "what happened")
    t.user("now")
    t.assistant("new answer")
    root = builder.write()
    assert "long ago" not in run(capsys, root, "show", "last").out
    history = run(capsys, root, "show", "last", "--history").out
    assert history.index("long ago") < history.index("compacted (auto") < history.index("new answer")


def test_tools(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/a")
    t.user("go")
    t.parallel([bash("ls", "a"), read("/w/a/x", "words")])
    t.assistant(tools=[bash("sleep 9")])
    answer = run(capsys, builder.write(), "tools", "last", "--json").data
    assert [(row["name"], row["answered"]) for row in answer["rows"]] == [
        ("Bash", True), ("Read", True), ("Bash", False),
    ]  # fmt: skip
    assert answer["unanswered"] == 1
    assert answer["by_tool"]["Bash"]["calls"] == 2
    assert answer["rows"][0]["input"]["command"] == "ls"


class TestTerminalSafety:
    def test_no_sequence_survives(self) -> None:
        assert safe("\x1b[31mred\x1b[0m") == "red"
        cleaned = safe(ESCAPES)
        assert "word" in cleaned
        assert all(ord(c) >= 0x20 and not 0x7F <= ord(c) < 0xA0 and not 0xD800 <= ord(c) < 0xE000 for c in cleaned)
        assert "\u202e" not in cleaned
        assert "\u200b" not in cleaned

    def test_in_every_command_that_shows_words(self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
        nasty = ESCAPES.replace("\ud800", "")
        t = builder.session(f"/w/{nasty}".replace("\x00", ""), git_branch=nasty, folder="-w-nasty")
        t.user(nasty)
        t.call(bash(nasty, nasty))
        t.assistant(nasty, thinking=nasty)
        t.title(nasty)
        root = builder.write()
        for arguments in (
            ["overview"], ["list"], ["show", "last"], ["show", "last", "--tools", "full", "--thinking"], ["tree", "last"],
            ["tools", "last"], ["doctor"], ["files", "last"], ["show", nasty[:6]], ["thread", "nothing" + nasty],
        ):  # fmt: skip
            for form in ([], ["--json"]):
                ran = run(capsys, root, *form, *arguments)
                assert not set(ran.out + ran.err) & set("\x1b\x07\x9b\x9d\u202e\u200b"), arguments

    def test_colours_are_ours_alone(self, builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
        builder.session("/w/a").user("hi")
        assert "\x1b" not in run(capsys, builder.write(), "show", "last").out  # no terminal, no colours


def test_doctor_points_at_the_damage(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/a")
    t.user("one")
    t.user("two")
    data = t.to_bytes()
    torn = data[: len(data) - 40]
    builder.damage(t, torn)
    ran = run(capsys, builder.write(), "doctor", "--json")
    assert ran.code == 1
    (finding,) = ran.data["rows"]
    assert finding["kind"] == "torn"
    assert torn[finding["offset"] : finding["offset"] + finding["length"]] == torn.splitlines()[-1]


def test_doctor_counts_what_is_unknown(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    t = builder.session("/w/a", version="9.9.9")
    t.user("one")
    t.state("brand-new-thing", value=1)
    t.entry(t.assistant("two"))["message"]["content"] = [{"type": "hologram", "data": "x"}]
    t.entry(t.user("three"))["aura"] = "blue"
    told = run(capsys, builder.write(), "doctor", "--deep", "--json").data
    assert told["unknown_types"] == {"brand-new-thing": 1}
    assert told["unknown_blocks"] == {"hologram": 1}
    assert told["unknown_fields"]["user.aura"] == 1
    assert told["future_versions"] == ["9.9.9"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "_RECOLLECT_COMPLETE" in run(capsys, None, "completion", shell).out


def test_help_lists_every_command_without_importing_them(capsys: pytest.CaptureFixture[str]) -> None:
    from recollect.cli.main import COMMANDS

    out = run(capsys, None, "--help").out
    assert all(name in out for name in COMMANDS)


def test_usage_errors_are_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, None, "list", "--since", "sometime").code == 2
    assert run(capsys, None, "nonsense").code == 2


def test_an_unreadable_file_does_not_hide_the_others(builder: HomeBuilder, capsys: pytest.CaptureFixture[str]) -> None:
    good, locked = builder.session("/w/a"), builder.session("/w/b")
    good.user("fine")
    locked.user("locked")
    root = builder.write()
    path = builder.session_path(locked)
    path.unlink()
    os.mkfifo(path)  # opened like a file it would hang forever
    assert run(capsys, root, "list", "--json").data["total"] == 1
    skipped = run(capsys, root, "doctor", "--json").data["homes"][0]["skipped"]
    assert skipped == [{"path": str(path), "why": "not a regular file"}]
