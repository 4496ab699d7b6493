"""Demo project: a command line tool for recipes."""

from __future__ import annotations

from datetime import datetime, timedelta

from recollect.testing.home import HomeBuilder
from recollect.testing.toolcalls import ToolCall, bash, edit, grep, read, write
from recollect.testing.transcript import TranscriptBuilder

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
    """The damaged one: the machine went off while the client was writing."""
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
