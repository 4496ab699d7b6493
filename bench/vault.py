"""Keeping a store: against `zstd -3` of the same bytes; and keeping when nothing is new, against `git status` of the same tree.

`zstd` gets the bytes from a pipe (as `tar | zstd` would) and writes them to the same disk. `git status` compares every file of
the tree with its index by size and time, as a capture does, in a repository that was committed and looked at before.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import RECOLLECT, BenchFailed, Contestant, function, interleave
from bench.stores import cached_folder, generated_home
from bench.table import Goal, Row

ABILITY = "keep"
CAPTURE_GOAL, RATIO_GOAL, NOTHING_NEW_GOAL = 2.0, 3.5, 3.0


def rows(quick: bool) -> Iterator[Row]:
    for tool in ("zstd", "git"):
        if shutil.which(tool) is None:
            raise BenchFailed(f"{tool} is not installed: nothing to compare with")
    yield from _capture(quick)
    yield from _nothing_new(quick)


def _capture(quick: bool) -> Iterator[Row]:
    preset = "small" if quick else "medium"
    home = generated_home(preset, "--preset", preset)
    size = "20 MB" if quick else "1 GB"
    ours, theirs = interleave(
        [function("keep", keep_all, home), function("zstd -3", zstd_all, home)], rounds=3 if quick else 5
    )
    ratio = ours.ratio_to(theirs)
    goal = Goal(f"<= {CAPTURE_GOAL:g}", CAPTURE_GOAL, ratio)
    packed = float(str(ours.result))
    yield Row(
        ABILITY, f"{size}, first capture", ours.cpu_seconds, ours.peak_mb, "`zstd -3` of the same bytes", ratio, goal
    )
    # The table knows upper bounds only: what must be 3.5 times smaller takes at most 1 / 3.5 of the room.
    smaller = Goal(f">= {RATIO_GOAL:g} times smaller", 1 / RATIO_GOAL, 1 / packed)
    yield Row(
        ABILITY, f"{size}, room in the vault", ours.cpu_seconds, ours.peak_mb, "bytes of the files", 1 / packed, smaller
    )
    yield Row(
        ABILITY, f"{size}, `zstd -3`, {float(str(theirs.result)):.2f} times smaller", theirs.cpu_seconds, theirs.peak_mb
    )


def _nothing_new(quick: bool) -> Iterator[Row]:
    sessions = "300" if quick else "3000"
    name, size = ("listing-quick", "15e6") if quick else ("listing", "150e6")
    source = generated_home(name, "--sessions", sessions, "--bytes", size)
    tree = _repository(source, sessions)
    library, command, status = interleave(
        [
            function("library", keep_nothing, tree),
            Contestant("command", (*RECOLLECT, "--home", str(tree), "keep", "--quiet"), _folders(tree)),
            Contestant("git status", ("git", "-C", str(tree), "status", "--porcelain")),
        ],
        rounds=5 if quick else 11,
    )
    case = f"nothing new in {sessions} sessions"
    against = "`git status` of the same tree"
    ratio = command.ratio_to(status)  # from start to exit, as a hook pays for it
    goal = Goal(f"<= {NOTHING_NEW_GOAL:g}", NOTHING_NEW_GOAL, ratio)
    yield Row(ABILITY, f"{case}, `keep` as a process", command.cpu_seconds, command.peak_mb, against, ratio, goal)
    yield Row(ABILITY, f"{case}, library", library.cpu_seconds, library.peak_mb, against, library.ratio_to(status))
    yield Row(ABILITY, f"{case}, `git status`", status.cpu_seconds, status.peak_mb)


def _scratch(place: Path) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="vault-", dir=place))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def keep_all(home: str) -> Callable[[], object]:
    from recollect.store.home import Home
    from recollect.vault.capture import capture
    from recollect.vault.vault import Vault

    folder = _scratch(Path(home).parent)
    vault = Vault(folder / "vault")

    def work() -> float:
        report = capture(vault, Home(Path(home)), cache=folder / "cache")
        return report.bytes / report.stored

    return work


def zstd_all(home: str) -> Callable[[], object]:
    from recollect.store.home import Home
    from recollect.vault.selection import walk_home

    folder = _scratch(Path(home).parent)
    files = sorted(walk_home(Home(Path(home))).files)

    def work() -> float:
        """The reading is ours, bare; `zstd` is a child whose time is counted with ours."""
        total = 0
        with open(folder / "all.zst", "wb") as out:
            child = subprocess.Popen(["zstd", "-3", "-q", "-T1", "-c"], stdin=subprocess.PIPE, stdout=out)
            assert child.stdin is not None
            for name in files:
                fd = os.open(os.path.join(home, name), os.O_RDONLY)
                while data := os.read(fd, 1 << 20):
                    child.stdin.write(data)
                    total += len(data)
                os.close(fd)
            child.stdin.close()
            if child.wait() != 0:
                raise BenchFailed("zstd failed")
            os.fsync(out.fileno())
        return total / (folder / "all.zst").stat().st_size

    return work


def keep_nothing(tree: str) -> Callable[[], object]:
    from recollect.store.home import Home
    from recollect.vault.capture import capture
    from recollect.vault.vault import Vault

    folders = _folders(Path(tree))
    vault = Vault(Path(folders["RECOLLECT_DATA_DIR"]) / "vault")
    cache = Path(folders["RECOLLECT_CACHE_DIR"]) / "vault"
    home = Home(Path(tree))
    capture(vault, home, cache=cache)

    def work() -> int:
        report = capture(vault, home, cache=cache)
        if report.changed:
            raise BenchFailed("something was new")
        return report.files

    return work


def _folders(tree: Path) -> dict[str, str]:
    return {f"RECOLLECT_{kind}_DIR": str(tree.parent / kind.lower()) for kind in ("DATA", "CACHE", "CONFIG")}


def _repository(source: Path, sessions: str) -> Path:
    """A copy of the store that is a git repository as well, and was kept once."""

    def make(folder: Path) -> None:
        tree = folder / "claude"
        shutil.copytree(source, tree)
        for arguments in (["init", "-q"], ["add", "-A"], [*_AUTHOR, "commit", "-q", "-m", "all"], ["status"]):
            subprocess.run(["git", "-C", str(tree), *arguments], check=True, stdout=subprocess.DEVNULL)

    tree = cached_folder(f"kept-{sessions}", make, [Path(__file__)], str(source)) / "claude"
    # Twice: what was written just now is compared again by the first capture behind it.
    for _ in range(2):
        command = (*RECOLLECT, "--home", str(tree), "keep", "--quiet")
        environment = {**os.environ, **_folders(tree), "HOME": str(tree.parent)}
        subprocess.run(command, check=True, env=environment, stdin=subprocess.DEVNULL)
        subprocess.run(["git", "-C", str(tree), "status"], check=True, stdout=subprocess.DEVNULL)
    return tree


_AUTHOR = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
