"""A `git commit` is one where a shell would run it: not in quotes, comments or text that is handed in."""

from __future__ import annotations

import pytest

from recollect.index.words.searchable_text import commands_of, makes_commit


@pytest.mark.parametrize(
    "line",
    [
        "git commit -m 'a'",
        "git -C /p/x commit -am x",
        "git -c user.name=x --no-pager commit -m z",
        "cd /p && git add . && git commit -m y",
        "git add -A&&git commit -m x",
        "git add . \\\n  && git commit -m x",
        "gh pr create; git commit --amend",
        "FOO=1 /usr/bin/git commit",
        "if ! git commit -m x; then echo no; fi",
        "(cd x; git commit) 2>&1 | tail",
        "# don't forget\ngit commit -m x",
        "echo a # why\ngit commit -m y",
        "git commit -m fix#12 && ls",
        "git commit -m \"$(cat <<'EOF'\nIt's done\nEOF\n)\"",
        "cat > x <<EOF\nhi\nEOF\ngit commit -m x",
        "git commit -m 'a text that was cut off",
    ],
)
def test_commits(line: str) -> None:
    assert makes_commit(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "'",
        "git",
        "git -C",
        'echo "git commit"',
        "echo 'a\ngit commit -m x'",
        "echo git commit",
        "git commit --dry-run",
        "git commit -m x --porcelain",
        "git commit --help",
        "git commit-tree x",
        "git log --grep commit",
        "git show commit",
        "git status # then git commit",
        "ls # ; git commit",
        "# git commit",
        "cat > x.sh <<'EOF'\ngit commit -m x\nEOF\nls",
        "cat > x.sh <<EOF\ngit commit -m x",
    ],
)
def test_no_commits(line: str) -> None:
    assert not makes_commit(line)


def test_words_of_each_command() -> None:
    found = [words for words in commands_of("a 'b c' | d >e && (f; g 'h") if words]
    assert found == [["a", "b c"], ["d", "e"], ["f"], ["g"]]


def test_a_line_without_end_is_bounded() -> None:
    assert makes_commit("git add " + "a/long/path.py " * 100 + "&& git commit -m x")
    assert not makes_commit("echo " + "a " * 100_000 + "; git commit -m x")
