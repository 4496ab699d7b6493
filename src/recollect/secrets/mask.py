"""Mask secrets for good: in the homes, and in everything that Recollect itself has of them.

    survey      where the values stand, what would be masked, what cannot be, which changes lose their undo; reads only
    run         do it, with the locks of the homes and of the vault held

**Order.** Recollect's own copies come first: the journal's, small files, the vault's. Then the files of the homes, each replaced
in one rename. So while anything is left to do, the values still stand in a home (or in a copy that `survey` reads), and a run
after a crash finds them again: no value is ever written down. The index comes last; a note in the data folder, with fingerprints
and places, says that it is still to be done.

**What is refused.** A file in use, or written within the last minute, a link, a file with a second name, or of another owner
stays as it is and is named. Settings are masked only on request: a key that stands there is in use.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from ..errors import RecollectError
from ..journal import disk
from ..journal.changes import Journal, Record
from ..journal.disk import hash_of
from ..journal.guard import RECENT_SECONDS, is_recent, why_busy
from ..journal.masking import KeptSecret, kept_secrets, mask_kept, rewrite
from ..store.home import Home
from ..store.layout import FileKind, file_at
from ..store.liveness import open_sessions
from ..store.stamp import Stamp, stamp_of
from ..vault.masking import end_interrupted, generation_bytes, generations, mask_vault
from ..vault.vault import Vault
from .masked_bytes import ByteMasker, Tally
from .values import SecretValue, ValueFinder, replaced

NOTE: Final = "masking.json"
_CHUNK: Final = 1 << 20
_TRIES: Final = 3
_ON_REQUEST: Final = frozenset(
    {
        FileKind.SETTINGS, FileKind.CLIENT_CONFIG, FileKind.CONFIG_BACKUP, FileKind.DEFINITION, FileKind.INSTRUCTIONS,
        FileKind.PLUGIN,
    }
)  # fmt: skip
_WITH_SETTINGS: Final = frozenset({"hooks", "local-settings", "project-settings"})
_OWN_ELSEWHERE: Final = frozenset({"vault", "changes", "staging", "locks", "index", NOTE})
"""What the data folder and the cache folder hold that is not masked file by file."""

ONLY_SETTINGS: Final = "settings are masked only with --settings: a key that stands there is in use"
STAYS: Final = (
    "inside of a word, in the name of a field, in an id or in a picture: --everywhere masks words and names, too"
)

Progress = Callable[[str, int, int], None]
"""Called with what is being done, and how much of how much is done."""


class Note(Struct):
    """A masking that has begun: what it is about, and never a value."""

    time: float
    fingerprints: list[str]
    places: list[str]


@dataclass
class FoundFile:
    """A file that holds values."""

    path: Path
    name: str
    """Its path below the home, or the path of a file of our own."""
    home: Home | None
    tally: Tally
    why: str | None = None
    """Why it cannot be masked; None where it can."""
    stamp: Stamp | None = None
    before: str | None = None
    after: str | None = None
    """SHA-256 before and after, once it is masked."""


@dataclass
class Survey:
    """Where the values stand."""

    files: list[FoundFile] = field(default_factory=list)
    own: list[FoundFile] = field(default_factory=list)
    """Small files of our own: bookmarks, saved queries, what a prompt remembers."""
    kept: dict[tuple[int, str, int], Tally] = field(default_factory=dict)
    """What the vault has: home, path and generation."""
    kept_paths: dict[str, set[str]] = field(default_factory=dict)
    """The same files by home (links resolved) and path."""
    changes: list[KeptSecret] = field(default_factory=list)
    unread: list[tuple[Path, str]] = field(default_factory=list)
    """What could not be read, and why."""

    @property
    def found(self) -> Counter[SecretValue]:
        """How often each value stands in the homes."""
        total: Counter[SecretValue] = Counter()
        for file in self.files:
            total.update(file.tally.found)
        return total

    @property
    def maskable(self) -> list[FoundFile]:
        return [file for file in self.files if file.why is None and file.tally.found]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to mask."""
        touched = [item for item in self.changes if item.files or item.title is not None]
        return not (self.maskable or self.own or self.kept or touched)

    @property
    def losing_undo(self) -> list[Record]:
        return [item.record for item in self.changes if item.loses_undo]


@dataclass
class Outcome:
    """What was done."""

    survey: Survey
    records: list[Record] = field(default_factory=list)
    """The changes in the journal, one for each home."""
    left: Survey = field(default_factory=Survey)
    """What is still there."""
    problem: str | None = None
    """Why it ended before the end; the files that were masked until then stay masked."""


class Masking:
    """Masks values in some homes and in our own folders."""

    def __init__(
        self,
        homes: Sequence[Home],
        journal: Journal,
        vault: Vault,
        folders: Sequence[Path],
        finder: ValueFinder,
        *,
        settings: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.homes = list(homes)
        self.journal = journal
        self.vault = vault
        self.folders = list(dict.fromkeys(folders))
        self.finder = finder
        self.masker = ByteMasker(finder)
        self.settings = settings
        self.progress = progress or _say_nothing
        self._busy: dict[tuple[str, str], str | None] = {}

    @property
    def _note(self) -> Path:
        return self.journal.folder.parent / NOTE

    # --- looking ------------------------------------------------------------------------------------------------------

    def survey(self) -> Survey:
        """Return where the values stand. Reads everything and changes nothing."""
        found = Survey()
        if not self.finder.values:
            return found
        self._busy.clear()
        for home in self.homes:
            self._look_at_home(home, found)
        self._look_at_vault(found)
        self._look_at_own(found)
        self._look_at_journal(found)
        return found

    def _look_at_home(self, home: Home, found: Survey) -> None:
        paths = list(home_files(home))
        for number, path in enumerate(paths):
            self.progress("looking at the home", number, len(paths))
            name = os.path.relpath(path, home.root)
            parts = Path(name).parts if not name.startswith("..") else (path.name,)
            file = file_at(parts)
            if file.kind is FileKind.SECRET:
                continue
            item = self._look(path, name, home, found)
            if item is not None:
                if item.tally.found:
                    item.why = self._why_not(home, path, parts, file.session_id, file.kind)
                found.files.append(item)
        self.progress("looking at the home", len(paths), len(paths))

    def _look(self, path: Path, name: str, home: Home | None, found: Survey) -> FoundFile | None:
        tally = Tally()
        stamp = stamp_of(path)
        try:
            for _ in self.masker.pairs(name, file_chunks(path), tally):
                pass
        except FileNotFoundError:
            return None
        except OSError as problem:
            found.unread.append((path, problem.strerror or str(problem)))
            return None
        return None if tally.is_empty else FoundFile(path, name, home, tally, stamp=stamp)

    def _why_not(
        self, home: Home, path: Path, parts: Sequence[str], session_id: str | None, kind: FileKind
    ) -> str | None:
        """Return why a file must not be masked now; None if it may be."""
        info = os.lstat(path)
        if not stat.S_ISREG(info.st_mode):
            return "is a link: links are not written through"
        if info.st_nlink > 1:
            return "has a second name (a hard link), which would keep the old bytes"
        if hasattr(os, "getuid") and info.st_uid != os.getuid():
            return "belongs to another user"
        if not self.settings and (kind in _ON_REQUEST or parts[0] in _WITH_SETTINGS):
            return ONLY_SETTINGS
        if session_id is not None:
            busy = self._session_busy(home, session_id, path if kind is FileKind.TRANSCRIPT else None)
            if busy is not None:
                return f"session {session_id} is in use: {busy}"
        current = Stamp(info.st_size, info.st_mtime_ns)
        if is_recent(current) and not self.journal.is_ours(path, current):
            return f"was written less than {RECENT_SECONDS:.0f} s ago, and not by Recollect"
        return None

    def _session_busy(self, home: Home, session_id: str, transcript: Path | None) -> str | None:
        key = (home.real_root, session_id)
        if key not in self._busy:
            path = transcript or next(iter(home.projects.glob(f"*/{session_id}.jsonl")), None)
            if path is not None:
                self._busy[key] = why_busy(home, session_id, path, self.journal)
            else:
                running = open_sessions(home).get(session_id)
                self._busy[key] = None if running is None else f"process {running.pid} has it open"
        return self._busy[key]

    def _look_at_vault(self, found: Survey) -> None:
        if not self.vault.exists:
            return
        kept = list(generations(self.vault))
        for number, (file, generation) in enumerate(kept):
            self.progress("looking at the vault", number, len(kept))
            tally = Tally()
            for _ in self.masker.pairs(file.path, generation_bytes(self.vault, file, generation), tally):
                pass
            if tally.found:
                found.kept[(file.home, file.path, generation.number)] = tally
                root = self.vault.contents.homes.get(file.home, "")
                found.kept_paths.setdefault(root, set()).add(file.path)
        self.progress("looking at the vault", len(kept), len(kept))

    def _look_at_own(self, found: Survey) -> None:
        for path in self._own_files():
            item = self._look(path, str(path), None, found)
            if item is not None and item.tally.found:
                found.own.append(item)

    def _own_files(self) -> Iterator[Path]:
        for folder in self.folders:
            for top in sorted(_names(folder) - _OWN_ELSEWHERE):
                yield from _regular_files(folder / top)

    def _look_at_journal(self, found: Survey) -> None:
        rewritten = {os.path.realpath(file.path) for file in found.maskable}

        def is_needed(record: Record) -> bool:
            places = found.kept_paths.get(record.home, set())
            return any(file.place in places for file in self.journal.discarded_backups(record).values())

        found.changes = kept_secrets(self.journal, self._masked, self.masked_text, rewritten, is_needed)

    def _masked(self, path: Path, name: str) -> Iterable[bytes] | None:
        """Return the masked bytes of a file of our own; None where there is nothing to mask."""
        tally = Tally()
        for _ in self.masker.pairs(name, file_chunks(path), tally):
            pass
        return None if not tally.found else (new for _, new in self.masker.pairs(name, file_chunks(path), Tally()))

    def masked_text(self, text: str) -> str:
        """Return a text, such as a title or a path, with the values in it masked."""
        return replaced(text, self.finder.places(text, everywhere=True))

    # --- masking ------------------------------------------------------------------------------------------------------

    def run(self) -> Outcome:
        """Mask everything that can be masked, and look whether anything is left. Raises StoreBusy, Refused, DamagedData.

        What was masked before an error stays masked.
        """
        with contextlib.ExitStack() as held:
            for home in self._homes_to_lock():
                held.enter_context(self.journal.locked(home))
                self.journal.recover(home)
            if self.vault.exists:
                held.enter_context(self.vault.locked())
                end_interrupted(self.vault)  # old packs that a crash left hold the old bytes
            survey = self.survey()
            outcome = Outcome(survey)
            if survey.is_empty:
                outcome.left = survey
                return outcome
            self._begin(survey)
            for item in survey.changes:
                mask_kept(self.journal, item, self._masked)
            self._mask_own(survey)
            if survey.kept:
                mask_vault(
                    self.vault, lambda path, chunks: self.masker.pairs(path, chunks, Tally()), set(survey.kept),
                    lambda done, total: self.progress("rewriting the vault", done, total),
                )  # fmt: skip
            try:
                for home in self.homes:
                    record = self._mask_home(home, survey)
                    if record is not None:
                        outcome.records.append(record)
            except RecollectError as problem:
                outcome.problem = problem.message
            outcome.left = self.survey()
        return outcome

    def _homes_to_lock(self) -> list[Home]:
        """Return the homes, and those of which the journal has changes, in an order that all processes share."""
        known = {home.real_root: home for home in self.homes}
        for record in self.journal.records():
            known.setdefault(record.home, Home(Path(record.home)))
        return [known[root] for root in sorted(known)]

    def _begin(self, survey: Survey) -> None:
        """Write down what is about to be done, by fingerprints and places."""
        fingerprints = sorted(item.fingerprint for item in self.finder.values)
        places = [str(file.path) for file in survey.maskable]
        try:
            disk.make_folders(self._note.parent)
            fresh = self._note.with_name(f"{NOTE}.new")
            disk.remove_if_there(fresh)
            disk.write_new(fresh, [msgspec.json.encode(Note(time.time(), fingerprints, _sayable(places)))])
            disk.replace(fresh, self._note)
        except OSError as problem:
            raise disk.explain(problem, self._note) from problem

    @property
    def is_interrupted(self) -> bool:
        """Whether a masking began and did not end."""
        return self._note.exists()

    def end(self) -> None:
        """Remove the note of a masking that is complete, with the index."""
        disk.remove_if_there(self._note)

    def _mask_own(self, survey: Survey) -> None:
        for item in survey.own:
            chunks = self._masked(item.path, item.name)
            if chunks is None:
                continue
            try:
                rewrite(item.path, chunks, item.path.with_name(f".{item.path.name}.masking"))
            except OSError as problem:
                raise disk.explain(problem, item.path) from problem

    def _mask_home(self, home: Home, survey: Survey) -> Record | None:
        files = [file for file in survey.maskable if file.home is home]
        if not files:
            return None
        kinds = Counter(value.kind for file in files for value in file.tally.found)
        title = f"Mask {', '.join(sorted(kinds))} in {len(files):,} file{'s' if len(files) > 1 else ''}"
        with self.journal.change(home, "mask", title) as change:
            for number, file in enumerate(files):
                self.progress("masking", number, len(files))
                for _ in range(_TRIES):
                    before = stamp_of(file.path)
                    if before is None:
                        break
                    digests = hashlib.sha256(), hashlib.sha256()
                    digest = hash_of(file.path)
                    change.mask(file.path, self._staged(file, digests), before, digest)
                    if stamp_of(file.path) == before:
                        file.before, file.after = (one.hexdigest() for one in digests)
                        break
                    change.drop_mask()  # it grew meanwhile: read it again
            if not change.steps:
                return None
            record = change.commit_locked()
        self.progress("masking", len(files), len(files))
        return record

    def _staged(self, file: FoundFile, digests: tuple[hashlib._Hash, hashlib._Hash]) -> Iterator[bytes]:
        for old, new in self.masker.pairs(file.name, file_chunks(file.path), Tally()):
            digests[0].update(old)
            digests[1].update(new)
            yield new


def _say_nothing(what: str, done: int, total: int) -> None:
    """Take the place of a progress bar."""


def home_files(home: Home) -> Iterator[Path]:
    """Yield every file and link of a home, and its config file if that lies beside it; links to folders are not entered."""
    for folder, below, names in os.walk(home.root):
        below.sort()
        for name in sorted(names):
            yield Path(folder, name)
    if home.config_file.parent != home.root and home.config_file.is_file():
        yield home.config_file


def _regular_files(top: Path) -> Iterator[Path]:
    if top.is_symlink():
        return
    if top.is_file():
        yield top
    for folder, below, names in os.walk(top):
        below.sort()
        yield from (path for name in sorted(names) if (path := Path(folder, name)).is_file() and not path.is_symlink())


def _names(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def file_chunks(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a regular file, or of the file that a link leads to; nothing of pipes and devices."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    fd = os.open(path, flags)
    with os.fdopen(fd, "rb", buffering=0) as stream:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return
        while chunk := stream.read(_CHUNK):
            yield chunk


def _sayable(paths: Iterable[str]) -> list[str]:
    return [path.encode("utf-8", "replace").decode() for path in paths]
