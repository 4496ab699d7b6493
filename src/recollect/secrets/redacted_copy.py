"""Write the files of sessions once more, without their secrets and personal data, into a private home of their own.

Everything that reads a home reads the copy: show, bundle, the page and every export format. Two passes, each with a bounded
piece of one file in memory: first all values are learned from all files, then each of them is replaced in all files. Names
of files are kept, because entries refer to them; the name of a project folder is not, because it holds the user's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from ..errors import RecollectError
from ..format.line import read_lines
from ..journal import disk
from ..store.home import Home, open_inside
from .names import strength_of
from .redact import SHORTEST_KNOWN, SHORTEST_TEXT, Redactor
from .rewrite import Replacement, rewrite_strings
from .thoughts import without_thoughts
from .untouched import is_untouched

Progress = Callable[[int], None]

_PIECE: Final = 4 << 20
"""How much of a text file is searched at once, in letters."""
_OVERLAP: Final = 1 << 16
"""How far the last value of a piece may reach into the next piece."""
_AT_ONCE: Final = 1 << 18
"""About how many bytes are written at once."""
_LONGEST_DOCUMENT: Final = 64 << 20
_LONGEST_ID: Final = 4096
_LONGEST_NAME: Final = 100
_MOST_KEYS: Final = 10_000
_CONFIG_PLACES: Final = ("/cwd", "/projectPath", "/originalCwd")
"""Fields that name the folder in which the user works."""

_Change = Callable[[str, str], Sequence[Replacement]]


class _Lines(NamedTuple):
    """What the first pass saw of a file. In the second it may be longer: its last line, and what follows, is searched again."""

    with_finds: set[int]
    last: int


class _Names:
    """Says under which name the strings of one line stand: their key, or what `name` says beside a `value`."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}

    def of(self, pointer: str, text: str) -> str | None:
        """Return the name of the string at a pointer, if such a name may make it a secret."""
        parent, _, key = pointer.rpartition("/")
        if key in ("name", "Name", "key", "Key"):
            self._told[parent] = text
        elif key in ("value", "Value", "v"):
            key = self._told.get(parent, key)
        return key if _says_secret(key) else None


@lru_cache(4096)
def _says_secret(key: str) -> bool:
    return len(key) <= _LONGEST_NAME and strength_of(key.replace("~1", "/").replace("~0", "~")) is not None


class RedactedCopy:
    """A copy of files of one home below `root`. `left_out` says in words what is not in it."""

    def __init__(
        self, home: Home, root: Path, redactor: Redactor, progress: Progress | None = None, *, resumable: bool = False
    ) -> None:
        self._home = home
        self._resumable = resumable
        """Whether Claude Code is to resume the copy: then a thinking block goes as a whole where its text would change."""
        self._root = root
        self._redactor = redactor
        self._progress = progress
        self._learned_keys: set[str] = set()
        self._plain_keys: set[str] = set()
        self.left_out: list[str] = []

    def write(self, paths: Iterable[Path]) -> None:
        """Copy these files. Raises an error only where the copy cannot be written: what cannot be read is left out."""
        for path, with_finds in self.learn(paths).items():
            target = self._root / self._place(path)
            try:
                disk.make_folders(target.parent)
                disk.write_new(target, self._redacted(path, with_finds))
                disk.set_times(target, path.stat().st_mtime_ns)
            except OSError as problem:
                raise disk.explain(problem, target) from problem

    def learn(self, paths: Iterable[Path]) -> dict[Path, _Lines]:
        """Learn the values of these files, and return those that can be searched."""
        files = list(dict.fromkeys(paths))
        if self._redactor.is_personal:
            for folder in dict.fromkeys(_project_folder(self._home, path) for path in files):
                self._redactor.learn(folder)
        return {path: found for path in files if (found := self._learned(path)) is not None}

    def _place(self, path: Path) -> Path:
        """Return where a file lies in the copy."""
        parts = list(path.relative_to(self._home.root).parts)
        if len(parts) > 2 and parts[0] == "projects":
            parts[1] = self.folder_name(parts[1])
        return Path(*parts)

    def folder_name(self, name: str) -> str:
        """Return what a project folder is called in the copy."""
        return self._redactor.redact(name).text.replace("/", "-")

    # --- first pass ---------------------------------------------------------------------------------------------------

    def _learned(self, path: Path) -> _Lines | None:
        """Learn the values of a file. Return its lines that hold some; None if the file is left out."""
        with_finds: set[int] = set()
        number = -1
        try:
            for number, part in enumerate(self._parts(path, told=True)):
                if self._redactor.learn(part) if isinstance(part, str) else self._learn_line(part):
                    with_finds.add(number)
        except (RecollectError, OSError) as problem:
            self.left_out.append(f"{path.name}: {problem}")
            return None
        return _Lines(with_finds, number)

    def _learn_line(self, line: bytes) -> bool:
        if not self._redactor.may_learn(line):
            return False
        found, names = False, _Names()

        def learn(pointer: str, text: str) -> Sequence[Replacement]:
            nonlocal found
            if is_untouched(pointer, text):
                return ()
            if pointer in _CONFIG_PLACES:
                self._redactor.learn_home(text)
            if self._redactor.learn(text, names.of(pointer, text)):
                found = True
            return ()

        known = self._learned_keys
        rewrite_strings(
            line, learn, change_key=self._key_change(learn, known), plain_keys=known, shortest=SHORTEST_TEXT
        )
        return found

    def _key_change(self, change: _Change, plain: set[str]) -> _Change:
        """Return how object keys are changed: as any text, since no name makes them ids. Those of `plain` are known to stay."""

        def change_key(_: str, key: str) -> Sequence[Replacement]:
            parts = change("", key)
            if not parts and not self._redactor.find(key) and len(plain) < _MOST_KEYS:
                plain.add(key)
            return parts

        return change_key

    # --- second pass --------------------------------------------------------------------------------------------------

    def _redacted(self, path: Path, lines: _Lines) -> Iterator[bytes]:
        if _is_json(path):
            waiting: list[bytes] = []
            length = 0
            for number, line in enumerate(self._parts(path)):
                assert isinstance(line, bytes)
                new = self._redacted_line(line, has_finds=number in lines.with_finds or number >= lines.last)
                waiting.append(new)
                length += len(new)
                if length > _AT_ONCE:
                    yield b"".join(waiting)
                    waiting, length = [], 0
            yield b"".join(waiting)
        elif self._is_binary(path):
            yield from self._binary(path)
        else:
            yield from self._redacted_text(path)

    def _redacted_line(self, line: bytes, *, has_finds: bool) -> bytes:
        redactor = self._redactor
        if not has_finds and not redactor.may_hold(line):
            return line
        names = _Names()

        def change(pointer: str, text: str) -> Sequence[Replacement]:
            if is_untouched(pointer, text):
                return redactor.in_untouched(text) if len(text) <= _LONGEST_ID else ()
            return redactor.replacements(text, None if has_finds else (), name=names.of(pointer, text))

        known = self._plain_keys
        if self._resumable:
            line, _ = without_thoughts(line, lambda text: bool(redactor.replacements(text, None if has_finds else ())))
        return rewrite_strings(
            line, change, change_key=self._key_change(change, known), plain_keys=known, shortest=SHORTEST_KNOWN
        )

    def _redacted_text(self, path: Path) -> Iterator[bytes]:
        with open_inside(self._home, path) as stream:
            rest = ""
            while True:
                data = stream.read(_PIECE)
                self._tell(len(data))
                # Letters of several bytes may be cut at the end of a piece: the bytes are joined again when they are written.
                text = rest + data.decode("utf-8", "surrogateescape")
                parts = self._redactor.replacements(text)
                end = len(text) if not data else _cut(text, parts)
                pieces: list[str] = []
                place = 0
                for item in parts:
                    if item.end <= end:
                        pieces += (text[place : item.start], item.text)
                        place = item.end
                yield "".join([*pieces, text[place:end]]).encode("utf-8", "surrogateescape")
                rest = text[end:]
                if not data:
                    return

    # --- reading ------------------------------------------------------------------------------------------------------

    def _parts(self, path: Path, *, told: bool = False) -> Iterator[bytes | str]:
        """Yield the lines of a transcript, a whole JSON document as one line, or the pieces of a text; nothing of binary data."""
        if not _is_json(path):
            if not self._is_binary(path):
                yield from self._text_pieces(path)
            return
        with open_inside(self._home, path) as stream:
            if path.suffix == ".json":
                data = stream.read(_LONGEST_DOCUMENT + 1)
                if len(data) <= _LONGEST_DOCUMENT:
                    self._tell(len(data))
                    yield data
                elif told:
                    self.left_out.append(f"{path.name}: too long to be searched")
                return
            for line in read_lines(stream):
                self._tell(len(line.data))
                if line.more or line.part:
                    if told and not line.part:
                        self.left_out.append(f"{path.name}, line {line.number}: too long to be searched")
                    continue
                yield line.data

    def _text_pieces(self, path: Path) -> Iterator[str]:
        with open_inside(self._home, path) as stream:
            before = b""
            while data := stream.read(_PIECE):
                self._tell(len(data))
                yield (before + data).decode("utf-8", "surrogateescape")
                before = data[-_OVERLAP:]

    def _is_binary(self, path: Path) -> bool:
        with open_inside(self._home, path) as stream:
            return b"\x00" in stream.read(8192)

    def _binary(self, path: Path) -> Iterator[bytes]:
        """Yield the bytes of a picture or the like, unless one of the values stands in it."""
        with open_inside(self._home, path) as stream:
            before = b""
            while data := stream.read(_PIECE):
                if self._redactor.holds_secret((before + data).decode("latin-1")):
                    self.left_out.append(f"{path.name}: not text, and a secret stands in it")
                    return
                before = data[-_OVERLAP:]
            stream.seek(0)
            while data := stream.read(_PIECE):
                yield data

    def _tell(self, count: int) -> None:
        if self._progress is not None:
            self._progress(count)


def _is_json(path: Path) -> bool:
    return path.suffix in (".jsonl", ".json")


def _project_folder(home: Home, path: Path) -> str:
    parts = path.relative_to(home.root).parts
    return parts[1] if len(parts) > 2 and parts[0] == "projects" else ""


def _cut(text: str, parts: Sequence[Replacement]) -> int:
    """Return where to cut a piece of text: at a line end, before what may go on in the next piece, and not inside a value."""
    end = max(len(text) - _OVERLAP, 0)
    end = text.rfind("\n", 0, end) + 1 or end
    for item in parts:
        if item.start < end < item.end:
            return item.start
    return end
