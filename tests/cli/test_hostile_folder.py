"""Commands run in a folder full of modules and programs that must not run: a cloned repository may hold any of them."""

from __future__ import annotations

import json
import os
import plistlib
import shlex
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.every_command import ENDLESS, SESSION, Everything
from tests.running import run

import recollect
from recollect.cli.main import COMMANDS
from recollect.own_program import child_command, code_folders, own_command

PACKAGE = Path(recollect.__file__).parent
MODULES = (
    "re", "json", "types", "typing", "enum", "ast", "abc", "os", "site", "sitecustomize", "usercustomize", "click",
    "rich", "apsw", "duckdb", "msgspec", "tantivy", "pathlib", "subprocess", "threading", "queue", "time",
    "datetime", "dataclasses", "collections", "functools", "contextlib", "string", "random", "socket", "ssl",
    "signal", "select", "logging", "platform", "sysconfig", "uvicorn", "starlette", "jinja2", "pytz", "xxhash",
    "watchfiles", "readline", "webbrowser", "tempfile", "shutil", "hashlib", "zoneinfo", "encodings", "codecs",
    "decimal", "inspect", "warnings", "traceback", "linecache", "tokenize", "locale", "gettext", "secrets",
)  # fmt: skip
PROGRAMS = ("python", "python3", "less", "more", "git", "crontab", "systemctl", "launchctl", "xdg-open", "sh", "vi")


class Clone:
    """A current folder in which whatever is run leaves a mark."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = folder.parent / "ran"
        folder.mkdir()
        for name in MODULES:
            self.trap(name)
        for name in PROGRAMS:
            (folder / name).write_text(f"#!/bin/sh\necho {name} >> {shlex.quote(str(self.mark))}\n")
            (folder / name).chmod(0o755)

    def trap(self, name: str) -> None:
        code = f"open({str(self.mark)!r}, 'a').write(__name__ + chr(10))\nraise SystemExit(99)\n"
        (self.folder / f"{name}.py").write_text(code)

    def trap_recollect(self) -> None:
        self.trap("recollect")
        (self.folder / "recollect").mkdir()
        for name in ("__init__", "__main__"):
            self.trap(f"recollect/{name}")

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run with the current folder also on PATH, as careless people have it. Nothing of the folder may have run."""
        path = os.pathsep.join((".", "", str(os.environ["PATH"])))
        env = {"PATH": path, **environment}
        ran = subprocess.run(
            command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=env
        )
        assert not self.mark.exists(), f"ran: {self.mark.read_text()}"
        return ran


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    made = Clone(tmp_path / "clone")
    made.trap_recollect()
    return made


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everything]:
    made = Everything(tmp_path_factory.mktemp("everything"))
    yield made
    shutil.rmtree(made.root)


def test_the_traps_work(clone: Clone) -> None:
    ran = subprocess.run([sys.executable, "-m", "recollect", "--version"], cwd=clone.folder, check=False)
    assert (ran.returncode, clone.mark.read_text()) == (99, "warnings\n")


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ENDLESS])
def test_a_command_runs_nothing_of_the_current_folder(clone: Clone, everything: Everything, name: str) -> None:
    everything.reset()
    ran = clone.run(*own_command(), *everything.line(name), **everything.environment_without_path)
    assert ran.returncode == (1 if name == "doctor" else 0), ran.stderr  # the demo home has damage to find


@pytest.mark.parametrize(("name", "words"), [("watch", "Shopping"), ("serve", "http://")])
def test_nor_do_those_that_go_on(clone: Clone, everything: Everything, name: str, words: str) -> None:
    everything.reset()
    line = [*own_command(), *everything.line(name), *(["--open"] if name == "serve" else [])]
    env = {**everything.environment, "PATH": ".:" + os.environ["PATH"], "BROWSER": "", "DISPLAY": ":99"}
    with subprocess.Popen(
        line, cwd=clone.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline().decode()
        process.terminate()
    assert words in first or name == "watch"
    assert first
    assert not clone.mark.exists(), clone.mark.read_text()


@pytest.mark.parametrize("name", ["search", "sql", "keep", "usage", "statusline", "list"])
def test_python_with_m_imports_nothing_of_the_folder_beside_recollect_itself(
    tmp_path: Path, everything: Everything, name: str
) -> None:
    """Which `recollect` is started there is up to Python, and so is what it imports to start it; the rest is up to us."""
    everything.reset()
    clone = Clone(tmp_path / "clone")
    asked = subprocess.run(
        [sys.executable, "-I", "-c", "import runpy,warnings,sys;print(*sys.modules)"], capture_output=True, check=True
    )
    for module in asked.stdout.decode().split():
        (clone.folder / f"{module}.py").unlink(missing_ok=True)
    assert {"re", "json", "typing", "click", "pathlib", "subprocess"} <= {
        path.stem for path in clone.folder.glob("*.py")
    }
    line = [sys.executable, "-m", "recollect", *everything.line(name)]
    assert clone.run(*line, **everything.environment_without_path).returncode == 0
    code = "from recollect.cli.entry import run; run()"  # as the console script does
    line = [sys.executable, "-P", "-c", code, *everything.line(name)]
    for module in ("sitecustomize", "usercustomize"):  # these too are imported before any of our code
        (clone.folder / f"{module}.py").unlink()
    careless = {**everything.environment_without_path, "PYTHONPATH": os.pathsep.join((str(PACKAGE.parent), ""))}
    assert clone.run(*line, **careless).returncode == 0


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with a crontab of the test's, a systemctl that does nothing, and another program called `recollect`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    table = shlex.quote(str(tmp_path / "tab"))
    for name, code in {
        "crontab": f'if [ "$1" = -l ]; then cat {table} 2>/dev/null; else cat > {table}; fi',
        "systemctl": "exit 0",
        "launchctl": "exit 0",
        "recollect": f"echo another >> {shlex.quote(str(tmp_path / 'ran'))}",
    }.items():
        (folder / name).write_text(f"#!/bin/sh\n{code}\n")
        (folder / name).chmod(0o755 | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def installed_command(kind: str, home: Path, tools: Path, own_home: Path) -> str:
    """What the client, systemd, launchd or cron would run, as a line of a shell."""
    if kind == "hook":
        command: str = json.loads((home / "settings.json").read_text())["hooks"]["Stop"][-1]["hooks"][0]["command"]
        return command
    if kind == "cron":
        return (tools / "tab").read_text().split(" ", 5)[5].replace("\\%", "%")
    if kind == "launchd":
        path = own_home / "Library" / "LaunchAgents" / "recollect.keep.plist"
        return shlex.join(plistlib.loads(path.read_bytes())["ProgramArguments"])
    service = Path(os.environ["XDG_CONFIG_HOME"]) / "systemd" / "user" / "recollect-keep.service"
    (line,) = (line for line in service.read_text().splitlines() if line.startswith("ExecStart="))
    return line.removeprefix("ExecStart=").replace("%%", "%").replace("$$", "$")


@pytest.mark.parametrize("kind", ["hook", "cron", "systemd", "launchd"])
def test_what_keeps_by_itself_is_this_recollect(
    kind: str, clone: Clone, everything: Everything, tools: Path, own_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    everything.reset()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in everything.environment_without_path.items():
            patch.setenv(name, value)
        assert run(capsys, everything.home, "keep", "--install", kind, "--yes").code == 0
        command = installed_command(kind, everything.home, tools, own_home)
        before = run(capsys, everything.home, "keep", "--status", "--json").data["homes"][0]["kept"]
        ran = clone.run("/bin/sh", "-c", command, **everything.environment_without_path)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert run(capsys, everything.home, "keep", "--status", "--json").data["homes"][0]["kept"] > before


COPIES = ("folder", "archive", "editable")


@pytest.mark.parametrize("where", COPIES)
def test_another_installation_names_itself(tmp_path: Path, clone: Clone, everything: Everything, where: str) -> None:
    """A Recollect that only PYTHONPATH finds (a folder, an archive) starts its children and its timers all the same."""
    everything.reset()
    place = tmp_path / "another place, with 'quotes' and 100%"
    place.mkdir()
    if where == "folder":
        shutil.copytree(PACKAGE, place / "recollect", ignore=shutil.ignore_patterns("__pycache__", "static"))
    elif where == "editable":
        (place / "recollect").symlink_to(PACKAGE)
    else:
        place = place / "recollect.zip"
        with zipfile.ZipFile(place, "w") as archive:
            for path in PACKAGE.rglob("*"):
                if path.is_file() and not {"__pycache__", "vendor"} & set(path.parts):
                    archive.write(path, path.relative_to(PACKAGE.parent))
    env = {**everything.environment_without_path, "PYTHONPATH": str(place)}
    code = (
        "import json,recollect.own_program as p;print(json.dumps([p.__file__,p.own_command(),p.child_command('this')]))"
    )
    told, again, _ = json.loads(clone.run(sys.executable, "-P", "-c", code, **env).stdout)
    assert told.startswith(str(place))
    which = "import recollect;print(recollect.__file__)"
    line = [part.replace("from recollect.cli.entry import run;run()", which) for part in again]
    if where != "editable":
        assert clone.run(*line).stdout.strip() == str(place / "recollect" / "__init__.py")
    for name in ("search", "sql", "list"):
        ran = clone.run(*again, *everything.line(name), **everything.environment_without_path)
        assert (ran.returncode, bool(ran.stdout)) == (0, True), ran.stderr


def test_the_current_folder_stays_where_recollect_is_installed_in_it(everything: Everything) -> None:
    everything.reset()
    ran = subprocess.run(
        [sys.executable, "-m", "recollect", *everything.line("search")], cwd=PACKAGE.parent, env=everything.environment,
        capture_output=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, SESSION.encode() in ran.stdout) == (0, True)


def test_the_folders_of_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    others = [folder for folder in sys.path if os.path.isabs(folder)]
    monkeypatch.setattr(sys, "path", ["", ".", str(tmp_path), f"{tmp_path}/link", "lib", "/an/archive.zip", *others])
    found = code_folders()
    assert found[0] == "/an/archive.zip"
    assert set(found) == {"/an/archive.zip", *others, str(PACKAGE.parent)}
    assert "-I" in child_command("recollect.index.sql.child")


def test_a_deleted_current_folder(tmp_path: Path, everything: Everything) -> None:
    everything.reset()
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"cd {shlex.quote(str(gone))} && rmdir ../gone && {shlex.join([*own_command(), *everything.line('list')])}"
    ran = subprocess.run(["/bin/sh", "-c", line], env=everything.environment, capture_output=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    ran = subprocess.run(
        ["/bin/sh", "-c", f"mkdir {gone}; {line} --home relative"],
        env=everything.environment,
        capture_output=True,
        check=False,
    )
    assert (ran.returncode, b"the current folder was deleted" in ran.stderr) == (3, True)
