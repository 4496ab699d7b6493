"""The documentation is true: generated pages are fresh, samples run and print what they show, links lead somewhere."""

from __future__ import annotations

import doctest
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.compat.clients import NEWEST
from tests.compat.crafted import BUILDERS
from tests.compat.exceptions import CRAFTED, OLDER
from tests.house.console_samples import PAGES, REPOSITORY, as_ada, build_ada, has_samples, renewed, run
from tools import reference, reference_messages

from recollect.cli.command_run import CommandRun
from recollect.cli.main import COMMANDS, cli, main
from recollect.format.entries import KNOWN_TYPES
from recollect.format.line import DAMAGE_KINDS

DOCS = REPOSITORY / "docs"
ALL_PAGES = [*PAGES, REPOSITORY / "CHANGELOG.md", REPOSITORY / "CONTRIBUTING.md"]
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]\[]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (?P<words>.+)$", re.MULTILINE)
_PYTHON = re.compile(r"(?P<mark><!-- no-run: .+ -->\n)?^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL = re.compile(r"^```(?P<kind>sh|console)\n(?P<lines>.*?)^```$", re.MULTILINE | re.DOTALL)


def name_of(page: Path) -> str:
    return str(page.relative_to(REPOSITORY))


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("machine").resolve()
    build_ada(root)
    return root


@pytest.fixture
def ada(machine: Path, own_home: Path) -> Iterator[Path]:
    """The machine of the documentation: a demo home of a fixed day, found by the environment."""
    assert own_home.is_dir()  # the environment of all tests comes first, this one replaces it
    with as_ada(machine):
        yield machine


# -- words ------------------------------------------------------------------------------------------------------------
def test_texts_name_claude_code() -> None:
    """ "The client" might be any program: a browser, an SDK. In `web/security.py` it is the program that made a request."""
    pages = [page for page in ALL_PAGES if "decisions" not in page.parts and page.name != "CHANGELOG.md"]
    sources = [
        path for ending in ("py", "html", "txt") for path in (REPOSITORY / "src" / "recollect").rglob(f"*.{ending}")
    ]
    texts = [*pages, DOCS / "messages.toml", *(path for path in sources if path.name != "security.py")]
    assert [name_of(path) for path in texts if re.search(r"\b[Tt]he client\b", path.read_text())] == []


# -- generated pages --------------------------------------------------------------------------------------------------
def test_generated_pages_are_fresh() -> None:
    assert reference.stale(DOCS) == [], "run `make docs`"


def test_check_notices_a_stale_page(tmp_path: Path) -> None:
    (tmp_path / "messages.toml").write_bytes((DOCS / "messages.toml").read_bytes())
    pages = reference.pages(tmp_path)
    for path, text in pages.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    assert reference.stale(tmp_path) == []
    (tmp_path / "messages.md").write_text("old", "utf-8")
    (tmp_path / "reference" / "cli.md").unlink()
    assert sorted(reference.stale(tmp_path)) == ["messages.md", "reference/cli.md"]


def test_every_slug_is_explained() -> None:
    text = (DOCS / "messages.md").read_text("utf-8")
    slugs = {raised.slug for raised in reference_messages.raised_errors()}
    assert {"no-such-session", "ambiguous-file", "outside-home", "not-a-home"} <= slugs
    assert slugs == set(re.findall(r"^### (.+)$", text, re.MULTILINE))


def test_a_slug_without_an_explanation_is_refused() -> None:
    told = (DOCS / "messages.toml").read_text("utf-8")
    with pytest.raises(LookupError, match="no-such-plan"):
        reference_messages.messages_page(re.sub(r"\[no-such-plan\]\n.*\n.*\n", "", told))
    with pytest.raises(LookupError, match="nothing raises: made-up"):
        reference_messages.messages_page(told + '\n[made-up]\nmeans = "x"\nremedy = "y"\n')


def test_messages_of_conditional_errors_go_with_their_slugs() -> None:
    told = {(raised.slug, raised.message) for raised in reference_messages.raised_errors()}
    assert ("ambiguous-file", "… may be any of several files") in told
    assert ("no-such-file", "… is not a file that this session touched") in told


def test_every_exit_code_of_the_classes_is_in_the_table() -> None:
    codes = reference_messages.exit_codes()
    assert {error.exit_code for error in reference_messages.ERRORS.values()} <= set(codes)
    assert {0, 1, 2, 130} <= set(codes)


def test_every_kind_of_damage_is_explained() -> None:
    text = (DOCS / "reference" / "damage.md").read_text("utf-8")
    assert [kind for kind in DAMAGE_KINDS if f"`{kind}`" not in text] == []


@pytest.mark.parametrize("reason", ["sent to the model", "part of the conversation", "an API error, not sent"])
def test_reasons_are_found_through_names_and_functions(reason: str) -> None:
    assert f"| `live` | {reason} |" in (DOCS / "reference" / "statuses.md").read_text("utf-8")


def test_every_known_entry_type_is_in_the_format_pages() -> None:
    text = (DOCS / "format" / "entries.md").read_text("utf-8")
    assert sorted(kind for kind in KNOWN_TYPES if f"`{kind}`" not in text) == []


# -- commands ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_examples_and_its_json_written_down(name: str) -> None:
    command = reference.find_command(name)
    assert (command.help or "").strip()
    assert "Examples:" in (command.epilog or "")
    module = __import__(f"recollect.cli.commands.{COMMANDS[name][0]}", fromlist=["x"])
    assert reference.json_part(name) or "No JSON form." in (module.__doc__ or "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_readme(name: str) -> None:
    table = (REPOSITORY / "README.md").read_text("utf-8").partition("## Commands")[2].partition("\n## ")[0]
    assert name == "overview" or re.search(rf"`(?:recollect )?{name}\b", table)


ANSWERS = (
    "overview", "list", "show last", "thread last", "tree last", "subagents Harbour", "tools last", "todos", "history",
    "files Cache", "files Cache cache.py", "files Cache cache.py --at end", "files Cache --diff", "plans", "plans gentle",
    "config", "flags", "doctor --deep", "rename last x --dry-run", "tag last x --dry-run", "archive last --dry-run",
    "append last --role user x --dry-run", "rewind Cache c61320c6 --dry-run", "todo Cache add x --dry-run",
)  # fmt: skip
#: Fields that the docstring of a command's module does not name yet.
UNDOCUMENTED = {
    "overview": {"recent"},
    "files": {"session_id", "total", "changed"},
    "config": {"total"},
    "doctor": {"meaning", "read_whole"},
}


@pytest.mark.parametrize("line", ANSWERS)
def test_json_fields_are_written_down(line: str, ada: Path) -> None:
    answer = json.loads(run(f"recollect {line} --json", ada))
    fields = set(answer).union(*answer.get("rows", ())) - {"rows"}
    name = line.split()[0]
    told = reference.json_part(name) or ""
    missing = {field for field in fields if not re.search(rf"\b{field}\b", told)}
    assert missing <= UNDOCUMENTED.get(name, set())


def commands_in(page: Path, kinds: tuple[str, ...] = ("sh", "console")) -> Iterator[list[str]]:
    """The words of every call of recollect in shell blocks; in `console` blocks only lines after a prompt are shell."""
    for block in _SHELL.finditer(page.read_text("utf-8")):
        for line in block["lines"].splitlines() if block["kind"] in kinds else ():
            if block["kind"] == "sh" or line.startswith("$ "):
                inner = re.fullmatch(r'eval "\$\((.+)\)".*', line)
                yield from calls_of(inner[1] if inner else line.removeprefix("$ "))


def calls_of(line: str) -> Iterator[list[str]]:
    words: list[str] = []
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True  # `role:user` is one word
    for word in [*lexer, ";"]:
        if set(word) <= set("|&;<>()"):
            if words[:1] == ["recollect"]:
                yield words
            words = []
        else:
            words.append(word)


CALLS = [(name_of(page), words) for page in ALL_PAGES for words in commands_in(page)]


@pytest.mark.parametrize(("page", "words"), CALLS, ids=[f"{page}: {' '.join(words)}" for page, words in CALLS])
def test_commands_in_samples_exist(page: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands, arguments and options are understood; nothing is run, and files that are named need not be there."""
    monkeypatch.setattr(click.Path, "convert", lambda _, value, *__: value)
    try:
        context = cli.make_context("recollect", words[1:], obj=CommandRun())
        rest = [*context._protected_args, *context.args]
        if rest:
            _, command, rest = cli.resolve_command(context, rest)
            assert command is not None
            command.make_context(rest[0] if rest else "", rest, parent=context)
    except click.ClickException as problem:
        pytest.fail(f"{page}: {' '.join(words)}: {problem.format_message()}")


def test_there_are_samples_to_check() -> None:
    assert len(CALLS) > 50


# -- samples ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("page", [page for page in PAGES if has_samples(page)], ids=name_of)
def test_samples_are_what_the_commands_print(page: Path, ada: Path) -> None:
    text = page.read_text("utf-8")
    assert renewed(text, ada) == text, "run `python -m tests.house.console_samples --write`"


#: Calls in the guide that find nothing in the demo home, and why that is as it should be.
FINDS_NOTHING = {
    "recollect --home /backup/claude list --sort bytes": "another home",
    "recollect --home ~/.claude --home /mnt/laptop/.claude list --since 30d": "another home",
    "recollect --home ./demo-home list": "another home",
    "recollect list --since 7d": "the demo lies in the past",
    "recollect list --running": "nothing runs",
    "recollect sql -": "asks what stands in a file",
    "recollect sql --run by-project --set project=/home/ada/code/tidepool": "saved by the sample before it",
    "recollect sql --saved": "saved by the sample before it",
    "recollect sql --forget by-project": "saved by the sample before it",
}
ASKING = {
    "subagents", "cat", "config", "expensive", "files", "flags", "history", "list", "plans", "search", "show", "sql", "thread",
    "todos", "tools", "tree", "usage",
}  # fmt: skip
#: Samples that show what they print are held elsewhere. In the reference, sessions and words are made up, tables are not.
ASKED = [
    words
    for page in PAGES
    for words in commands_in(page, ("sh",))
    if (name_of(page).startswith(("README", "docs/guide")) and ASKING.intersection(words))
    or (name_of(page) == "docs/reference/cli.md" and words[1:2] == ["sql"] and words[-1].startswith("SELECT"))
]


@pytest.mark.parametrize("words", ASKED, ids=" ".join)
def test_questions_of_the_guide_find_something(
    words: list[str], ada: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An example that finds nothing in the demo home teaches a question that may be wrong."""
    monkeypatch.chdir(tmp_path)
    assert ada.is_dir()
    if " ".join(words) not in FINDS_NOTHING:
        assert main(words[1:]) == 0


def test_no_exception_of_the_guide_is_out_of_date() -> None:
    assert set(FINDS_NOTHING) - {" ".join(words) for words in ASKED} == set()


def test_the_wrong_words_in_a_question_would_be_noticed(ada: Path) -> None:
    assert ada.is_dir()
    assert main(["sql", "SELECT text FROM prompts WHERE text ILIKE '%no such word%'"]) == 1


READING = (
    "overview", "list", "show last", "thread last", "tree last", "subagents last", "tools last", "todos", "history",
    "files last", "plans", "config", "flags", "cat last", "doctor --deep", "rename last x --dry-run",
)  # fmt: skip


def test_reading_commands_and_dry_runs_change_nothing(ada: Path) -> None:
    def state() -> dict[str, tuple[str, int]]:
        return {
            str(path): (path.read_bytes().hex() if path.is_file() else "", path.stat().st_mtime_ns)
            for path in (ada / "home" / "ada" / ".claude").rglob("*")
        }

    before = state()
    assert len(before) > 50
    for line in READING:
        run(f"recollect {line}", ada)
    assert state() == before


def python_pages() -> list[Path]:
    pages = [REPOSITORY / "README.md", *sorted((DOCS / "guide").glob("*.md"))]
    return [page for page in pages if _PYTHON.search(page.read_text("utf-8"))]


@pytest.mark.parametrize("page", python_pages(), ids=name_of)
def test_python_samples_run(page: Path, ada: Path) -> None:
    """The blocks of a page are one session; what they print must be what stands there."""
    assert ada.is_dir()
    code = "".join(block["code"] for block in _PYTHON.finditer(page.read_text("utf-8")) if block["mark"] is None)
    assert ">>>" in code
    test = doctest.DocTestParser().get_doctest(code, {}, name_of(page), name_of(page), 0)
    told: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    assert result.attempted > 3
    assert result.failed == 0, "".join(told)


# -- links ------------------------------------------------------------------------------------------------------------
def anchors_of(page: Path) -> set[str]:
    """Anchors of a page's headings, as code hosts make them."""
    text = _FENCED.sub("", page.read_text("utf-8"))
    words = (match["words"].replace("`", "").lower() for match in _HEADING.finditer(text))
    return {re.sub(r"[^\w\- ]", "", word).replace(" ", "-") for word in words}


@pytest.mark.parametrize("page", ALL_PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = _FENCED.sub("", page.read_text("utf-8"))
    broken = []
    for match in _LINK.finditer(text):
        target, _, anchor = match["target"].partition("#")
        if target.startswith(("http://", "https://")):
            continue
        there = (page.parent / target).resolve() if target else page
        if not there.exists() or (anchor and anchor not in anchors_of(there)):
            broken.append(match["target"])
    assert broken == []


def test_every_page_is_linked_from_the_index() -> None:
    """Directly, or from the list of decisions."""
    linked = set()
    for page in (DOCS / "index.md", DOCS / "decisions" / "README.md"):
        for match in _LINK.finditer(page.read_text("utf-8")):
            linked.add((page.parent / match["target"]).resolve())
    missing = [name_of(page) for page in DOCS.rglob("*.md") if page.resolve() not in linked]
    assert missing == ["docs/index.md"]


def test_the_numbers_of_crafted_sessions_are_those_that_the_compatibility_tests_hold() -> None:
    """Those tests fail for a crafted session that differs and is not in the tables, and for one that is and agrees."""
    page = (DOCS / "compatibility.md").read_text("utf-8")
    for version, exceptions in {NEWEST: CRAFTED, **OLDER}.items():
        agree = f"{len(BUILDERS) - len(exceptions)} of {len(BUILDERS)}"
        (row,) = re.findall(
            rf"^\| `recollect thread.*`, crafted sessions \| client {version} \| (\d+ of \d+)", page, re.M
        )
        assert row == agree, version
