"""The house rules: who may import whom, who reads the environment, who writes, how long a file may be."""

from __future__ import annotations

import ast
import inspect
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.house import quick
from tools.reference import stale

from recollect import errors
from recollect.cli.main import COMMANDS

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "src" / "recollect"
SOURCES = sorted(PACKAGE.rglob("*.py"))
ALL_CODE = sorted(path for room in ("src", "tests", "bench", "tools") for path in (REPOSITORY / room).rglob("*.py"))
MAX_LINES = 700

#: Each room may import those before it. The faces come last and do not know one another.
ROOMS = (
    "errors", "own_program", "format", "graph", "store", "journal", "check", "watch", "stores", "edit", "vault", "index",
    "analysis", "secrets", "export", "library",
)  # fmt: skip
FACES = ("cli", "web", "mcp")
#: Reads the environment for those who open a library; whoever is below must be told.
ENVIRONMENT = "environment"
TESTING = "testing"
#: Modules of the package itself: the public names, and `python -m recollect`.
FRONT_DOORS = {"__init__": "library", "__main__": "cli"}


#: Faces do not know one another, but a command may be what starts one.
STARTS_ANOTHER_FACE = {(PACKAGE / "cli" / "commands" / "serve.py", "web")}


def module_of(path: Path) -> tuple[str, ...]:
    """`("recollect", "store", "paths")`; a package is known by its folder."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def room_of(path: Path) -> str:
    place = path.relative_to(PACKAGE).parts
    name = place[0].removesuffix(".py")
    return FRONT_DOORS.get(name, name) if len(place) == 1 else name


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of everything of our own that a module imports, also inside functions and for types alone."""
    module = module_of(path)
    package = module if path.name == "__init__.py" else module[:-1]
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            source = ".".join(part for part in (start, node.module) if part)
            for alias in node.names:
                yield node.lineno, f"{source}.{alias.name}"


def rooms_imported(path: Path) -> Iterator[tuple[int, str]]:
    known = {*ROOMS, *FACES, ENVIRONMENT, TESTING}
    for line, name in imports_of(path):
        parts = name.split(".")
        if parts[0] != "recollect":
            continue
        room = parts[1] if len(parts) > 1 and parts[1] in known else "library"  # the package's own names
        yield line, room


def allowed(room: str) -> set[str]:
    if room in ROOMS:
        before = set(ROOMS[: ROOMS.index(room) + 1])
        return before | {ENVIRONMENT} if room == "library" else before
    if room == TESTING:
        return {*ROOMS, TESTING}
    if room == ENVIRONMENT:
        return {"errors", "own_program", ENVIRONMENT}
    return {*ROOMS, ENVIRONMENT, TESTING, room}


def test_every_module_is_in_a_room_that_has_rules() -> None:
    assert {room_of(path) for path in SOURCES} <= {*ROOMS, *FACES, ENVIRONMENT, TESTING}


def test_imports_go_one_way() -> None:
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line}: {room_of(path)} imports {room}"
        for path in SOURCES
        for line, room in rooms_imported(path)
        if room not in allowed(room_of(path)) and (path, room) not in STARTS_ANOTHER_FACE
    ]
    assert wrong == []


def test_the_check_of_imports_sees_something() -> None:
    seen = {(room_of(path), room) for path in SOURCES for _, room in rooms_imported(path)}
    assert {("graph", "format"), ("store", "graph"), ("library", "store"), ("cli", "library")} <= seen
    assert "cli" not in allowed("library")
    assert "store" not in allowed("graph")
    assert "cli" not in allowed("testing")
    assert "testing" not in allowed("library")


#: What a face may import of ours, besides its own modules.
FOR_FACES = {"library", "export", "errors", ENVIRONMENT}
#: `serve` starts the pages, and `demo` makes the home that people try Recollect on.
FACE_EXCEPTIONS = STARTS_ANOTHER_FACE | {(PACKAGE / "cli" / "commands" / "demo.py", TESTING)}
#: Modules of the faces that still reach past the library. The list must be exact, so that it can only shrink.
REACHES_PAST_LIBRARY: tuple[str, ...] = ()


def reached_past_library(path: Path) -> list[str]:
    """Name what a module of a face imports that only the library may import for it."""
    may = {*FOR_FACES, room_of(path)}
    return [
        f"{path.relative_to(PACKAGE)}:{line}: {room}"
        for line, room in rooms_imported(path)
        if room not in may and (path, room) not in FACE_EXCEPTIONS
    ]


def test_faces_ask_the_library_for_everything() -> None:
    reaching = {
        path.relative_to(PACKAGE).as_posix(): found
        for path in SOURCES
        if room_of(path) in FACES and (found := reached_past_library(path))
    }
    assert [line for name, lines in reaching.items() if name not in REACHES_PAST_LIBRARY for line in lines] == []
    assert [name for name in REACHES_PAST_LIBRARY if name not in reaching] == []  # converted: take it off the list


def test_the_check_of_faces_sees_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path / "recollect")
    for code, is_wrong in (
        ("from ..library.library import Library", False),
        ("from ..export.formatting import size", False),
        ("from ..errors import NotFound", False),
        ("from .. import __version__", False),
        ("from .pages import page", False),
        ("from ..store.home import Home", True),
        ("def late():\n    from recollect.journal import disk", True),
        ("from ..testing import HomeBuilder", True),
        ("from ..cli import main", True),
    ):
        path = tmp_path / "recollect" / "web" / f"module{abs(hash(code))}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, "utf-8")
        assert bool(reached_past_library(path)) is is_wrong, code
        tree_of.cache_clear()


def modules_imported(path: Path) -> set[Path]:
    """The files of the package that a module imports, also those that it names in a text for `import_module`."""
    names = [name for _, name in imports_of(path)]
    for node in ast.walk(tree_of(path)):
        called = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and called in ("import_module", "__import__"):
            names += [
                arg.value for arg in node.args[:1] if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
            ]
    return {found for name in names if (found := _file_of(name)) is not None}


def _file_of(name: str) -> Path | None:
    """The file that a dotted name leads to: a module, a package, or the module that holds the name."""
    parts = name.split(".")
    for end in (len(parts), len(parts) - 1):
        place = PACKAGE.parent.joinpath(*parts[:end])
        for path in (place.with_suffix(".py"), place / "__init__.py"):
            if parts[0] == "recollect" and end > 1 and path.is_file():
                return path
    return None


def reached_from(start: Path, known: dict[Path, set[Path]]) -> Iterator[list[Path]]:
    """Every module that a module leads to, with the way there."""
    ways = {start: [start]}
    waiting = [start]
    while waiting:
        here = waiting.pop(0)
        for there in known.get(here, set()):
            if there not in ways:
                ways[there] = [*ways[here], there]
                waiting.append(there)
                yield ways[there]


def wrong_ways(known: dict[Path, set[Path]]) -> list[str]:
    found = []
    known = {
        path: {there for there in targets if (path, room_of(there)) not in STARTS_ANOTHER_FACE}
        for path, targets in known.items()
    }
    for start in known:
        may = allowed(room_of(start))
        for way in reached_from(start, known):
            if room_of(way[-1]) not in may:
                found.append(" -> ".join(".".join(module_of(path)) for path in way))
    return found


def test_no_way_leads_up_through_a_third_room() -> None:
    assert wrong_ways({path: modules_imported(path) for path in SOURCES}) == []


def test_a_way_through_a_third_room_would_be_noticed() -> None:
    known = {path: modules_imported(path) for path in SOURCES}
    line, main = PACKAGE / "format" / "line.py", PACKAGE / "cli" / "main.py"
    known[line] = {*known[line], PACKAGE / "errors.py"}
    known[PACKAGE / "errors.py"] = {main}
    assert any(
        way.startswith("recollect.format.line -> recollect.errors -> recollect.cli.main") for way in wrong_ways(known)
    )
    assert PACKAGE / "store" / "home.py" in {way[-1] for way in reached_from(main, known)}


@pytest.mark.parametrize("room", [*ROOMS, TESTING])
def test_importing_a_room_brings_no_room_above_it(room: str) -> None:
    """What Python itself says, whatever way an import takes."""
    modules = [".".join(module_of(path)) for path in SOURCES if room_of(path) == room and path.parent != PACKAGE]
    modules = modules or [f"recollect.{room}"]
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n    importlib.import_module(name)\n"
        "print(*{name.split('.')[1] for name in sys.modules if name.startswith('recollect.')})"
    )
    ran = subprocess.run([sys.executable, "-c", code, *modules], capture_output=True, text=True, check=True)
    assert room in ran.stdout.split()
    assert set(ran.stdout.split()) <= allowed(room)


ENVIRONMENT_NAMES = {"environ", "environb", "getenv", "getenvb", "putenv", "expandvars"}


def reads_environment(path: Path) -> list[int]:
    found = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute):
            is_home = node.attr == "home" and getattr(node.value, "id", "") == "Path"
            if is_home or node.attr in ENVIRONMENT_NAMES:
                found.append(node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.module == "os":
            found += [node.lineno for alias in node.names if alias.name in ENVIRONMENT_NAMES]
    return found


def test_only_the_faces_read_the_environment() -> None:
    readers = {path for path in SOURCES if reads_environment(path)}
    assert PACKAGE / "environment.py" in readers
    assert [path for path in readers if room_of(path) not in (*FACES, ENVIRONMENT)] == []


#: What changes files, by the name of the method or of the function of `os` or `shutil`.
CHANGING_METHODS = {
    "write_text", "write_bytes", "unlink", "rename", "mkdir", "rmdir", "touch", "symlink_to", "hardlink_to", "chmod",
    "lchmod", "makedirs", "removedirs", "rmtree", "copyfile", "copytree", "copy2", "copymode", "copystat", "mkfifo",
    "symlink", "truncate", "ftruncate", "utime", "chown", "fchmod", "fsync", "mkstemp",
}  # fmt: skip
CHANGING_FUNCTIONS = {
    *(("os", name) for name in ("remove", "replace", "link", "write")),
    *(("shutil", name) for name in ("move", "copy")),
}
WRITING_MODE = re.compile(r"[wax+]")


def changes_files(path: Path) -> list[str]:
    calls = [node for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    return [
        f"{path.relative_to(REPOSITORY)}:{node.lineno}: {ast.unparse(node.func)}" for node in calls if is_change(node)
    ]


def is_change(call: ast.Call) -> bool:
    function = call.func
    is_method = isinstance(function, ast.Attribute)
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    holder = getattr(function.value, "id", "") if isinstance(function, ast.Attribute) else ""
    if holder == "disk":  # the journal's own calls, with which others write Recollect's own files
        return False
    owner = function.value if isinstance(function, ast.Attribute) else None
    if (getattr(owner, "attr", "") or holder) in ("changes", "_changes"):  # verbs that plan a change
        return False
    if is_method and (name in CHANGING_METHODS or (holder, name) in CHANGING_FUNCTIONS):
        return True
    if (holder, name) == ("os", "open"):
        words = ast.unparse(call)
        return "devnull" not in words and re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC)", words) is not None
    if name not in ("open", "fdopen"):
        return False
    first = (
        0 if is_method and holder not in ("os", "io", "codecs") else 1
    )  # of a path's own `open` the mode comes first
    modes = [*call.args[first : first + 1], *(word.value for word in call.keywords if word.arg == "mode")]
    texts = [mode.value for mode in modes if isinstance(mode, ast.Constant) and isinstance(mode.value, str)]
    return any(len(text) <= 3 and WRITING_MODE.search(text) for text in texts)


#: Rooms that change files by themselves: the journal (a home, and Recollect's own files), the stores of the official SDK.
WRITING_ROOMS = ("journal", "stores", TESTING)


def test_only_the_journal_the_stores_and_the_builders_change_files() -> None:
    wrong = [place for path in SOURCES if room_of(path) not in WRITING_ROOMS for place in changes_files(path)]
    assert wrong == []


def test_the_check_of_changes_sees_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(changes_files(path) for path in SOURCES if room_of(path) == TESTING)
    assert any(changes_files(path) for path in SOURCES if room_of(path) == "journal")
    monkeypatch.setattr(f"{__name__}.REPOSITORY", tmp_path)
    for number, (code, changes) in enumerate(
        [
            ('open("x")', False),
            ('open("x", "rb")', False),
            ('open("x", "wb")', True),
            ('open("x", mode="a")', True),
            ('path.open("x")', True),
            ('path.open("rb")', False),
            ("os.open(p, os.O_RDONLY)", False),
            ("os.open(p, os.O_WRONLY | os.O_CREAT)", True),
            ('text.replace("a", "b")', False),
            ("os.replace(a, b)", True),
            ("items.remove(a)", False),
            ('path.write_text("x")', True),
        ]
    ):
        module = tmp_path / f"module{number}.py"
        module.write_text(code, "utf-8")
        assert bool(changes_files(module)) is changes, code


def test_no_file_is_too_long() -> None:
    lengths = {path.relative_to(REPOSITORY): len(path.read_text("utf-8").splitlines()) for path in ALL_CODE}
    assert {str(path): length for path, length in lengths.items() if length > MAX_LINES} == {}


SAYS_NOTHING = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "base", "misc", "core", "shared"}


def test_no_module_has_a_name_that_says_nothing() -> None:
    names = {path: {part for name in module_of(path)[1:] for part in name.split("_")} for path in SOURCES}
    wrong = [str(path.relative_to(REPOSITORY)) for path, parts in names.items() if parts & SAYS_NOTHING]
    assert wrong == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [path for path in SOURCES if path.stat().st_size and not ast.get_docstring(tree_of(path))]
    assert [str(path.relative_to(REPOSITORY)) for path in silent] == []


DOCS = REPOSITORY / "docs"


def test_generated_pages_are_what_the_code_says() -> None:
    assert stale(DOCS) == []


def test_every_command_is_documented() -> None:
    page = (DOCS / "reference" / "cli.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"## {name}\n" not in page] == []


def test_every_error_is_documented() -> None:
    page = (DOCS / "messages.md").read_text("utf-8")
    classes = [
        item for _, item in inspect.getmembers(errors, inspect.isclass) if issubclass(item, errors.RecollectError)
    ]
    assert len(classes) >= 7
    assert [item.__name__ for item in classes if f"| `{item.__name__}` | {item.exit_code} |" not in page] == []
    assert len({item.exit_code for item in classes}) == len(classes)
    assert len({item.default_slug for item in classes}) == len(classes)


CACHES = {".cache", ".hypothesis", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".import_linter_cache", "__pycache__"}
SKIPPED = {".git", ".venv", "build", "dist", *CACHES}
#: Put together here, or this file would be the first to break the rule.
PRIVATE_PATHS = re.compile(
    "|".join(
        (
            "/" + "work/(?:main|shared)",
            "/" + "root/",
            "/" + "tmp/plan",
            r"\.pyenv" + "/versions",
            r"/tmp/" + "bash_jobs",
        )
    )
)


def texts() -> Iterator[tuple[Path, str]]:
    for folder, below, names in os.walk(REPOSITORY):
        below[:] = [name for name in below if name not in SKIPPED]
        for name in names:
            try:
                yield Path(folder, name), Path(folder, name).read_text("utf-8")
            except (UnicodeDecodeError, FileNotFoundError):
                continue


def test_the_tree_tells_nothing_of_the_machine_it_was_made_on() -> None:
    found = {
        str(path.relative_to(REPOSITORY)): match.group()
        for path, text in texts()
        if (match := PRIVATE_PATHS.search(text))
    }
    assert found == {}


def test_the_quick_tests_cover_every_room() -> None:
    rooms = {room for room in ROOMS if (REPOSITORY / "tests" / room).is_dir()}
    assert {f"tests/{room}" for room in rooms} <= set(quick.ROOMS)
    assert [path for path in (*quick.ROOMS, *quick.SLOW) if not (REPOSITORY / path).exists()] == []


def test_no_two_files_of_tests_have_one_name() -> None:
    """Python would import one of them for both, and pytest would not start."""
    names = Counter(path.name for path in (REPOSITORY / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
