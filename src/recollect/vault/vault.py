"""Open a vault: a folder of packs and a manifest. Reading needs no lock; one process at a time adds to it.

    vault/format            `recollect vault 1` and the SHA-256 of that
    vault/manifest          see manifest.py
    vault/packs/00000001.pack ...   see blocks.py
    vault/compacting        only while it is compacted (compact.py)
    vault/checked           which part was last read, and when (health.py)
    vault/machine           the machine that writes here: a folder synchronised between two would lose what one writes

A commit is appended to the pack and synced, then written into the manifest and synced: from then on it is acknowledged.
After a crash, the next capture completes or cuts off what follows a pack's last commit (writer.py).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import platform
import sys
from collections import OrderedDict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

from msgspec import Struct

from ..errors import DamagedData, Refused, StoreBusy
from ..journal import disk
from ..journal import locks as presence
from .blocks import DATA, MAGIC, BadBlock, decompress, pack_name, pack_numbers, read_block
from .manifest import LOST, Contents, KeptFile, Manifest, Piece, Place, Snapshot, read_manifest, read_note, write_note

VERSION: Final = 1
LOCK_SECONDS: Final = 30.0
_BLOCKS_AT_HAND: Final = 8
MACHINE: Final = "machine"


class Machine(Struct):
    """The content of the file `machine`."""

    id: str
    name: str


def format_mark(version: int = VERSION) -> bytes:
    """Return the content of the file `format`. Its hash keeps a flipped bit from looking like a future version."""
    words = b"recollect vault %d\n" % version
    return words + hashlib.sha256(words).hexdigest().encode() + b"\n"


def read_format(folder: Path) -> int | None:
    """Return the format of a vault; None if its mark is missing or damaged (the packs hold the version, too)."""
    try:
        mark = (folder / "format").read_bytes()
    except OSError:
        return None
    version = mark.partition(b"\n")[0].removeprefix(b"recollect vault ")
    return int(version) if version.isdigit() and len(version) <= 18 and mark == format_mark(int(version)) else None


def write_format(folder: Path, version: int) -> None:
    disk.remove_if_there(folder / "format.new")
    disk.write_new(folder / "format.new", [format_mark(version)])
    disk.replace(folder / "format.new", folder / "format")


def _format_of_packs(packs: Path) -> int | None:
    """Return the format version in the newest pack's first line; None if there is none."""
    for number in pack_numbers(packs)[-1:]:
        try:
            with open(packs / pack_name(number), "rb") as stream:
                version = stream.readline(64).removeprefix(b"recollect pack ").removesuffix(b"\n")
        except OSError:
            continue
        if version.isdigit() and int(version):
            return int(version)
    return None


class Vault:
    """A vault at a folder, which need not exist yet."""

    def __init__(self, folder: Path, *, lock_seconds: float = LOCK_SECONDS) -> None:
        self.folder = folder
        self.packs = folder / "packs"
        self.compacting = folder / "compacting"
        self.manifest_path = folder / "manifest"
        self.lock_seconds = lock_seconds
        self._unpacked: OrderedDict[int, bytes] = OrderedDict()

    # --- what is there ------------------------------------------------------------------------------------------------

    @property
    def exists(self) -> bool:
        return self.manifest_path.exists() or (self.folder / "format").exists()

    def check_format(self) -> None:
        """Raise Refused if a newer Recollect made the vault."""
        version = read_format(self.folder) or _format_of_packs(self.packs)
        if version is not None and version > VERSION:
            raise Refused(
                f"the vault at {self.folder} has format {version}, which this Recollect does not know",
                hint="use a newer Recollect", slug="vault-from-the-future",
            )  # fmt: skip

    @cached_property
    def manifest(self) -> Manifest:
        self.check_format()
        try:
            return read_manifest(self.manifest_path)
        except OSError as problem:
            raise DamagedData(f"cannot read {self.manifest_path}: {problem}", slug="vault-damaged") from problem

    @cached_property
    def contents(self) -> Contents:
        """The contents according to the commits. Damaged lines of the manifest are replaced from the packs."""
        manifest = self.manifest
        commits = manifest.commits
        if not manifest.is_whole or manifest.torn or (self.packs.is_dir() and not commits):
            from .writer import commits_that_miss

            where = None if not manifest.is_whole or not commits else pack_numbers(self.packs)[-2:]
            found = commits_that_miss(self.packs, manifest, where)
            commits = sorted([*commits, *found], key=lambda item: item[0].number)
        contents = Contents()
        for commit, _ in commits:
            contents.apply(commit)
        return contents

    def refresh(self) -> None:
        """Forget what was read, after something was added."""
        self.__dict__.pop("manifest", None)
        self.__dict__.pop("contents", None)
        self._unpacked.clear()  # a compaction renumbers the blocks

    def compacted(self, file: KeptFile) -> KeptFile | None:
        """Return the file as it is stored now, if a compaction rewrote the vault since it was read; None if none did.

        A compaction may give every block the number that it had: then only the packs differ.
        """
        before = self.contents.blocks
        self.refresh()
        now = self.contents.files.get((file.home, file.path))
        if now is None:
            return None
        if all(now.generations.get(number) == generation for number, generation in file.generations.items()) and all(
            self.contents.blocks.get(piece.block) == before.get(piece.block)
            for generation in file.generations.values()
            for piece in generation.pieces
        ):
            return None
        return now

    # --- bytes --------------------------------------------------------------------------------------------------------

    def pack_path(self, number: int) -> Path:
        return self.packs / pack_name(number)

    def unpacked(self, block: int) -> bytes:
        """Return the bytes of a block. Raises BadBlock."""
        known = self._unpacked.get(block)
        if known is not None:
            self._unpacked.move_to_end(block)
            return known
        place = self.contents.blocks.get(block)
        if place is None:
            raise BadBlock("is lost")
        raw = self._unpack(place)
        self._unpacked[block] = raw
        if len(self._unpacked) > _BLOCKS_AT_HAND:
            self._unpacked.popitem(last=False)
        return raw

    def _unpack(self, place: Place) -> bytes:
        try:
            with open(self.pack_path(place.pack), "rb") as stream:
                stored = read_block(stream, place.offset, place.size)
        except OSError as problem:
            raise BadBlock(f"cannot be read: {problem.strerror or problem}") from problem
        if stored.kind != DATA:
            raise BadBlock("is of another kind")
        try:
            return decompress(stored.payload, place.raw)
        except ValueError as problem:
            raise BadBlock(str(problem)) from problem

    def piece(self, piece: Piece) -> bytes:
        """Return the bytes of a piece after checking their hash. Raises BadBlock."""
        if piece.block == LOST:
            raise BadBlock("is lost")
        raw = self.unpacked(piece.block)
        data = raw[piece.start : piece.start + piece.length]
        if hashlib.sha256(data).digest() != piece.sha256:
            raise BadBlock("holds other bytes than were kept")
        return data

    def chunks(self, file: KeptFile, look: Snapshot | None = None) -> Iterator[bytes]:
        """Yield the bytes of a file's snapshot. Raises DamagedData with the block's name at the first damaged block."""
        look = file.last if look is None else look
        position = 0
        pieces = file.pieces(look)
        while (found := next(pieces, None)) is not None:
            offset, piece = found
            if offset + piece.length <= position:
                continue
            try:
                data = self.piece(piece)
            except BadBlock as problem:
                place = f"bytes {offset:,} to {offset + piece.length:,}: {self.name_of(piece.block)} {problem}"
                elsewhere = self.compacted(file)
                if elsewhere is None:
                    raise DamagedData(
                        f"{file.path}, {place}",
                        hint="`recollect verify` tells all that is damaged", slug="vault-damaged",
                    ) from problem  # fmt: skip
                file, pieces = elsewhere, elsewhere.pieces(look)
                continue
            part = data[position - offset : look.size - offset]
            yield part
            position += len(part)

    def name_of(self, block: int) -> str:
        """Return the name of a block for messages."""
        place = self.contents.blocks.get(block)
        if place is None:
            return "a block that is lost"
        return f"block {block} ({pack_name(place.pack)} at byte {place.offset:,})"

    # --- adding -------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the vault's lock: one process at a time. Raises StoreBusy."""
        locks = self.folder.parent / "locks"
        try:
            disk.make_folders(locks)
            lock = presence.take_lock(str(locks / "vault.lock"), self.lock_seconds)
        except TimeoutError as problem:
            raise StoreBusy(
                "another Recollect process is keeping", slug="locked",
                hint=f"waited {self.lock_seconds:g} s; try again when it is done",
            ) from problem  # fmt: skip
        except OSError as problem:
            raise disk.explain(problem, locks) from problem
        try:
            self._refuse_another_machine()
            yield
        finally:
            lock()

    @property
    def other_machine(self) -> str | None:
        """The name of the machine that writes here; None if it is this one, or if that cannot be told."""
        owner = read_note(self.folder / MACHINE, Machine)
        own = None if owner is None else machine_id()
        return owner.name if owner is not None and own is not None and owner.id != own else None

    def _refuse_another_machine(self) -> None:
        """Raise Refused if another machine writes here.

        Two machines that synchronise the folder would overwrite each other's commits.
        """
        if self.other_machine is not None:
            raise Refused(
                f"the vault at {self.folder} is kept by another machine, {self.other_machine}",
                slug="vault-of-another-machine",
                hint="give this machine a folder of its own (RECOLLECT_DATA_DIR); where the other one no longer keeps "
                "here, `recollect keep --take-over`",
            )  # fmt: skip

    def take_over(self) -> None:
        """Make this machine the owner of the vault. Call only if the other machine no longer writes to it."""
        own = machine_id()
        try:
            if self.exists and own is not None:
                write_note(self.folder / MACHINE, Machine(own, machine_name()))
        except OSError as problem:
            raise disk.explain(problem, self.folder) from problem

    def make(self) -> None:
        """Create the folders and the format mark if they are missing. Call with the lock held."""
        if not self.packs.is_dir():
            for folder in (self.folder.parent, self.folder, self.packs):  # one by one: all of them private
                disk.make_folders(folder)
            disk.sync_folder(self.folder)
        if read_format(self.folder) is None:
            write_format(self.folder, VERSION)
        if read_note(self.folder / MACHINE, Machine) is None:
            self.take_over()

    def begin_pack(self, number: int) -> None:
        disk.write_new(self.pack_path(number), [MAGIC])
        disk.sync_folder(self.packs)

    def stored_bytes(self) -> int:
        """Return the size of the vault on disk."""
        total = 0
        for folder in (self.folder, self.packs):
            with contextlib.suppress(OSError):
                total += sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
        return total


# Identify this machine, by the id that the system got when it was installed. Only a hash of that id is stored.

_ID_FILES: Final = ("/etc/machine-id", "/var/lib/dbus/machine-id")


@functools.cache
def machine_id() -> str | None:
    """Return a hash of the system's own id; None if the system has none (most containers)."""
    system_id = _system_id()
    return None if not system_id else hashlib.sha256(f"recollect {system_id}".encode()).hexdigest()[:32]


def machine_name() -> str:
    """Return the host name, for messages."""
    return platform.node() or "a machine without a name"


def _system_id() -> str | None:
    try:
        if sys.platform == "darwin":
            return _mac_id()
        if sys.platform == "win32":
            import winreg

            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, r"SOFTWARE\Microsoft\Cryptography") as key:
                return str(winreg.QueryValueEx(key, "MachineGuid")[0])
        for name in _ID_FILES:
            path = Path(name)
            if path.is_file() and (ident := path.read_text("ascii").strip()):
                return ident
    except (OSError, ValueError):
        pass
    return None


def _mac_id() -> str | None:
    import ctypes

    found = (ctypes.c_ubyte * 16)()
    wait = (ctypes.c_long * 2)(1, 0)
    library = ctypes.CDLL(None)
    return bytes(found).hex() if library.gethostuuid(found, wait) == 0 else None
