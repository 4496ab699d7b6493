"""Check that the vault can still read what it holds: sizes at every keep, and the bytes a part at a time.

    vault/checked       stamps of the packs, the block to read next, and the blocks that could not be read; a line of JSON
                        and its SHA-256. If it is lost, the reading only starts over

A pack that is shorter than the manifest says has lost blocks. A pack that changed since the last keep without becoming
shorter is read at once. Besides, a keep that runs `STEP` or more after the last reading continues it: it reads the
share of the vault that the elapsed time is of `CYCLE`, so that every block is read once in 30 days if something is kept
every few days at least.
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
from .manifest import LOST, Contents, Piece, read_note, write_note
from .selection import CHECKED, STEP
from .vault import Vault

CYCLE: Final = 20 * 86_400.0
LEAST: Final = 4 << 20
"""How many bytes are read at least when a part is due."""
AT_ONCE: Final = 256 << 20
"""How many bytes of changed packs are read in one keep; the rest is read by the next one."""

_Look = tuple[int, int]
"""Size and mtime_ns of a file."""


class State(Struct):
    """The content of `checked`."""

    time: float | None = None
    """When the last part was read."""
    following: int = 0
    """The block to read next."""
    begun: float | None = None
    """When the current round through all blocks began."""
    read_since: float | None = None
    """Every block was read since then."""
    era: int = 0
    manifest: _Look | None = None
    packs: dict[str, _Look] = {}
    """Size and time of each pack after the last keep."""
    bad: list[int] = []
    """Blocks that could not be read."""


def read_state(vault: Vault) -> State:
    return read_note(vault.folder / CHECKED, State) or State()


def is_as_left(vault: Vault) -> bool:
    """Return whether the last keep found no damage and the vault is unchanged since. Does not read the manifest."""
    state = read_state(vault)
    return (
        state.time is not None
        and not state.bad
        and state.packs == _packs(vault)
        and state.manifest == _look(vault.manifest_path)
    )


def lost_blocks(vault: Vault) -> set[int]:
    """Return the blocks in use that cannot be read, as far as a quick check finds them. Changes nothing."""
    return _find_lost(vault, _state_of(vault), used_blocks(vault.contents))[0]


def pieces_in_use(contents: Contents) -> Iterator[Piece]:
    for file in contents.files.values():
        for generation in file.generations.values():
            yield from generation.pieces


def used_blocks(contents: Contents) -> set[int]:
    return {piece.block for piece in pieces_in_use(contents)}


def files_with(contents: Contents, blocks: set[int]) -> list[str]:
    """Return the kept files that use one of these blocks."""
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
    """Checks a vault before a keep adds to it, and records the result afterwards. Use with the lock held."""

    def __init__(self, vault: Vault, now: float) -> None:
        self._vault = vault
        self._now = now
        self._state = _state_of(vault)
        self._not_yet: set[str] = set()

    def run(self, *, everything: bool = False) -> set[int]:
        """Return the blocks in use that cannot be read. Reads the part of the vault that is due, or `everything`."""
        vault, state, now = self._vault, self._state, self._now
        used = used_blocks(vault.contents)
        if everything:
            state.time = state.begun = state.read_since = now
            state.following = 0
            return unreadable(vault, sorted(used))
        lost, self._not_yet = _find_lost(vault, state, used)
        if state.time is None or not 0 <= now - state.time < STEP:  # also if the clock went backwards
            lost |= self._read_on(used - lost)
        return lost

    @property
    def is_done(self) -> bool:
        """Whether every changed pack was read."""
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
        """Write the state of the vault. If that fails, the next keep only reads more."""
        vault, state = self._vault, self._state
        state.packs = {name: look for name, look in _packs(vault).items() if name not in self._not_yet}
        state.manifest, state.bad, state.era = _look(vault.manifest_path), sorted(lost), vault.contents.era
        if state == read_state(vault):
            return
        with contextlib.suppress(OSError):
            write_note(vault.folder / CHECKED, state)


def unreadable(vault: Vault, blocks: Iterable[int]) -> set[int]:
    """Return the blocks that cannot be read or have another hash than recorded."""
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
    if state.era != vault.contents.era:  # a compaction rewrote everything, and read it back
        return State(era=vault.contents.era)
    return state


def _find_lost(vault: Vault, state: State, used: set[int]) -> tuple[set[int], set[str]]:
    """Return the blocks that are beyond the end of their pack or found bad, and the packs to read at the next keep."""
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
    """Return the packs that changed since the last keep; none if no state was written yet."""
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
