"""Break the rules that matter, one at a time, and see whether their tests notice: `make mutants`.

A mutant is the package with one comparison, `and`, `or`, `not`, constant or sign changed inside a function of TARGETS. It is
written into a copy of the package, and the tests of the function run against that copy. A mutant that no test notices is named,
and the exit code is 1, unless SAME says why it changes nothing that anybody could see.

    python -m tests.house.mutants                   a few of each function
    python -m tests.house.mutants --all leaf        all of the functions whose place has `leaf` in it
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[2]
EACH: Final = 4
"""So many mutants of a function are tried, spread evenly over it."""
SECONDS: Final = 300


@dataclass(frozen=True)
class Target:
    """Functions of a file, and the tests that hold them."""

    file: str
    functions: tuple[str, ...]
    tests: tuple[str, ...]


TARGETS: Final = (
    Target("graph/leaf.py", ("choose_leaf", "_candidates", "_one_of_several", "continues"), ("tests/graph",)),
    Target("graph/thread.py", ("walk_up", "after_last_boundary", "_add_trailing"), ("tests/graph",)),
    Target("graph/client_state.py", ("_note_row", "_note_checkpoint"), ("tests/graph",)),
    Target("analysis/usage.py", ("in_order",), ("tests/analysis/test_groupings.py",)),
    Target(
        "index/api_calls/store.py", ("decide", "_without_copies_in_families"),
        ("tests/analysis/test_counting.py", "tests/analysis/test_copies_in_families.py", "tests/index/test_call_sharing.py"),
    ),
    Target("index/search/search.py", ("_bonus",), ("tests/index/test_search.py",)),
    Target(
        "journal/journal.py", ("is_ours", "_interrupted", "_later", "_check_undo"),
        ("tests/journal/test_undo_order.py", "tests/journal/test_undo_places.py", "tests/journal/test_roll_back_damaged.py"),
    ),
)  # fmt: skip
#: Mutants that change nothing that anybody could see: what `Mutant.name` says, and why.
SAME: Final[dict[str, str]] = {}

_COMPARED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of a function, as the whole text of its file."""

    target: Target
    function: str
    change: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.target.file} {self.function}: {self.change}"


def mutants_of(target: Target, source: str) -> Iterator[Mutant]:
    """Make every mutant of a target's functions. Raises LookupError where a function is not there any more."""
    tree = ast.parse(source)
    for function in target.functions:
        found = next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == function), None)
        if found is None:
            raise LookupError(f"{target.file} has no function {function}")
        for node in list(ast.walk(found)):
            fields = {name: list(value) if isinstance(value, list) else value for name, value in vars(node).items()}
            before = ast.unparse(node) if isinstance(node, ast.expr) else ""
            if _change(node):
                change = f"line {getattr(node, 'lineno', 0)}: {before} -> {ast.unparse(node)}"
                yield Mutant(target, function, change, ast.unparse(tree))
                vars(node).update(fields)


def _change(node: ast.AST) -> bool:
    """Break a node in place; False where there is nothing to break."""
    if isinstance(node, ast.Compare):
        node.ops[0] = _COMPARED[type(node.ops[0])]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        node.op = ast.UAdd() if isinstance(node.op, ast.USub) else node.op
        node.operand = node.operand if isinstance(node.op, ast.UAdd) else ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
    else:
        return False
    return True


def some(mutants: list[Mutant], each: int) -> list[Mutant]:
    """Choose at most `each` of every function, spread evenly."""
    chosen = []
    for function in dict.fromkeys(item.function for item in mutants):
        here = [item for item in mutants if item.function == function]
        step = max(len(here) / each, 1)
        chosen += [here[int(at * step)] for at in range(min(each, len(here)))]
    return chosen


def survives(mutant: Mutant, package: Path) -> bool:
    """Run the tests against a copy of the package that has this mutant in it; True where all of them pass."""
    file = package / "recollect" / mutant.target.file
    whole = file.read_text("utf-8")
    file.write_text(mutant.text, "utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not corpus", *mutant.target.tests]
        place = os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
        ran = subprocess.run(
            command, cwd=REPOSITORY, env=os.environ | {"PYTHONPATH": place}, capture_output=True, timeout=SECONDS
        )
        return ran.returncode == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        file.write_text(whole, "utf-8")


def main(arguments: list[str]) -> int:
    """Try the mutants of the places that are named, or of all of them."""
    each = 1_000 if "--all" in arguments else EACH
    places = [word for word in arguments if word != "--all"]
    survivors = tried = 0
    with tempfile.TemporaryDirectory(prefix="recollect-mutants-") as folder:
        package = Path(folder)
        shutil.copytree(REPOSITORY / "src" / "recollect", package / "recollect")
        for target in TARGETS:
            if places and not any(word in target.file for word in places):
                continue
            source = (package / "recollect" / target.file).read_text("utf-8")
            for mutant in some(list(mutants_of(target, source)), each):
                tried += 1
                if mutant.name not in SAME and survives(mutant, package):
                    survivors += 1
                    print(f"nobody noticed: {mutant.name}", flush=True)
    print(f"{tried} mutants, {survivors} that no test noticed")
    return min(survivors, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
