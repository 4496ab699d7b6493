"""Count the files that everyday commands walk through: `python -m tools.walks`.

For each walk: in how many files of the package a function ran, how many were imported, and how often a transcript was opened and
a project folder listed. The page `docs/house.md` shows these numbers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

WALKS: dict[str, list[list[str]]] = {
    "show last": [["show", "last"]],
    "usage, first": [["usage"]],
    "usage, again": [["usage"], ["usage"]],
    "search, first": [["search", "the"]],
    "search, again": [["search", "the"], ["search", "the"]],
    "fork": [["fork", "last", "--at", "{message}", "--yes"]],
    "keep": [["keep"]],
    "restore": [["keep"], ["delete", "last", "--yes"], ["restore", "{session}", "--yes"]],
    "check": [["check"]],
    "repair": [["repair", "{damaged}", "--yes"]],
}
"""Commands of each walk; the last one is traced, the others make ready."""

TRACED = """
import json, os, sys, threading
ran, opened, listed = set(), [], []
def hook(event, args):
    if event == "open" and isinstance(args[0], (str, bytes, os.PathLike)):
        name = os.fsdecode(args[0])
        if name.endswith(".jsonl"):
            opened.append(os.path.basename(name))
    elif event in ("os.listdir", "os.scandir") and args[0] is not None and not isinstance(args[0], int):
        listed.append(os.fsdecode(args[0]))
sys.addaudithook(hook)
def profile(frame, event, arg):
    if event == "call" and frame.f_code.co_flags & 1:  # a function, not the body of a module or class
        ran.add(frame.f_code.co_filename)
out = sys.argv.pop(1)
import recollect
package = os.path.dirname(recollect.__file__)
sys.setprofile(profile)
threading.setprofile(profile)
try:
    from recollect.cli.entry import run
    run()
except SystemExit:
    pass
finally:
    sys.setprofile(None)
    inside = {name for name in ran if name.startswith(package)}
    imported = {getattr(m, "__file__", None) or "" for m in list(sys.modules.values())}
    imported = {name for name in imported if name.startswith(package)}
    most = max((opened.count(name) for name in set(opened)), default=0)
    folders = [name for name in listed if os.path.basename(os.path.dirname(name)) == "projects"]
    walked = max((folders.count(name) for name in set(folders)), default=0)
    with open(out, "w") as stream:
        json.dump({"ran": len(inside), "imported": len(imported), "opened": most, "walked": walked}, stream)
"""


def _rows(text: str) -> list[dict[str, object]]:
    data = json.loads(text)
    found = data if isinstance(data, list) else next(value for value in data.values() if isinstance(value, list))
    return list(found)


def walk(name: str) -> dict[str, int]:
    """Run one walk on a demo home of its own and return its counts."""
    with tempfile.TemporaryDirectory(prefix="recollect-walk-") as folder:
        place = Path(folder)
        env = {**os.environ, "HOME": folder, "NO_COLOR": "1"}
        env |= {f"RECOLLECT_{kind}_DIR": str(place / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE")}
        home = str(place / "home")

        def run(*words: str) -> str:
            line = [sys.executable, "-m", "recollect", *words]
            return subprocess.run(line, env=env, capture_output=True, text=True, check=False).stdout

        run("demo", home)
        newest = _rows(run("--home", home, "list", "--json"))[0]
        session = str(newest.get("session_id") or newest.get("id"))
        rows = [json.loads(line) for line in run("--home", home, "cat", session).splitlines()]
        message = next(row["uuid"] for row in rows if row.get("type") == "assistant")
        damaged = session
        if name == "repair":
            transcript = next(Path(home, "projects").glob(f"*/{session}.jsonl"))
            data = transcript.read_bytes()
            transcript.write_bytes(data[: len(data) // 2] + b"\n" + data[len(data) // 2 :])
            os.utime(transcript, (0, 0))
        names = {"message": message, "session": session, "damaged": damaged}
        *before, last = [[word.format(**names) for word in words] for words in WALKS[name]]
        for words in before:
            run("--home", home, *words)
        out = str(place / "counts.json")
        line = [sys.executable, "-c", TRACED, out, "--home", home, *last]
        ran = subprocess.run(line, env=env, capture_output=True, text=True, check=False)
        if not os.path.exists(out):
            raise RuntimeError(f"{name}: {ran.stderr}")
        counts: dict[str, int] = json.loads(Path(out).read_text("utf-8"))
        return counts


def main() -> None:
    print("| walk | files run | files imported | opens of one transcript | lists of one project folder |")
    print("|---|---:|---:|---:|---:|")
    for name in sys.argv[1:] or WALKS:
        counts = walk(name)
        print(f"| `{name}` | {counts['ran']} | {counts['imported']} | {counts['opened']} | {counts['walked']} |")


if __name__ == "__main__":
    main()
