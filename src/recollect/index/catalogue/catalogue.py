"""The catalogue's file: opened, locked for its one writer, thrown away and made anew where it is broken or old.

    catalogue = Catalogue.open(own_folder("cache") / "index")
    with catalogue.locked():                # only who writes
        with catalogue.transaction() as db:
            db.execute("INSERT ...")

Readers need no lock: they see whole transactions (WAL). Nothing here is the truth, so anything here may be deleted at any
time; the next sync brings it back.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import apsw

from ...errors import StoreBusy
from ...format.path_text import to_text
from . import checked_pages
from .schema import fingerprint, statements
from .vault_transcripts import KeptTranscripts

if TYPE_CHECKING:
    import tempfile

DATABASE: Final = "catalogue.sqlite"
WORDS: Final = "words"
QUESTIONS: Final = "questions.duckdb"
LOCK: Final = "sync.lock"
LOCK_SECONDS: Final = 60.0
BUSY_MS: Final = 20_000
CACHE_KIB: Final = 16 << 10

#: What apsw raises where the file is no database, or a damaged one.
BROKEN: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_CANNOT_WRITE: Final = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.FullError, apsw.IOError)


class Catalogue:
    """An open catalogue. `connection` is apsw's; `problem` says why it lies in a temporary folder, if it does."""

    def __init__(
        self,
        folder: Path,
        temporary: tempfile.TemporaryDirectory[str] | None = None,
        problem: str = "",
        *,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.folder = folder
        self._tell = tell
        self.problem = problem
        self.connection: apsw.Connection
        self.kept: KeptTranscripts | None = None
        """What the vault has; None where nothing was ever kept."""
        self.opened_as: tuple[int, int] | None = None
        """Device and inode of the open file: another process may make the catalogue anew, under the same name."""
        self._temporary = temporary
        self._held = 0
        self._thread = threading.RLock()

    @classmethod
    def open(cls, folder: Path, vault: Path | None = None, *, tell: Callable[[str], None] | None = None) -> Catalogue:
        """The catalogue in a folder, made where there is none. In a temporary folder where that cannot be written.

        `vault` is where sessions are kept that the homes may have lost. `tell` is told where the index is damaged and built
        anew, and which rows had to be left out.
        """
        kept = KeptTranscripts(vault) if vault is not None and vault.is_dir() else None
        try:
            catalogue = cls(folder, tell=tell)
            catalogue.kept = kept
            catalogue._open_here()
            return catalogue
        except (OSError, *_CANNOT_WRITE) as problem:
            reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        import tempfile

        temporary = tempfile.TemporaryDirectory(prefix="recollect-index-", ignore_cleanup_errors=True)
        words = f"the index folder {folder} cannot be written ({reason}): a temporary one is used for this run"
        catalogue = cls(Path(temporary.name), temporary, words, tell=tell)
        catalogue.kept = kept
        catalogue._open_here()
        return catalogue

    @property
    def path(self) -> Path:
        return self.folder / DATABASE

    @property
    def words_folder(self) -> Path:
        return self.folder / WORDS

    @property
    def questions_path(self) -> Path:
        return self.folder / QUESTIONS

    @property
    def is_temporary(self) -> bool:
        return self._temporary is not None

    def _open_here(self) -> None:
        if not os.path.isdir(self.folder):
            from ...journal import disk  # only who makes something new needs it

            disk.make_folders(self.folder)
        if self._open_what_is_there():
            return
        with self.locked():
            if not self._open_what_is_there():  # somebody else may have made it anew while we waited
                self._make_anew()

    def _open_what_is_there(self) -> bool:
        """Whether there is a catalogue with our schema, which is open then."""
        if not os.path.exists(self.path):
            return False
        try:
            if os.path.isdir(self.path):
                raise apsw.NotADBError(f"{self.path} is a folder")
            self._connect()
            return self._is_current()
        except BROKEN as problem:
            if self._held:  # else it is looked at once more, with the lock
                self.say_damaged(problem)
            return False

    def say_damaged(self, problem: object) -> None:
        """Tell that the index, or a part of it, is damaged and will be built anew."""
        self.say(f"the index was damaged ({problem}): it is built anew")

    def say(self, sentence: str) -> None:
        """Tell whoever opened the catalogue something; nothing where it is empty."""
        if sentence and self._tell is not None:
            self._tell(sentence)

    def _connect(self) -> None:
        self._disconnect()
        if not os.path.exists(self.path):
            from ...journal import disk

            with contextlib.suppress(FileExistsError):
                disk.write_new(self.path, ())  # with a mode of its own, which SQLite gives to its side files too
        self.connection = checked_pages.connect(str(self.path))
        self.opened_as = _identity_of(self.path)
        self.connection.set_busy_timeout(BUSY_MS)

    def _is_current(self) -> bool:
        """Whether it has our schema; then it is set up for work."""
        found = self.connection.execute("PRAGMA user_version").get
        if found != fingerprint():
            return False
        self.connection.execute(
            f"PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-{CACHE_KIB}; "
            "PRAGMA cell_size_check=1; PRAGMA wal_autocheckpoint=4000"
        )
        return True

    def remove_words(self) -> None:
        """Remove the files of the word index. The caller holds the lock.

        The folder is renamed first: a thread of a reader, in this process or in another, may be making a lock file in it
        at this very moment (tantivy does so when it notices a commit), and a folder that is not empty cannot be removed.
        """
        from ...journal import disk

        removed = self.words_folder.with_name("words.removed")
        _remove(removed)  # left by a crash
        if os.path.lexists(self.words_folder):
            disk.rename(self.words_folder, removed)
            _remove(removed)

    def _make_anew(self) -> None:
        """Throw everything away and make empty tables. The caller holds the lock."""

        self._disconnect()
        for name in (
            DATABASE,
            f"{DATABASE}-wal",
            f"{DATABASE}-shm",
            f"{DATABASE}-journal",
        ):
            _remove(self.folder / name)
        for answers in self.folder.glob(f"{self.questions_path.stem}*"):
            _remove(answers)
        self.remove_words()
        self._connect()
        db = self.connection
        checked_pages.prepare(db)
        db.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
        with self.transaction():
            for statement in statements():
                db.execute(statement)
            db.execute(f"PRAGMA user_version={fingerprint()}")
        self._is_current()

    def make_anew(self, damage: object = None) -> None:
        """Throw the whole index away and begin with an empty one; because of `damage`, which is told, or on purpose."""
        if damage is not None:
            self.say_damaged(damage)
        with self.locked():
            self._make_anew()

    @contextlib.contextmanager
    def locked(self, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Be the one writer. May be entered again by the thread that holds it; StoreBusy where another does not let go."""
        if not self._thread.acquire(timeout=seconds):
            raise _busy()
        try:
            if self._held:
                yield
                return
            release = self._take_lock(seconds)
            self._held = 1
            try:
                self._follow_replacement()
                yield
            finally:
                self._held = 0
                release()
        finally:
            self._thread.release()

    def _take_lock(self, seconds: float) -> Callable[[], None]:
        from ...journal.locks import take_lock  # not needed where nothing changed

        path = str(self.folder / LOCK)
        try:
            try:
                return take_lock(path, seconds)
            except FileNotFoundError:  # somebody removed the whole folder while it was open
                from ...journal import disk

                disk.make_folders(self.folder)
                return take_lock(path, seconds)
            except IsADirectoryError:  # no lock of ours is a folder
                _remove(self.folder / LOCK)
                return take_lock(path, seconds)
        except TimeoutError:
            raise _busy() from None

    def _follow_replacement(self) -> None:
        """Where another process made the catalogue anew, ours is a file without a name: open the new one."""
        if self.opened_as is not None and self.opened_as != _identity_of(self.path):
            try:
                self._connect()
                if self._is_current():
                    return
            except BROKEN:
                pass
            self._make_anew()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """All of it or nothing. Inside another transaction it is part of that one."""
        db = self.connection
        if db.in_transaction:
            yield db
            return
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def note(self, name: str, default: int = 0) -> int:
        """A small number about the index itself."""
        found = self.connection.execute("SELECT value FROM notes WHERE name = ?", (name,)).get
        return int(found) if found is not None else default

    def set_note(self, name: str, value: Any) -> None:
        self.connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    def home_id(self, real_root: str, *, make: bool = False) -> int | None:
        """The number of a home, by its folder with links resolved."""
        named = to_text(real_root)
        found: int | None = self.connection.execute("SELECT id FROM homes WHERE path = ?", (named,)).get
        if found is None and make:
            self.connection.execute("INSERT INTO homes(path) VALUES (?)", (named,))
            return self.connection.last_insert_rowid()
        return found

    def _disconnect(self) -> None:
        if hasattr(self, "connection"):
            self.connection.close()

    def close(self) -> None:
        self._disconnect()
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> Catalogue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _remove(path: Path) -> None:
    """Remove whatever stands at a path of the index: a folder may stand where a file should, and the other way round."""
    if os.path.lexists(path):
        from ...journal import disk

        disk.remove_tree(path)


def _busy() -> StoreBusy:
    return StoreBusy("another process is indexing", hint="try again when it is done", slug="indexing-elsewhere")


def _identity_of(path: Path) -> tuple[int, int] | None:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


class Strings:
    """Numbers of texts. Used by the one writer; a text that is new gets a row."""

    def __init__(self, db: apsw.Connection) -> None:
        self.numbers = _Numbers(db)
        """A dictionary that asks for what it does not have."""
        self.number = self.numbers.__getitem__


class _Numbers(dict[Any, "int | None"]):
    def __init__(self, db: apsw.Connection) -> None:
        super().__init__({None: None})
        self._db = db
        self._all = db.execute("SELECT 1 FROM strings LIMIT 1").get is None
        """Whether every text is here: then one that is not needs not be asked for."""

    def __missing__(self, text: str) -> int:
        found = None if self._all else self._db.execute("SELECT id FROM strings WHERE text = ?", (text,)).get
        if found is None:
            self._db.execute("INSERT INTO strings(text) VALUES (?)", (text,))
            found = self._db.last_insert_rowid()
        number = int(found)
        if len(self) > 100_000:
            self.clear()
            self._all = False
            self[None] = None
        self[text] = number
        return number


_QUESTION = """
SELECT h.path || '/' || f.path, p.size, p.ctime_ns, s.lines, s.messages, s.subagents
FROM sessions s JOIN files f ON f.id = s.file_id JOIN homes h ON h.id = f.home_id
JOIN progress p ON p.file_id = f.id AND p.stage = 'entries' AND p.offset = p.size
"""


class SessionCount(NamedTuple):
    size: int
    """Size of the file when it was counted."""
    ctime_ns: int
    lines: int
    messages: int
    subagents: int
    """Subagents inside the main file."""


def session_counts(folder: Path) -> dict[str, SessionCount]:
    """Return the counts of every session that the catalogue in this folder has read to its end, by path."""
    path = folder / DATABASE
    if not path.is_file():
        return {}
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(1000)
            if connection.execute("PRAGMA user_version").get != fingerprint():
                return {}
            return {str(row[0]): SessionCount(*row[1:]) for row in connection.execute(_QUESTION)}
        finally:
            connection.close()
    except (apsw.Error, OSError):  # damaged, or being made anew: the numbers come with the next sync
        return {}
