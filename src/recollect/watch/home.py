"""Keep track of the transcripts of one home: which exist, which changed, and where they were moved."""

from __future__ import annotations

import contextlib
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from ..errors import RecollectError
from ..store.home import Home
from ..store.layout import SUBAGENTS
from .events import SessionEvent
from .lines import FollowedFile, FoundFolder, Known, Place, holds_transcripts, identity_of, parts_below, place_of, walk
from .story import Story

_FOLLOWED: Final = 256
_FOLLOWED_LINES: Final = 2_000_000
"""How many files are followed closely, and how many of their lines remembered. Of all others only size and time are kept."""
_VANISHED: Final = 4096
_YOUNG_NS: Final = 100_000_000
"""A folder changed so shortly ago may change again without a newer time."""
_HOT_SECONDS: Final = 600.0
_HOT: Final = 256
_READY: Final = 16


class _Followed(NamedTuple):
    file: FollowedFile
    story: Story


class Visit(NamedTuple):
    events: list[SessionEvent]
    more: bool = False


_NOTHING: Final = Visit([])


class WatchedHome:
    """Knows every transcript of a home. `wants` says which to follow; with `from_start`, their lines count as new."""

    def __init__(
        self,
        home: Home,
        *,
        wants: Callable[[Place], bool],
        announce: Callable[[str], bool],
        from_start: bool = False,
    ) -> None:
        self.home = home
        self.root = str(home.projects)
        self.queue: dict[str, None] = {}
        """Files to visit, in order."""
        self.folders: dict[str, int] = {}
        self.known: dict[str, Known] = {}
        """Every transcript, as it was at the last visit."""
        self.hot: OrderedDict[str, float] = OrderedDict()
        """Files that changed lately, with the moment: likely to change again."""
        self._wants = wants
        self._announce = announce
        self._followed: OrderedDict[str, _Followed] = OrderedDict()
        self._path_by_identity: dict[int, str] = {}
        self._path_by_key: dict[str, str] = {}
        self._vanished: OrderedDict[str, None] = OrderedDict()
        self._real_root = os.path.join(home.real_root, "projects")
        self._take_stock(from_start)

    def _take_stock(self, from_start: bool) -> None:
        now = time.time()
        recent: list[tuple[int, str]] = []
        for found in walk(self.home, self.root):
            if isinstance(found, FoundFolder):
                self._note_folder(found)
            elif self._wants(found.place):
                if from_start:
                    self.queue[found.path] = None
                    continue
                self._note(found.path, found.place, Known(found.identity, found.size, found.mtime_ns))
                if now - found.mtime_ns / 1e9 < _HOT_SECONDS:
                    recent.append((found.mtime_ns, found.path))
        for _, path in sorted(recent)[-_HOT:]:
            self.hot[path] = time.monotonic()
        for _, path in sorted(recent)[-_READY:]:
            self._get_ready(path)

    def _get_ready(self, path: str) -> None:
        """Follow a file that is likely to change before it does, so that a rewrite of it is recognised."""
        place = self._place(path)
        if place is not None:
            followed = self._follow(path, place, self.known[path])
            with contextlib.suppress(RecollectError, OSError):
                followed.file.get_ready()

    # --- where to look -----------------------------------------------------------------------------------------------

    def hint(self, path: str) -> None:
        """Take note of a path that may have changed."""
        parts = parts_below(self.root, path)
        if parts is None:
            parts = parts_below(self._real_root, path)  # some systems tell the path with all links resolved
            if parts is None:
                return
            path = os.path.join(self.root, *parts)
        if not parts:
            return
        place = place_of(parts)
        if place is not None:
            if self._wants(place):
                self.queue[path] = None
        elif holds_transcripts(parts) and os.path.isdir(path):
            self.folders.pop(path, None)
            self.explore(path)

    def explore(self, folder: str) -> None:
        """Queue the files in a folder that are new or have changed."""
        for found in walk(self.home, folder, self.folders):
            if isinstance(found, FoundFolder):
                self._note_folder(found)
            elif self._wants(found.place) and self.known.get(found.path) != (
                found.identity,
                found.size,
                found.mtime_ns,
            ):
                self.queue[found.path] = None

    def _note_folder(self, found: FoundFolder) -> None:
        is_young = time.time_ns() - found.mtime_ns < _YOUNG_NS
        self.folders[found.path] = 0 if is_young else found.mtime_ns

    def check(self, path: str) -> None:
        """Compare a file or folder with what is known of it."""
        try:
            info = os.stat(path)
        except OSError:
            if path in self.known:
                self._vanish(path)
            else:
                self.folders.pop(path, None)
            return
        if path in self.known:
            if self.known[path] != (identity_of(info), info.st_size, info.st_mtime_ns):
                self.queue[path] = None
        elif self.folders.get(path) != info.st_mtime_ns:
            self.explore(path)

    def hot_places(self) -> list[str]:
        """Return the files that changed lately, and the folders where new ones may appear."""
        limit = time.monotonic() - _HOT_SECONDS
        while self.hot and (len(self.hot) > _HOT or next(iter(self.hot.values())) < limit):
            self.hot.popitem(last=False)
        folders = {self.root: None}
        for path in self.hot:
            start = path.removesuffix(".jsonl")
            for folder in (os.path.dirname(path), start, os.path.join(start, SUBAGENTS)):
                if folder in self.folders:
                    folders[folder] = None
        return [*folders, *self.hot]

    def is_followed(self, path: str) -> bool:
        """Whether the lines of a file are known, so that a rewrite of it is recognised."""
        return path in self._followed

    def paths_of(self, session_id: str) -> list[str]:
        """Return the transcripts of a session that are followed or wait for a visit, the main one first."""
        own = self._path_by_key.get(Place(session_id).key)
        found = dict.fromkeys([own] if own is not None else [])
        found.update((path, None) for path, item in self._followed.items() if item.story.session_id == session_id)
        for path in self.queue:
            if (place := self._place(path)) is not None and place.session_id == session_id:
                found[path] = None
        return list(found)

    def _place(self, path: str) -> Place | None:
        return place_of(parts_below(self.root, path) or ())

    # --- one file ----------------------------------------------------------------------------------------------------

    def visit(self, path: str) -> Visit:
        """Read the new lines of a file. A file that cannot be read is tried again when it changes."""
        place = self._place(path)
        if place is None:
            return _NOTHING
        try:
            info = os.stat(path)
        except OSError:
            self._vanish(path)
            return _NOTHING
        stat = Known(identity_of(info), info.st_size, info.st_mtime_ns)
        followed = self._followed.get(path)
        if followed is None:
            if self.known.get(path) == stat:
                return _NOTHING
            followed = self._follow(path, place, stat)
        self._followed.move_to_end(path)
        try:
            look = followed.file.look()
        except (RecollectError, OSError):
            return _NOTHING
        self._note(path, place, Known(*followed.file.seen))
        self._vanished.pop(path, None)
        self.hot[path] = time.monotonic()
        self.hot.move_to_end(path)
        if followed.file.context:
            followed.story.recall(followed.file.context)
            followed.file.context.clear()
        events = list(followed.story.tell(look))
        self._shorten()
        return Visit(events, look.more)

    def _follow(self, path: str, place: Place, stat: Known) -> _Followed:
        """Begin to follow a file, whether it was known, was moved here, exists elsewhere as well, or is new."""
        known = self.known.get(path)
        other = self._moved_from(path, place, stat) if known is None else None
        if other is not None:
            before = self._followed.get(other)
            is_gone = not os.path.lexists(other)
            known = before.file.known if before is not None else self.known[other]
            if is_gone:
                self._drop(other)
                if before is not None and before.story.place.key == place.key:
                    before.file.path = before.story.path = path
                    self._followed[path] = before
                    return before
        story = Story(self.home, path, place, is_new=known is None, announce=self._announce)
        self._followed[path] = followed = _Followed(FollowedFile(self.home, path, known), story)
        return followed

    def _moved_from(self, path: str, place: Place, stat: Known) -> str | None:
        """Return the earlier path of a file that is new here: the same file, or the same transcript; None if there is none."""
        same = self._path_by_identity.get(stat.identity) if stat.identity else None
        # The number of a deleted file may be given to a new one: only an unchanged file is the same under another name.
        if same is not None and same != path and self.known[same] == stat:
            return same
        return self._path_by_key.get(place.key)

    def _note(self, path: str, place: Place, known: Known) -> None:
        before = self.known.get(path)
        if (
            before is not None
            and before.identity != known.identity
            and self._path_by_identity.get(before.identity) == path
        ):
            del self._path_by_identity[before.identity]
        self.known[path] = known
        if known.identity:
            self._path_by_identity[known.identity] = path
        self._path_by_key[place.key] = path

    def _vanish(self, path: str) -> None:
        """Note that a file is gone. It is remembered for a while, since it may come back, here or elsewhere."""
        if path not in self.known:
            self._drop(path)
            return
        self._vanished[path] = None
        self._vanished.move_to_end(path)
        self.hot.pop(path, None)
        while len(self._vanished) > _VANISHED:
            self._drop(self._vanished.popitem(last=False)[0])

    def _drop(self, path: str) -> None:
        known = self.known.pop(path, None)
        if known is not None and self._path_by_identity.get(known.identity) == path:
            del self._path_by_identity[known.identity]
        if (place := self._place(path)) is not None and self._path_by_key.get(place.key) == path:
            del self._path_by_key[place.key]
        self._followed.pop(path, None)
        self._vanished.pop(path, None)
        self.hot.pop(path, None)

    def _shorten(self) -> None:
        """Stop following the files that have not changed for the longest time."""
        weight = sum(item.file.weight for item in self._followed.values())
        while len(self._followed) > 1 and (len(self._followed) > _FOLLOWED or weight > _FOLLOWED_LINES):
            path, item = self._followed.popitem(last=False)
            weight -= item.file.weight
            self.known[path] = item.file.known
