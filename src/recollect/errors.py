"""Every error Recollect raises, on one page.

    RecollectError            70  a bug, or an error without a better name
    +-- NotFound               3  no such session, subagent, message, project or file
    +-- DamagedData            4  the data is there but cannot be used for what was asked
    +-- StoreBusy              5  somebody else holds the lock, or the session is running
    +-- Refused                6  asked for something that is not safe, or outside the home
    +-- QueryError             7  a query that cannot be understood
    +-- Unavailable            8  this ability is not there (yet, or on this machine)

Bad *data* is never an exception: it is a value (`recollect.format.line.Damage`) with its place.
An error carries its own sentence, a hint what to do, a slug that leads to docs/messages.md, and the exit code.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes a good part of the time that a search has
if TYPE_CHECKING:
    from typing import ClassVar


class RecollectError(Exception):
    """Base of all errors that are meant for a person to read."""

    exit_code: ClassVar[int] = 70
    default_slug: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str | None = None, slug: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.slug = slug or self.default_slug


class NotFound(RecollectError):
    """What was named does not exist; `nearest` holds the closest names."""

    exit_code = 3
    default_slug = "not-found"

    def __init__(
        self, message: str, *, hint: str | None = None, slug: str | None = None, nearest: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, hint=hint, slug=slug)
        self.nearest = nearest


class DamagedData(RecollectError):
    exit_code = 4
    default_slug = "damaged-data"


class StoreBusy(RecollectError):
    exit_code = 5
    default_slug = "store-busy"


class Refused(RecollectError):
    exit_code = 6
    default_slug = "refused"


class QueryError(RecollectError):
    """A query that cannot be parsed; `place` is the wrong part of it, as (start, end)."""

    exit_code = 7
    default_slug = "query-error"

    def __init__(
        self, message: str, *, hint: str | None = None, slug: str | None = None, place: tuple[int, int] | None = None
    ) -> None:
        super().__init__(message, hint=hint, slug=slug)
        self.place = place


class Unavailable(RecollectError):
    exit_code = 8
    default_slug = "unavailable"
