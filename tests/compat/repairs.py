"""Damaged sessions before and after `recollect repair`, and what the real client resumes with each time.

    python -m tests.compat.repairs [--seeds 0:3] [--json FILE] [--write]

asks clients 2.1.326 and 2.0.77 about every kind of damage of `recollect.testing` and prints a table; ``--write`` puts it into
docs/compatibility.md.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.compat import clients
from tests.compat.ask import Answer, Question, ask_many
from tests.compat.wire import Block, is_added_by_client

from recollect.check.rules import RULES
from recollect.edit.repair.plan import plan_repair
from recollect.format.path_text import project_key
from recollect.journal.changes import Journal
from recollect.store.home import Home
from recollect.store.scan import scan_home
from recollect.testing import DAMAGES, sample_session
from recollect.testing.damage.recipe import SAMPLE_ROWS, find_target, parse, split_lines

VERSIONS = (clients.NEWEST, "2.0.77")
LONG_AGO = 1_750_000_000

#: Kinds that change what the row says: its old words are in no file any more.
_RETOLD = frozenset(
    {
        "duplicate-uuid-other", "message-string", "message-null", "message-missing", "content-null", "content-number",
        "content-of-nulls", "text-object", "block-without-type", "unknown-block", "unknown-type-in-chain",
    }
)  # fmt: skip
#: Kinds that leave nothing to resume with.
NOTHING_LEFT = frozenset({"nul-file", "empty-file", "only-newlines", "only-state-lines", "only-sidechain"})
#: Not damage: somebody set the end of the conversation on purpose.
MEANT = frozenset({"checkpoint-nothing", "checkpoint-inner"})
KINDS = tuple(name for name in DAMAGES if name not in MEANT)


@dataclass
class Trial:
    """One damaged session, and what became of it."""

    kind: str
    seed: int
    before: Question
    after: Question
    expected: list[str]
    """What a resume must say after the repair, in order."""
    fixes: list[str] = field(default_factory=list)


def marks() -> list[tuple[str, str]]:
    """(uuid, mark): by its mark a row of the sample is known in a request, whatever else was done to its text."""
    found = []
    for line in split_lines(sample_session().to_bytes()):
        entry = parse(line) or {}
        message = entry.get("message")
        if not isinstance(message, dict):
            continue
        content = message["content"]
        if isinstance(content, str):
            found.append((entry["uuid"], _mark(content)))
            continue
        for block in content:
            if block["type"] == "text":
                found.append((entry["uuid"], _mark(block["text"])))
            elif block["type"] == "tool_use":
                found.append((entry["uuid"], f"call {block['id']}"))
            elif block["type"] == "tool_result":
                found.append((entry["uuid"], f"result {block['tool_use_id']}"))
    return found


_NUMBERED = re.compile(r"(?:Question|Answer) \d+")


def _mark(text: str) -> str:
    match = _NUMBERED.search(text)
    return match.group() if match else text


def said(blocks: Iterable[Block], known: Sequence[str]) -> list[str]:
    """The marks that stand in a request, in order."""
    found = []
    for block in blocks:
        if block.kind == "tool_use":
            mark = f"call {block.ident}"
        elif block.kind == "tool_result":
            mark = f"result {block.ident}"
        elif block.kind == "text" and not is_added_by_client(block):
            mark = next((item for item in known if item in block.text and item == _mark(item)), "")
            mark = _mark(block.text) if _NUMBERED.search(block.text) else mark
        else:
            continue
        if mark in known:
            found.append(mark)
    return found


def expected(kind: str, seed: int, data: bytes) -> list[str]:
    """What must be said again: every row of the sample of which the damage left something."""
    if kind in NOTHING_LEFT:
        return []
    recipe = DAMAGES[kind]
    lines = split_lines(data)
    target = (parse(lines[find_target(lines, seed, recipe.target)]) or {}).get("uuid")
    rows = marks()
    lost: set[str | None] = set()
    if kind.startswith("torn-tail"):
        lost = {rows[-1][0]}
    elif kind == "torn-and-glued":
        lost = {(parse(lines[find_target(lines, seed) - 1]) or {}).get("uuid")}
    elif kind == "unanswered-call":
        lost = set()  # the call gets a result that says that there is none
    elif (recipe.lost and recipe.lost < SAMPLE_ROWS) or kind in _RETOLD:
        lost = {target}
    if kind == "orphan-result":
        lost |= {uuid for uuid, mark in rows if mark.startswith("result ")}  # its words are said, not the result
    return [mark for uuid, mark in rows if uuid not in lost]


def build(folder: Path, seeds: Iterable[int], kinds: Iterable[str] = KINDS) -> list[Trial]:
    """Homes with damaged sessions, and copies of them that were repaired."""
    cwd = folder / "orchard"
    cwd.mkdir(parents=True)
    sample = sample_session()
    data = sample.to_bytes().replace(b"/home/dev/orchard", str(cwd).encode())
    trials = []
    for seed in seeds:
        for kind in kinds:
            recipe = DAMAGES[kind]
            name = recipe.rename(sample.session_id) if recipe.rename else sample.session_id
            questions, fixes = [], []
            for state in ("before", "after"):
                home = Home(folder / f"{kind}-{seed}-{state}")
                path = home.projects / project_key(str(cwd)) / f"{name}.jsonl"
                path.parent.mkdir(parents=True)
                path.write_bytes(recipe.apply(data, seed))
                os.utime(path, (LONG_AGO, LONG_AGO))
                if state == "after":
                    fixes = repair(home, Journal(folder / f"{kind}-{seed}-data"))
                questions.append(Question(home.root, sample.session_id, cwd))
            trials.append(Trial(kind, seed, questions[0], questions[1], expected(kind, seed, data), fixes))
    return trials


def repair(home: Home, journal: Journal) -> list[str]:
    """Repair the only session of a home; the fixes that were made. What only older versions need is asked for by its rules."""
    file = scan_home(home).sessions[0]
    rules: list[str] = []
    while True:
        change, result = plan_repair(journal, file, rules=rules)
        with change:
            if result.changes_something:
                change.commit()
        if not result.for_older:
            return [f"{item.fix} (--rule)" if rules else item.fix for item in result.fixes]
        rules = [code for code, rule in RULES.items() if rule.fix in result.for_older]


@dataclass
class Verdict:
    kind: str
    seed: int
    version: str
    fixes: list[str]
    expected: int
    before: int | None
    """How many of the expected marks were sent; None where nothing was, or the client hung."""
    after: int | None
    hung_before: bool
    hung_after: bool
    right: bool
    error: str = ""


def judge(trials: Sequence[Trial], version: str, *, with_before: bool = True) -> list[Verdict]:
    """Ask the client about all of them. What was not changed by the repair is asked about once."""
    before: dict[int, Answer] = {}
    asked = [number for number, trial in enumerate(trials) if with_before or not trial.fixes]
    for number, answer in zip(asked, ask_many([trials[number].before for number in asked], version), strict=True):
        before[number] = answer
    changed = [number for number, trial in enumerate(trials) if trial.fixes]
    after = dict(zip(changed, ask_many([trials[number].after for number in changed], version), strict=True))
    found = [_verdict(trial, version, before.get(at), after.get(at) or before[at]) for at, trial in enumerate(trials)]
    doubtful = [at for at, item in enumerate(found) if not item.right and not item.hung_after]
    # A busy machine makes a client miss its own deadlines: whoever failed is asked again.
    for at, answer in zip(doubtful, ask_many([trials[at].after for at in doubtful], version), strict=True):
        found[at] = _verdict(trials[at], version, before.get(at) if trials[at].fixes else answer, answer)
    return found


def _verdict(trial: Trial, version: str, first: Answer | None, then: Answer) -> Verdict:
    known = [mark for _, mark in marks()]
    heard = said(then.blocks(), known) if then.messages is not None else None
    return Verdict(
        trial.kind, trial.seed, version, trial.fixes, len(trial.expected), _count(first, trial, known),
        _count(then, trial, known), first is not None and first.code == -1, then.code == -1,
        (heard or []) == trial.expected, then.error[:200] if heard is None else "",
    )  # fmt: skip


def _count(answer: Answer | None, trial: Trial, known: Sequence[str]) -> int | None:
    if answer is None or answer.messages is None:
        return None
    return sum(mark in trial.expected for mark in said(answer.blocks(), known))


def table(verdicts: Sequence[Verdict]) -> str:
    """One line a kind: what a resume says before and after, over all seeds, for each version."""
    kinds = list(dict.fromkeys(item.kind for item in verdicts))
    repaired = [kind for kind in kinds if any(item.fixes for item in verdicts if item.kind == kind)]
    right = sum(item.right for item in verdicts)
    lines = [
        f"{right} of {len(verdicts)} resumes were right after the repair, {len(repaired)} kinds of damage were repaired:",
        "",
        f"| damage | repaired by | {VERSIONS[0]} before | after | {VERSIONS[1]} before | after |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for kind in repaired:
        fixes = sorted({fix for item in verdicts if item.kind == kind for fix in item.fixes})
        cells = [f"`{kind}`", ", ".join(fixes)]
        for version in VERSIONS:
            of = [item for item in verdicts if item.kind == kind and item.version == version]
            cells += [_cell(of, "before"), _cell(of, "after")]
        lines.append("| " + " | ".join(cells) + " |")
    empty = [kind for kind in kinds if kind in NOTHING_LEFT]
    whole = [kind for kind in kinds if kind not in repaired and kind not in NOTHING_LEFT]
    lines += ["", "Left as they are, and resumed whole by both: " + ", ".join(f"`{kind}`" for kind in whole) + "."]
    lines += ["", "Nothing is left to resume with: " + ", ".join(f"`{kind}`" for kind in empty) + "."]
    return "\n".join(lines)


def _cell(verdicts: Sequence[Verdict], state: str) -> str:
    if all(item.expected == 0 for item in verdicts):
        return "nothing left"
    if any(getattr(item, f"hung_{state}") for item in verdicts):
        return "hangs"
    asked = [item for item in verdicts if state == "after" or item.before is not None] or verdicts
    counts = sorted({getattr(item, state) for item in asked} - {None})
    wanted = max(item.expected for item in verdicts)
    if not counts:
        return "none"
    if all(getattr(item, state) == item.expected for item in asked):
        return "all"
    return f"{counts[0]}–{counts[-1]} of {wanted}" if len(counts) > 1 else f"{counts[0]} of {wanted}"


MARKERS = ("<!-- repairs -->", "<!-- end of repairs -->")


def write(page: Path, text: str) -> None:
    old = page.read_text("utf-8")
    head, _, rest = old.partition(MARKERS[0])
    _, _, tail = rest.partition(MARKERS[1])
    page.write_text(f"{head}{MARKERS[0]}\n{text}\n{MARKERS[1]}{tail}", "utf-8", newline="\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0:3", help="FIRST:COUNT")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    start, _, count = given.seeds.partition(":")
    seeds = range(int(start), int(start) + int(count or 1))
    with tempfile.TemporaryDirectory(prefix="recollect-repairs-") as folder:
        trials = build(Path(folder).resolve(), seeds, given.kinds.split(","))
        # What needs no repair is the same for every seed.
        trials = [trial for trial in trials if trial.fixes or trial.seed == seeds[0]]
        verdicts = judge(trials, VERSIONS[0])
        first = [trial for trial in trials if trial.seed == seeds[0]]
        verdicts += judge(first, VERSIONS[1])
        verdicts += judge([trial for trial in trials if trial.seed != seeds[0]], VERSIONS[1], with_before=False)
    for item in verdicts:
        if not item.right:
            print(item, file=sys.stderr)
    if given.json:
        given.json.write_text(json.dumps([asdict(item) for item in verdicts]))
    text = table(verdicts)
    print(text)
    if given.write:
        write(clients.REPOSITORY / "docs" / "compatibility.md", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
