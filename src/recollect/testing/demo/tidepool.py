"""Demo project: a small web service for tide tables, with a worktree."""

from __future__ import annotations

from datetime import datetime, timedelta

from recollect.testing.home import HomeBuilder
from recollect.testing.toolcalls import bash, edit, failed, grep, read, task_create, todo, todo_write, write
from recollect.testing.transcript import TranscriptBuilder

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
