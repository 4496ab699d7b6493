"""A small, believable home to show the program with: three projects, a dozen sessions of several ages."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from .home import HomeBuilder
from .identifiers import parse_time
from .toolcalls import ToolCall, bash, edit, failed, grep, read, task_create, todo, todo_write, write
from .transcript import TranscriptBuilder

# Demo project: a notebook about a garden, kept as a static site.

GARDEN = "/home/ada/notes/garden"
PAGE = "# Beds\n\n- Bed 1: beans\n- Bed 2: garlic\n"


def garden_sessions(home: HomeBuilder, now: datetime) -> TranscriptBuilder:
    """All sessions of the project; returns the newest."""
    _feed(home, now - timedelta(days=16, hours=9))
    rotation = _rotation(home, now - timedelta(days=2, hours=3))
    return _branched(home, rotation, now - timedelta(days=2, hours=1))


def _feed(home: HomeBuilder, start: datetime) -> None:
    """A turn taken back in a version of Claude Code that had no checkpoints yet."""
    t = home.session(GARDEN, version="2.1.50", start=start, git_branch="")
    t.user("The feed shows drafts. It should not.")
    t.call(read(f"{GARDEN}/feed.py", "pages = load()\n"))
    question = t.assistant("`load()` gives every page. How do I know a draft: by its name, or by a flag in its head?")
    t.user("By an underscore in the name.")
    t.assistant("No page has one so far; you would have to rename eleven files and their links.")
    t.rewind(question)
    t.user("By the flag, then.")
    t.call(edit(f"{GARDEN}/feed.py", "load()", "[p for p in load() if not p.draft]", original="pages = load()\n"))
    t.assistant("The feed leaves drafts out now.")
    home.todos(t.session_id, [], subagent=t.session_id)
    home.session_env(t.session_id)


def _rotation(home: HomeBuilder, start: datetime) -> TranscriptBuilder:
    t = home.session(GARDEN, version="2.1.325", start=start, git_branch="")
    t.user("What may follow beans in bed 1?")
    t.attachment("date", rendered="Today's date.", date=start.strftime("%Y-%m-%d"))
    t.call(read(f"{GARDEN}/beds.md", PAGE))
    t.assistant("Beans leave nitrogen behind, so something hungry: kale, leek or squash. Garlic stays in bed 2.")
    t.title("Crop rotation")
    t.last_prompt("What may follow beans in bed 1?")
    home.history("What may follow beans in bed 1?", GARDEN, t.session_id, when=start)
    return t


def _branched(home: HomeBuilder, source: TranscriptBuilder, start: datetime) -> TranscriptBuilder:
    t = home.session(GARDEN, version="2.1.325", start=start, git_branch="")
    t.fork_copy(source, style="branch")
    t.at(0)
    t.user("Then squash. How far apart?")
    t.call(bash("grep -n squash seeds.csv", "12:squash,Red Kuri,90 cm\n"))
    t.assistant("Ninety centimetres for the Red Kuri you have; two plants fit into bed 1.")
    t.title("Crop rotation (Branch)")
    t.last_prompt("Then squash. How far apart?")
    return t


# Demo project: a command line tool for recipes.

MARMALADE = "/home/ada/code/marmalade"
SCALE = "fn scale(grams: f64, portions: u32) -> f64 {\n    (grams * portions as f64).round()\n}\n"


def marmalade_sessions(home: HomeBuilder, now: datetime) -> TranscriptBuilder:
    """All sessions of the project; returns the newest."""
    _units(home, now - timedelta(days=24, hours=4))
    _long_build(home, now - timedelta(days=20, hours=1))
    _shopping_list(home, now - timedelta(days=6, hours=8))
    return _power_cut(home, now - timedelta(days=1, hours=5))


def _units(home: HomeBuilder, start: datetime) -> None:
    t = home.session(MARMALADE, version="2.0.77", start=start, git_branch="units")
    t.user("Support cups and spoons beside grams.")
    subagent = t.subagent(
        "Find every place that prints an amount.", description="Find printed amounts", subagent_type="Explore"
    )
    subagent.call(grep("println!", [f"{MARMALADE}/src/print.rs", f"{MARMALADE}/src/scale.rs"]))
    subagent.finish("Amounts are printed in `print.rs` only; `scale.rs` prints a warning.")
    t.queue("enqueue", "and ounces, please")
    t.call(edit(f"{MARMALADE}/src/scale.rs", ".round()", ".max(0.0)", original=SCALE))
    t.queue("dequeue")
    t.user("and ounces, please")
    t.assistant("Cups, spoons and ounces are in; `--units` chooses, grams stay the default.")
    t.turn_duration(48_000)
    home.sessions_index(MARMALADE, [home.index_entry(t)])


def _long_build(home: HomeBuilder, start: datetime) -> None:
    t = home.session(MARMALADE, version="2.1.9", start=start)
    t.progress("hook_progress", tool_use_id="hook-1", hookEvent="SessionStart", hookName="SessionStart:startup")
    t.user("Why is the release build so large?")
    t.assistant("I'll build it and look at the sections.", tools=[bash("cargo bloat --release --crates")])
    call = list(t.calls)[-1]
    t.progress(
        "bash_progress", tool_use_id="bash-progress-0", parent_tool_use_id=call, output="Compiling", totalLines=1
    )
    listing = "".join(f"{size:>6} KiB  crate_{size}\n" for size in range(900, 0, -1))
    path = home.tool_output(t, call, listing)
    preview = f"<persisted-output>\nOutput too large. Full output saved to: {path}\n</persisted-output>"
    structured = {"stdout": listing[:120], "stderr": "", "interrupted": False, "isImage": False}
    t.tool_result(call, preview, tool_use_result=structured | {"persistedOutputPath": path})
    subagent = t.subagent("Which features of the three largest crates do we use?", description="Used features")
    subagent.call(read(f"{MARMALADE}/Cargo.toml", '[dependencies]\nclap = "4"\nregex = "1"\n'))
    subagent.finish("Of `regex` only ASCII matching; its Unicode tables can be left out.")
    t.assistant("`regex` brings its Unicode tables. Without that feature the binary shrinks from 6.1 to 3.8 MB.")


def _shopping_list(home: HomeBuilder, start: datetime) -> None:
    """A plan, long work, a compaction that keeps the last exchange, and the work after it."""
    t = home.session(MARMALADE, version="2.1.250", start=start, git_branch="shopping", slug="gentle-stirring-ladle")
    home.plan(
        "gentle-stirring-ladle", "# Shopping list\n\n1. Sum amounts over recipes.\n2. Group by aisle.\n3. Print.\n"
    )
    t.user("I want a shopping list for several recipes. Plan it first.", permissionMode="plan")
    plan = "1. Sum amounts over recipes. 2. Group by aisle. 3. Print."
    t.call(ToolCall("ExitPlanMode", {"plan": plan}, content="The plan was approved.", structured={"plan": plan}))
    t.call(write(f"{MARMALADE}/src/list.rs", "pub fn total() {}\n"))
    t.assistant("The sums work for one unit; mixed units come next.")
    t.user("What happens with three eggs and a dozen eggs?")
    t.assistant("They add up to fifteen: counts have no unit, so a dozen is turned into twelve on reading.")
    question = t.user("And aisles?")
    answer = t.assistant("Each ingredient may name its aisle; what has none goes to the end of the list.")
    t.compact(
        "auto",
        "We are building a shopping list for Marmalade: sums over recipes are done in src/list.rs, aisles come next.",
        preserved=[question, answer],
    )
    t.user("Go on with the aisles.")
    t.call(edit(f"{MARMALADE}/src/list.rs", "total() {}", "total() { aisles() }", original="pub fn total() {}\n"))
    t.call(bash("cargo test", "test result: ok. 22 passed; 0 failed\n"))
    t.assistant("The list is grouped by aisle now, and 22 tests pass.")
    t.title("Shopping list across recipes", ai=True)
    t.last_prompt("Go on with the aisles.")


def _power_cut(home: HomeBuilder, start: datetime) -> TranscriptBuilder:
    """The damaged one: the machine went off while Claude Code was writing."""
    t = home.session(MARMALADE, version="2.1.325", start=start)
    t.user("Write the man page.")
    t.call(write(f"{MARMALADE}/man/marmalade.1", ".TH MARMALADE 1\n.SH NAME\nmarmalade - cook by the numbers\n"))
    t.assistant("The man page covers all five commands.")
    t.user("Add an example to each.")
    t.assistant("Each command has an example now; `marmalade list` shows two recipes at once.")
    lines = t.lines
    torn = lines[-1][: len(lines[-1]) // 2]
    home.damage(t, b"".join(line + b"\n" for line in lines[:-1]) + b"\0" * 256 + torn)
    home.paste(".SH EXAMPLES\nmarmalade list orange-marmalade lemon-curd\n")
    return t


# Demo project: a small web service for tide tables, with a worktree.

TIDEPOOL = "/home/ada/code/tidepool"
WORKTREE = f"{TIDEPOOL}/.claude/worktrees/harbour-map"

TABLE = """from datetime import datetime, timedelta


def days(first: datetime, count: int) -> list[datetime]:
    return [first + timedelta(hours=24 * n) for n in range(count)]
"""
TABLE_FIXED = TABLE.replace("hours=24 * n", "days=n")
CACHE = """TABLES: dict[str, list[float]] = {}


def table(harbour: str) -> list[float]:
    if harbour not in TABLES:
        TABLES[harbour] = compute(harbour)
    return TABLES[harbour]
"""


def tidepool_sessions(home: HomeBuilder, now: datetime) -> TranscriptBuilder:
    """All sessions of the project; returns the newest."""
    _missing_day(home, now - timedelta(days=28, hours=3))
    _tests_with_subagent(home, now - timedelta(days=26, hours=7))
    _parallel_refactoring(home, now - timedelta(days=12, hours=5))
    _harbour_map(home, now - timedelta(days=9, hours=2))
    _cache(home, now - timedelta(days=4, hours=6))
    return _slow_start(home, now - timedelta(hours=1))


def _missing_day(home: HomeBuilder, start: datetime) -> None:
    t = home.session(TIDEPOOL, version="1.0.128", start=start)
    prompt = "The table for October skips a day. Can you find out why?"
    home.history(prompt, TIDEPOOL, t.session_id, when=start)
    first = t.user(prompt)
    t.file_history_snapshot(first)
    t.call(grep("timedelta", [f"{TIDEPOOL}/tidepool/table.py"]), "I'll look for the date arithmetic first.")
    t.call(read(f"{TIDEPOOL}/tidepool/table.py", TABLE))
    t.assistant(
        "Found it: the days are counted in steps of 24 hours. On the last Sunday of October a local day has 25, so one "
        "date comes twice and the last one falls off. Shall I count in days instead?"
    )
    t.wait(40).user("Yes please, and add a test for that weekend.")
    home.backup(t.session_id, f"{TIDEPOOL}/tidepool/table.py", 1, TABLE)
    t.file_history_snapshot(first, {f"{TIDEPOOL}/tidepool/table.py": 1}, update=True)
    t.call(edit(f"{TIDEPOOL}/tidepool/table.py", "hours=24 * n", "days=n", original=TABLE))
    t.call(write(f"{TIDEPOOL}/tests/test_october.py", "def test_october_has_31_days():\n    ...\n"))
    t.call(bash("pytest -q", "14 passed in 0.41s\n"))
    t.assistant("Done: `days()` steps by calendar days, and `tests/test_october.py` covers the change of the clocks.")
    t.summary_title("Missing day in the October tide table")


def _tests_with_subagent(home: HomeBuilder, start: datetime) -> None:
    t = home.session(TIDEPOOL, version="2.0.26", start=start, git_branch="tests")
    t.user("Which functions have no test at all?")
    subagent = t.subagent(
        "List every public function in tidepool/ that no test calls.",
        description="Find untested functions",
        text="I'll have that collected.",
    )
    subagent.parallel(
        [grep("^def ", [f"{TIDEPOOL}/tidepool/table.py"]), grep("import", [f"{TIDEPOOL}/tests/test_october.py"])]
    )
    subagent.finish("`moon.phase` and `table.merge` are never called by a test.")
    todos = [todo("Test moon.phase", "in_progress", "Testing moon.phase"), todo("Test table.merge")]
    t.call(todo_write(todos))
    t.assistant("Two are bare: `moon.phase` and `table.merge`. I have put both on the list and begin with the moon.")
    home.todos(t.session_id, todos, subagent=t.session_id)
    home.debug_log(t.session_id, "[DEBUG] Watching for changes in settings\n", latest=False)


def _parallel_refactoring(home: HomeBuilder, start: datetime) -> None:
    t = home.session(TIDEPOOL, version="2.1.100", start=start)
    t.user("Move the station list out of the code into a file.")
    t.attachment("skill_listing", content="- tide-tables: How tide tables are laid out", skillCount=1, isInitial=True)
    t.parallel(
        [
            read(f"{TIDEPOOL}/tidepool/stations.py", "STATIONS = {'Cuxhaven': 53.87, 'Brest': 48.38}\n"),
            grep("STATIONS", [f"{TIDEPOOL}/tidepool/api.py", f"{TIDEPOOL}/tidepool/table.py"]),
            bash("git log --oneline -3 -- tidepool/stations.py", "9f31c02 Add Brest\n"),
        ],
        "Let me see the list and who uses it.",
        thinking="A plain JSON file is enough; two modules import the name.",
    )
    t.call(write(f"{TIDEPOOL}/data/stations.json", '{"Cuxhaven": 53.87, "Brest": 48.38}\n'))
    t.call(failed("Bash", {"command": "pytest -q"}, "Exit code 1\nFileNotFoundError: data/stations.json"))
    t.assistant(tools=[bash("pytest -q", "16 passed in 0.44s\n")], thinking="The path must be relative to the package.")
    t.results()
    t.assistant("The stations are in `data/stations.json` now; the loader finds it beside the package. All tests pass.")
    t.last_prompt("Move the station list out of the code into a file.")
    home.memory(TIDEPOOL, "- Station data lives in data/stations.json.\n- Dates are stepped by calendar days.\n")


def _harbour_map(home: HomeBuilder, start: datetime) -> None:
    t = home.session(WORKTREE, version="2.1.250", start=start, git_branch="worktree-harbour-map")
    state = {"originalCwd": TIDEPOOL, "worktreePath": WORKTREE, "worktreeName": "harbour-map"}
    t.state(
        "worktree-state", worktreeSession=state | {"worktreeBranch": "worktree-harbour-map", "originalBranch": "main"}
    )
    t.user("Draw the harbours on a map, as SVG, without a library.")
    subagent = t.subagent(
        "How do the three smallest map projections compare in code?", description="Compare projections"
    )
    subagent.call(grep("projection", []))
    subagent.assistant("Comparing by hand then.")
    nested = subagent.subagent("Work out the Mercator formula for 50 degrees north.", description="Check the formula")
    nested.finish("y = ln(tan(pi/4 + phi/2)); at 50 degrees that is 1.0107.")
    subagent.finish("Equirectangular is four lines and good enough for a coast of this size.")
    t.call(write(f"{WORKTREE}/tidepool/map.py", "def point(lat, lon):\n    return (lon * 0.64, -lat)\n"))
    t.assistant("`map.py` draws every station as a circle; Cuxhaven and Brest are where they should be.")
    t.title("Harbour map as SVG", ai=True)
    t.last_prompt("Draw the harbours on a map, as SVG, without a library.")


def _cache(home: HomeBuilder, start: datetime) -> None:
    t = home.session(TIDEPOOL, version="2.1.325", start=start, git_branch="cache")
    target = f"{TIDEPOOL}/tidepool/cache.py"
    first = t.user("Tables are computed on every request. Cache them.")
    t.file_history_snapshot(first)
    t.call(read(target, ""), thinking="How large can this grow? Forty harbours at most.")
    before = t.assistant("A dictionary in memory, or a file that survives a restart: which do you prefer?")
    t.wait(25).user("Put them into Redis.")
    t.call(bash("redis-cli ping", "", "Could not connect to Redis at 127.0.0.1:6379\n"))
    t.assistant("There is no Redis here; I would have to add a service for forty small tables.")
    t.rewind(before)
    again = t.wait(60).user("Keep it simple: a dictionary in memory.")
    t.call(task_create(1, "Write the cache"))
    t.file_history_delta(again, first, target, None)
    t.call(write(target, CACHE))
    home.backup(t.session_id, target, 2, CACHE)
    t.file_history_delta(again, first, target, 2)
    t.call(edit(target, "list[float]", "tuple[float, ...]", original=CACHE))
    t.call(bash("pytest -q tests/test_cache.py", "3 passed in 0.08s\n"))
    answer = t.assistant("The second request for a harbour takes 0.2 ms instead of 90. Nothing else changed.")
    t.turn_duration(71_000)
    t.title("Cache the tide tables")
    t.last_prompt("Keep it simple: a dictionary in memory.", leaf=answer)
    t.cost_state(total_cost=1.37, models={t.model: {"inputTokens": 310, "outputTokens": 4_800, "costUSD": 1.37}})
    home.task(t.session_id, 1, "Write the cache", "completed", activeForm="Writing the cache", blocks=["2"])
    home.task(t.session_id, 2, "Forget tables after a day", blockedBy=["1"])
    home.custom_title_file(TIDEPOOL, t.session_id, "Cache the tide tables")
    home.history("Tables are computed on every request. Cache them.", TIDEPOOL, t.session_id, when=start)
    home.history("/rename Cache the tide tables", TIDEPOOL, t.session_id, when=t.now)


def _slow_start(home: HomeBuilder, start: datetime) -> TranscriptBuilder:
    t = home.session(TIDEPOOL, version="2.1.325", start=start)
    t.user("The service takes four seconds to start. Where do they go?")
    t.call(bash("python -X importtime -m tidepool 2>&1 | tail -3", "3.1 s  tidepool.plots -> matplotlib\n"))
    t.assistant("Three of the four go to matplotlib, which only the monthly poster needs. I'd import it there.")
    t.user("Do that.")
    t.assistant(tools=[bash("pytest -q")], thinking="Move the import into the function.")
    return t


# A small, believable home to show the program with: three projects, a dozen sessions of several ages.

__all__ = ["DEMO_NOW", "build_demo_home"]

DEMO_NOW = "2026-03-30T17:00:00Z"
"""The moment that the demo's dates are counted back from unless another is given."""


def build_demo_home(root: str | Path, *, now: str | datetime = DEMO_NOW, running_pid: int | None = None) -> None:
    """Write the demo home under `root`. The oldest sessions are within a week of Claude Code's deletion at `now`.

    `running_pid` makes the newest session look like one that a Claude Code with that process id has open.
    """
    moment = parse_time(now)
    home = HomeBuilder(root, start=moment - timedelta(days=29))
    newest = tidepool_sessions(home, moment)
    last_recipe = marmalade_sessions(home, moment)
    last_page = garden_sessions(home, moment)
    projects = {
        TIDEPOOL: home.project_config(newest.session_id, cost=1.37, mcp_servers={"charts": {"command": "charts-mcp"}}),
        last_recipe.cwd: home.project_config(last_recipe.session_id, cost=0.58),
        last_page.cwd: home.project_config(last_page.session_id, cost=0.09),
    }
    home.global_config(projects, mcp_servers={"issues": {"type": "http", "url": "https://issues.example.invalid/mcp"}})
    home.settings({"cleanupPeriodDays": 30, "model": "opus", "permissions": {"allow": ["Bash(pytest:*)"]}})
    home.settings({"permissions": {"allow": ["Bash(git status)"]}}, local=True)
    home.credentials()
    home.config_backup()
    home.claude_md()
    home.command("release", "Write the changelog, tag the version, and push.\n")
    home.subagent_definition("reviewer", "Reads a diff with a fresh eye", "You review code.", ["Read", "Grep"])
    home.skill("tide-tables", "How tide tables are laid out", "A table has one row for each high and low water.")
    home.plugin("changelog")
    home.statsig({"demo_picker": True, "demo_old_theme": False}, {"demo_limits": {"subagents": 4}})
    home.stats_cache({(moment - timedelta(days=back)).strftime("%Y-%m-%d"): 6 + back % 5 for back in (9, 6, 4, 2, 1)})
    home.file(".last-cleanup", (moment - timedelta(days=1)).isoformat())
    if running_pid is not None:
        home.running(running_pid, newest.session_id, newest.cwd, name="Cache the tide tables", status="busy")
        home.session_key(running_pid)
    home.write()
