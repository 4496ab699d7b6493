"""Does the vault still have what it says it has? Sizes at every look, and in the background the bytes, a part at a time.

    vault/checked       how the packs were left, which block is read next, which blocks could not be read; a line of JSON
                        and its SHA-256. Nothing is lost with it: without it the reading begins anew

A pack that is shorter than the manifest says has lost blocks. One that looks other than it was left, though not shorter, is
read at once. Besides, every keep that comes `STEP` after the last one reads on where that ended: as much as the time since
then is of `CYCLE`, so that every block is read once in 30 days if something is kept every few days at least.
"""

from __future__ import annotations

import bisect
import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from .blocks import BadBlock, pack_numbers, read_block
from .contents import LOST, Contents
from .notes import read_note, write_note
from .records import Piece
from .seen import CHECKED, STEP
from .vault import Vault

CYCLE: Final = 20 * 86_400.0
LEAST: Final = 4 << 20
"""Bytes that are read at least when it is time to."""
AT_ONCE: Final = 256 << 20
"""Bytes of packs that look other than they were left which are read at one time; the rest is read the next time."""

_Look = tuple[int, int]
"""Size and mtime_ns of a file."""


class State(Struct):
    """What `checked` says."""

    time: float | None = None
    """When the last part was read."""
    following: int = 0
    """The block that is read next."""
    begun: float | None = None
    """When the reading of all blocks last began with the first one."""
    read_since: float | None = None
    """Since then, every block was read."""
    era: int = 0
    manifest: _Look | None = None
    packs: dict[str, _Look] = {}
    """How they were left."""
    bad: list[int] = []
    """Blocks that could not be read."""


def read_state(vault: Vault) -> State:
    return read_note(vault.folder / CHECKED, State) or State()


def is_as_left(vault: Vault) -> bool:
    """Whether the last keep found nothing wrong and everything looks as it did then. Reads no manifest."""
    state = read_state(vault)
    return (
        state.time is not None
        and not state.bad
        and state.packs == _packs(vault)
        and state.manifest == _look(vault.manifest_path)
    )


def lost_blocks(vault: Vault) -> set[int]:
    """Blocks that files need and that cannot be read any more, as far as it can be told quickly. Changes nothing."""
    return _find_lost(vault, _state_of(vault), used_blocks(vault.contents))[0]


def pieces_in_use(contents: Contents) -> Iterator[Piece]:
    for file in contents.files.values():
        for generation in file.generations.values():
            yield from generation.pieces


def used_blocks(contents: Contents) -> set[int]:
    return {piece.block for piece in pieces_in_use(contents)}


def files_with(contents: Contents, blocks: set[int]) -> list[str]:
    """Kept files of which something is in one of these blocks."""
    if not blocks:
        return []
    return sorted(
        {
            file.path
            for file in contents.files.values()
            if any(piece.block in blocks for part in file.generations.values() for piece in part.pieces)
        }
    )


class Checkup:
    """What a keep looks at before it adds to a vault, and notes when it is done. Use with the lock held."""

    def __init__(self, vault: Vault, now: float) -> None:
        self._vault = vault
        self._now = now
        self._state = _state_of(vault)
        self._not_yet: set[str] = set()

    def run(self, *, everything: bool = False) -> set[int]:
        """Blocks in use that cannot be read. Reads the part of the vault that is due; with `everything`, all of it."""
        vault, state, now = self._vault, self._state, self._now
        used = used_blocks(vault.contents)
        if everything:
            state.time = state.begun = state.read_since = now
            state.following = 0
            return unreadable(vault, sorted(used))
        lost, self._not_yet = _find_lost(vault, state, used)
        if state.time is None or not 0 <= now - state.time < STEP:  # also where the clock went backwards
            lost |= self._read_on(used - lost)
        return lost

    @property
    def is_done(self) -> bool:
        """Whether every pack that looked other than it was left was read."""
        return not self._not_yet

    def _read_on(self, blocks: set[int]) -> set[int]:
        state, now, places = self._state, self._now, self._vault.contents.blocks
        elapsed = STEP if state.time is None else min(max(now - state.time, 0.0), CYCLE)
        budget = max(sum(places[number].size for number in blocks) * elapsed / CYCLE, LEAST)
        order = sorted(blocks)
        first = bisect.bisect_left(order, state.following) % max(len(order), 1)
        chosen: list[int] = []
        state.begun = now if state.begun is None else state.begun
        for number in (*order[first:], *order[:first]):
            if budget <= 0:
                break
            budget -= places[number].size
            chosen.append(number)
            if number == order[-1]:
                state.read_since, state.begun = state.begun, now
        state.following = chosen[-1] + 1 if chosen else 0
        state.time = now
        return unreadable(self._vault, chosen)

    def write(self, lost: Iterable[int]) -> None:
        """Note how the vault is left; without that, only more is read the next time."""
        vault, state = self._vault, self._state
        state.packs = {name: look for name, look in _packs(vault).items() if name not in self._not_yet}
        state.manifest, state.bad, state.era = _look(vault.manifest_path), sorted(lost), vault.contents.era
        if state == read_state(vault):
            return
        with contextlib.suppress(OSError):
            write_note(vault.folder / CHECKED, state)


def unreadable(vault: Vault, blocks: Iterable[int]) -> set[int]:
    """Those that cannot be read, or have another hash than they had."""
    bad: set[int] = set()
    for number in blocks:
        place = vault.contents.blocks.get(number)
        try:
            if place is None:
                raise BadBlock("is lost")
            with open(vault.pack_path(place.pack), "rb") as stream:
                read_block(stream, place.offset, place.size)
        except (BadBlock, OSError):
            bad.add(number)
    return bad


def _state_of(vault: Vault) -> State:
    state = read_state(vault)
    if state.era != vault.contents.era:  # a compaction stored everything anew, and read it back
        return State(era=vault.contents.era)
    return state


def _find_lost(vault: Vault, state: State, used: set[int]) -> tuple[set[int], set[str]]:
    """Blocks that are lost by the size of their pack, or found bad; and packs that are to be read the next time."""
    sizes = {int(name[:8]): look[0] for name, look in _packs(vault).items()}
    lost, there = {LOST} & used, []
    for number in used - lost:
        place = vault.contents.blocks.get(number)
        if place is None or place.offset + place.size > sizes.get(place.pack, 0):
            lost.add(number)
        else:
            there.append(number)
    changed = _changed(vault, state)
    room, not_yet = AT_ONCE, set()
    for name in sorted(changed):
        if room <= 0:
            not_yet.add(name)
        room -= sizes[int(name[:8])]
    suspects = {int(name[:8]) for name in changed - not_yet}
    known = set(state.bad)
    lost |= unreadable(vault, (n for n in sorted(there) if n in known or vault.contents.blocks[n].pack in suspects))
    return lost, not_yet


def _changed(vault: Vault, state: State) -> set[str]:
    """Packs that do not look as they were left. Of a vault that nobody noted anything of, none."""
    return {name for name, look in _packs(vault).items() if state.packs and state.packs.get(name) != look}


def _packs(vault: Vault) -> dict[str, _Look]:
    found: dict[str, _Look] = {}
    for number in pack_numbers(vault.packs):
        path = vault.pack_path(number)
        look = _look(path)
        if look is not None:
            found[path.name] = look
    return found


def _look(path: Path) -> _Look | None:
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_size, info.st_mtime_ns
