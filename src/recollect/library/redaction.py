"""Read sessions without their secrets and personal data, from a redacted copy; look for what is left in written files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..secrets.redact import Profile, Redaction, Redactor

if TYPE_CHECKING:
    from .session import Session


@dataclass(frozen=True, slots=True)
class Leak:
    """A value that is still in a written file: which kind, and on which line."""

    path: Path
    line: int
    kind: str


@contextlib.contextmanager
def redacted_session(
    session: Session,
    profile: Profile = "personal",
    *,
    redactor: Redactor | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[Session, Redaction]]:
    """Open a redacted copy of a session; it is removed when the `with` ends. See `redacted_sessions`."""
    with redacted_sessions([session], profile, redactor=redactor, progress=progress) as (sessions, redaction):
        yield sessions[0], redaction


@contextlib.contextmanager
def redacted_sessions(
    sessions: Sequence[Session],
    profile: Profile = "personal",
    *,
    redactor: Redactor | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[tuple[list[Session], Redaction]]:
    """Open redacted copies of sessions, all in one private temporary home, with the same pseudonyms.

    With "none" the sessions themselves are given back. `progress` is called with the number of bytes read since its last call.
    """
    raise NotImplementedError
    yield


def leaks(paths: Sequence[Path], redaction: Redaction) -> list[Leak]:
    """Search written files for values that were to be left out, in all their forms, and for other definite secrets."""
    raise NotImplementedError
