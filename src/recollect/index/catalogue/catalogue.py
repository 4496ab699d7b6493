"""Open the catalogue's file, lock it for its one writer, and replace it by an empty one if it is damaged or outdated.

    catalogue = Catalogue.open(own_folder("cache") / "index")
    with catalogue.locked():                # only writers need the lock
        with catalogue.transaction() as db:
            db.execute("INSERT ...")

Readers need no lock: SQLite's write-ahead log (WAL) shows them whole transactions. The catalogue is only a copy of what
the transcripts hold, so its files may be deleted at any time; the next sync builds them again.

Each page has a checksum, which is verified whenever the page is read: SQLite notices damage to the structure of its file, but
not to the values in it. So each page stores its CRC in eight bytes that SQLite reserves for extensions. The CRC includes the
page's number, so swapped pages are noticed too. The write-ahead log has checksums of its own, which SQLite verifies. Every
writing connection must be opened by `connect`: a page written without its checksum would be reported as damaged.
"""

from __future__ import annotations

import contextlib
import os
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import apsw

from ...errors import StoreBusy
from ...format.path_text import to_text
from .schema import fingerprint, statements
from .vault_transcripts import KeptTranscripts

if TYPE_CHECKING:
    import tempfile

PAGE = 16384
_SUM = 8
_NAME = "recollect-checked"
_vfs: _CheckedFiles | None = None


class _CheckedFile(apsw.VFSFile):
    """The main file of a database; SQLite's interface defines the names of the methods."""

    def xRead(self, amount: int, offset: int) -> bytes:
        data = super().xRead(amount, offset)
        if amount == PAGE and len(data) == PAGE and _sum(data, offset) != data[-_SUM:]:
            raise apsw.CorruptError(f"the page at byte {offset} is damaged")
        return data

    def xWrite(self, data: bytes, offset: int) -> None:
        if len(data) == PAGE:
            data = data[:-_SUM] + _sum(data, offset)
        super().xWrite(data, offset)


class _CheckedFiles(apsw.VFS):
    def __init__(self) -> None:
        super().__init__(_NAME, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            return _CheckedFile("", name, flags)
        return super().xOpen(name, flags)


def _sum(page: bytes, offset: int) -> bytes:
    return zlib.crc32(memoryview(page)[:-_SUM], offset // PAGE + 1).to_bytes(_SUM, "little")


def connect(path: str, flags: int = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE) -> apsw.Connection:
    """Open a connection that raises CorruptError when it reads a damaged page."""
    global _vfs
    if _vfs is None:
        _vfs = _CheckedFiles()
    return apsw.Connection(path, flags=flags, vfs=_NAME)


def prepare(db: apsw.Connection) -> None:
    """Set the page size of an empty database and reserve room for the checksum in each page."""
    import ctypes

    room = ctypes.c_int(_SUM)
    db.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(room))
    db.execute(f"PRAGMA page_size={PAGE}")


def is_damage(error: BaseException) -> bool:
    """Return whether an error means that the files of the index are damaged.

    A panic of the word index derives from BaseException only: `except Exception` does not catch it.
    """
    import apsw

    return isinstance(error, (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)) or is_panic(error)


def is_panic(error: BaseException) -> bool:
    """Return whether an error is a panic of a library written in Rust, such as the word index (tantivy)."""
    return type(error).__name__ == "PanicException"


DATABASE: Final = "catalogue.sqlite"
WORDS: Final = "words"
QUESTIONS: Final = "questions.duckdb"
LOCK: Final = "sync.lock"
LOCK_SECONDS: Final = 60.0
BUSY_MS: Final = 20_000
CACHE_KIB: Final = 16 << 10

#: What apsw raises when the file is not a database, or is a damaged one.
BROKEN: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_CANNOT_WRITE: Final = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.FullError, apsw.IOError)


class Catalogue:
    """An open catalogue: its folder, its connection to SQLite, its lock.

    `problem` is the reason why the catalogue is in a temporary folder, and empty when it is not.
    """

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
        """Transcripts in the vault; None if there is no vault."""
        self.opened_as: tuple[int, int] | None = None
        """Device and inode of the open file: another process may replace the catalogue with a new file of this name."""
        self._temporary = temporary
        self._held = 0
        self._thread = threading.RLock()

    @classmethod
    def open(cls, folder: Path, vault: Path | None = None, *, tell: Callable[[str], None] | None = None) -> Catalogue:
        """Open the catalogue in a folder, or create it there. Use a temporary folder if this folder cannot be written.

        `vault` is the folder of the vault, whose transcripts are indexed even after a home has lost them. `tell` is
        called with a sentence when the index is damaged and rebuilt, and when rows had to be left out.
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
            from ...journal import disk  # needed only to create a folder, so that opening stays fast

            disk.make_folders(self.folder)
        if self._open_what_is_there():
            return
        with self.locked():
            if not self._open_what_is_there():  # another process may have created it while this one waited
                self._make_anew()

    def _open_what_is_there(self) -> bool:
        """Open the existing catalogue. Return False if there is none, or it is damaged or has another schema."""
        if not os.path.exists(self.path):
            return False
        try:
            if os.path.isdir(self.path):
                raise apsw.NotADBError(f"{self.path} is a folder")
            self._connect()
            return self._is_current()
        except BROKEN as problem:
            if self._held:  # without the lock, the caller tries once more with it, and that attempt reports the damage
                self.say_damaged(problem)
            return False

    def say_damaged(self, problem: object) -> None:
        """Report that the index, or a part of it, is damaged and will be rebuilt."""
        self.say(f"the index was damaged ({problem}): it is built anew")

    def say(self, sentence: str) -> None:
        """Report a sentence to the opener of the catalogue; an empty sentence is not reported."""
        if sentence and self._tell is not None:
            self._tell(sentence)

    def _connect(self) -> None:
        self._disconnect()
        if not os.path.exists(self.path):
            from ...journal import disk

            with contextlib.suppress(FileExistsError):
                disk.write_new(self.path, ())  # private file mode, which SQLite copies to its -wal and -shm files
        self.connection = connect(str(self.path))
        self.opened_as = _identity_of(self.path)
        self.connection.set_busy_timeout(BUSY_MS)

    def _is_current(self) -> bool:
        """Return whether the open file has this version's schema, and if so configure the connection."""
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

        The folder is renamed first: a reader's thread, in this process or in another, may create a lock file in it
        meanwhile (tantivy does so when it notices a commit), and a folder that is not empty cannot be removed.
        """
        from ...journal import disk

        removed = self.words_folder.with_name("words.removed")
        _remove(removed)  # left by a crash
        if os.path.lexists(self.words_folder):
            disk.rename(self.words_folder, removed)
            _remove(removed)

    def _make_anew(self) -> None:
        """Delete the whole index and create empty tables. The caller holds the lock."""

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
        prepare(db)
        db.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL")
        with self.transaction():
            for statement in statements():
                db.execute(statement)
            db.execute(f"PRAGMA user_version={fingerprint()}")
        self._is_current()

    def make_anew(self, damage: object = None) -> None:
        """Delete the whole index and begin with an empty one. The reason, if it is `damage`, is reported."""
        if damage is not None:
            self.say_damaged(damage)
        with self.locked():
            self._make_anew()

    @contextlib.contextmanager
    def locked(self, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Hold the lock of the one writer; a thread that holds the lock may enter again.

        Raises StoreBusy if another process or thread still holds the lock after `seconds`.
        """
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
        from ...journal.locks import take_lock  # imported here: a sync that finds no change needs no lock

        path = str(self.folder / LOCK)
        try:
            try:
                return take_lock(path, seconds)
            except FileNotFoundError:  # the whole folder was removed while the catalogue was open
                from ...journal import disk

                disk.make_folders(self.folder)
                return take_lock(path, seconds)
            except IsADirectoryError:  # Recollect never makes a folder of this name
                _remove(self.folder / LOCK)
                return take_lock(path, seconds)
        except TimeoutError:
            raise _busy() from None

    def _follow_replacement(self) -> None:
        """Open the new file if another process has replaced the catalogue since this one opened it."""
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
        """Run a transaction: committed as a whole, or rolled back on an error. A nested one joins the outer one."""
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
        """Return a number from the table `notes`, which holds facts about the index itself."""
        found = self.connection.execute("SELECT value FROM notes WHERE name = ?", (name,)).get
        return int(found) if found is not None else default

    def set_note(self, name: str, value: Any) -> None:
        self.connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    def home_id(self, real_root: str, *, make: bool = False) -> int | None:
        """Return the id of a home, by its folder with links resolved. With `make`, insert a home that has no id."""
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
    """Remove a file or a folder of the index: a folder may stand where a file is expected, and the other way round."""
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
    """Map texts to their ids in the table `strings`. Used by the one writer only: a new text gets a row."""

    def __init__(self, db: apsw.Connection) -> None:
        self.numbers = _Numbers(db)
        """A dictionary that looks up a missing text in the database."""
        self.number = self.numbers.__getitem__


class _Numbers(dict[Any, "int | None"]):
    def __init__(self, db: apsw.Connection) -> None:
        super().__init__({None: None})
        self._db = db
        self._all = db.execute("SELECT 1 FROM strings LIMIT 1").get is None
        """Whether the dictionary holds every text of the table: then a missing text is new, and no query is needed."""

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
    """Size of the file when its lines were counted."""
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
    except (apsw.Error, OSError):  # damaged, or being rebuilt: the numbers come with the next sync
        return {}
