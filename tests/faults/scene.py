"""A small home at a fixed place that can be put back in no time, and pictures of everything in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recollect.edit.append import SessionWriter
from recollect.format.encode import RowContext
from recollect.journal.changes import Journal
from recollect.store.home import Home
from recollect.store.scan import SessionFile, scan_home
from recollect.testing import HomeBuilder, uuid_from
from recollect.testing.toolcalls import read, write

CWD = "/work/notes"
SESSION = uuid_from("the session that is changed")
BYSTANDER = uuid_from("a session that nobody touches")
TORN = uuid_from("a session whose last line has no end")
SHARING = "/work-notes"
"""A project whose sessions stand in the same folder."""

_VARYING = re.compile(
    rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    rb"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z|(?:msg|toolu)_[0-9a-f]{24}|\b1[6-9]\d{11}\b"
)


@dataclass(frozen=True)
class Picture:
    """One name of a tree: bytes (None for a folder) and time (files only: a folder's time is nobody's data)."""

    content: bytes | None
    mtime_ns: int


Tree = dict[str, Picture]


def photograph(root: Path) -> Tree:
    """Everything below a folder, by relative path; read with nothing but the system's own calls."""
    return dict(_photograph(os.fspath(root), ""))


def _photograph(folder: str, prefix: str) -> Iterator[tuple[str, Picture]]:
    with os.scandir(folder) as found:
        for item in sorted(found, key=lambda item: item.name):
            name = prefix + item.name
            assert not item.is_symlink(), "nothing here makes links"
            if item.is_dir():
                yield name, Picture(None, 0)
                yield from _photograph(item.path, name + "/")
            else:
                yield name, _picture_of(item.path)


def _picture_of(path: str) -> Picture:
    """Bare calls: half of the time of these tests goes into taking pictures."""
    fd = os.open(path, os.O_RDONLY)
    try:
        info = os.fstat(fd)
        content = os.read(fd, info.st_size + 1)
        assert len(content) == info.st_size
        return Picture(content, info.st_mtime_ns)
    finally:
        os.close(fd)


def _restore(root: Path, tree: Tree) -> None:
    """Make a folder look like its picture again, touching only what differs."""
    now = photograph(root)
    for name in reversed(differences(tree, now)):
        if name in now:
            (os.rmdir if now[name].content is None else os.unlink)(root / name)
    for name in differences(tree, now):
        if name in tree:
            _put(root / name, tree[name])


def _put(path: Path, picture: Picture) -> None:
    if picture.content is None:
        path.mkdir(mode=0o700)
        return
    with open(path, "xb") as stream:
        stream.write(picture.content)
    os.utime(path, ns=(picture.mtime_ns, picture.mtime_ns))


def without_chance(content: bytes) -> bytes:
    """With ids and moments made equal, so that two runs of the same operation can be compared."""
    return _VARYING.sub(b"*", content)


def differences(one: Tree, other: Tree) -> list[str]:
    """Names whose bytes or times differ."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


class Scene:
    """A home and a journal. `reset` puts both back to the state in which `remember` saw them."""

    def __init__(self, folder: Path, data: Path | None = None) -> None:
        self.root = folder / "claude"
        self.outside = folder / "notes"
        """The project's own files, to which one can be restored."""
        self.data = data or folder / "data"
        self._memory: list[tuple[Path, Tree]] = []
        self.home = Home(self.root)
        build_home(self.root)
        self.data.mkdir()
        self.outside.mkdir()
        _put(self.outside / "list.md", Picture(b"milk\n", 1_600_000_000 * 10**9))

    def photograph(self) -> Tree:
        """The home, and the project's files below `../`."""
        return photograph(self.root) | {f"../{name}": picture for name, picture in photograph(self.outside).items()}

    def session_file(self, session_id: str = SESSION) -> SessionFile:
        return next(file for file in scan_home(self.home).sessions if file.session_id == session_id)

    @property
    def journal(self) -> Journal:
        """A journal as a new process sees it."""
        return Journal(self.data)

    @property
    def project(self) -> Path:
        return self.home.projects / "-work-notes"

    def transcript(self, session_id: str = SESSION) -> Path:
        """Where a session is, also after its project was moved."""
        found = list(self.home.projects.glob(f"*/{session_id}.jsonl"))
        return found[0] if found else self.project / f"{session_id}.jsonl"

    def writer(self, session_id: str = SESSION) -> SessionWriter:
        path, context = self.transcript(session_id), RowContext(session_id, CWD)
        return SessionWriter(self.journal, self.home, path, context, force=True)

    def remember(self) -> None:
        self._memory = [(folder, photograph(folder)) for folder in (self.root, self.data, self.outside)]

    def reset(self) -> None:
        for folder, tree in self._memory:
            _restore(folder, tree)

    def litter(self, now: Tree) -> list[str]:
        """What may be left of a change in the making, but not after the next run."""
        found = [name for name in now if "recollect-" in name]
        for folder in (self.data / "staging", self.data / "changes"):
            if folder.is_dir():
                names = os.listdir(folder)
                found += names if folder.name == "staging" else [name for name in names if not name[0].isdigit()]
        return found


def build_home(root: Path) -> None:
    """Two projects, three sessions, a subagent, and some of the files beside them. All of it is months old."""
    home = HomeBuilder(root)
    main = home.session(CWD, session_id=SESSION)
    main.user("What is in the notes?")
    main.call(read(f"{CWD}/notes.md", "milk, bread"))
    main.call(write(f"{CWD}/list.md", "milk\nbread\n"))
    first = main.assistant("Milk and bread.")
    helper = main.subagent("look for more")
    helper.user("anything else?")
    helper.finish("no")
    main.user("Thanks.")
    main.assistant("You are welcome.")
    main.rewind(first)
    main.user("And yesterday?")
    main.assistant("Nothing.")
    other = home.session(CWD, session_id=BYSTANDER)
    other.user("Hello")
    other.assistant("Hello to you")
    torn = home.session(CWD, session_id=TORN)
    torn.user("The last line of this session")
    torn.assistant("was cut")
    home.damage(torn, torn.to_bytes()[:-20])
    sharing = home.session(SHARING)
    sharing.user("Another project with the same folder")
    sharing.assistant("It happens")
    elsewhere = home.session("/work/other")
    elsewhere.user("Another project")
    elsewhere.assistant("Yes")
    home.history("What is in the notes?", project=CWD, session_id=SESSION)
    home.file("settings.json", b'{"model":"opus"}')
    home.file("plans/quiet-river.md", b"# A plan\n")
    home.file("file-history/old/a@v1", b"one")
    home.file("file-history/old/b@v1", b"two")
    home.write()
