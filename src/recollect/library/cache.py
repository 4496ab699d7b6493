"""A cache bounded by bytes that drops what was used longest ago. Several threads may use it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class ByteBoundCache(Generic[T]):
    """Values by key, each with an estimated size. A value larger than the limit is not stored."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.weight = 0
        self._items: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """Return the value of a key; None if the cache does not have it."""
        with self._lock:
            found = self._items.get(key)
            if found is None:
                return None
            self._items.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: T, weight: int) -> None:
        """Store a value of `weight` bytes, replacing an older one of the same key."""
        with self._lock:
            old = self._items.pop(key, None)
            self.weight -= 0 if old is None else old[1]
            if weight > self.limit:
                return
            self._items[key] = (value, weight)
            self.weight += weight
            while self.weight > self.limit:
                _, (_, freed) = self._items.popitem(last=False)
                self.weight -= freed

    def __len__(self) -> int:
        return len(self._items)
