"""Read sessions without their secrets and personal data, from a redacted copy; look for what is left in written files."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..environment import machine_names, own_folder, user_folder
from ..errors import NotFound, Refused
from ..journal import disk
from ..journal import locks as presence
from ..secrets.findings import Found
from ..secrets.leaks import Leak as Leak
from ..secrets.leaks import leaks as leaks
from ..secrets.redact import PROFILES as PROFILES
from ..secrets.redact import Profile, Redacted, Redactor
from ..secrets.redact import Redaction as Redaction
from ..store.home import Home

if TYPE_CHECKING:
    from .library import Library
    from .session import Session


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
    resumable: bool = False,
) -> Iterator[tuple[list[Session], Redaction]]:
    """Open redacted copies of sessions of one home, in one private temporary home, with the same pseudonyms.

    With "none" the sessions themselves are given back. A `redactor` brings its own profile, and the values and pseudonyms
    that it knows from other sessions. `progress` is called with the number of bytes read since its last call. `resumable`
    copies are for Claude Code: a thinking block whose text would change is left out, since the text is signed.
    """
    redactor = redactor or redactor_for(profile, library=_library_of(sessions))
    redaction = Redaction(redactor.profile, redactor)
    if redactor.profile == "none":
        yield list(sessions), redaction
        return
    with _private_folder(_library_of(sessions).own_folder("cache") / "redacted") as folder:
        yield copy_redacted(sessions, folder, redaction, progress, resumable=resumable), redaction


def copy_redacted(
    sessions: Sequence[Session],
    folder: Path,
    redaction: Redaction,
    progress: Callable[[int], None] | None = None,
    *,
    resumable: bool = False,
) -> list[Session]:
    """Write redacted copies of sessions into a new home below a folder, and open them there."""
    from ..secrets.redacted_copy import RedactedCopy
    from .belongings import belongings, scan_view
    from .session import Session

    opened: list[Session] = []
    for number, home in enumerate({session.home.real_root: session.home for session in sessions}.values()):
        own = [session for session in sessions if session.home.real_root == home.real_root]
        view = Home(folder / f"home-{number}", kept_from=home.kept_from or home.root)
        copy = RedactedCopy(home, view.root, redaction.redactor, progress, resumable=resumable)
        copy.write(belongings(home, own))
        redaction.left_out += copy.left_out
        found = {(file.folder, file.session_id): file for file in scan_view(view)}
        for session in own:
            file = found.get((copy.folder_name(session.file.folder), session.id))
            if file is None:
                raise NotFound(f"session {session.id} could not be copied", slug="no-such-session")
            opened.append(Session(file, library=session.library))
            opened[-1].redacted_from, opened[-1].redaction = session, redaction
    order = {session.id: place for place, session in enumerate(sessions)}
    return sorted(opened, key=lambda session: order[session.id])


def redactor_for(profile: str = "personal", *, library: Library | None = None, same_length: bool = False) -> Redactor:
    """Return a redactor that knows the names of this user and this machine, and the rules and words of `rules.toml`."""
    from ..secrets.find import Finder
    from ..secrets.fingerprints import Fingerprints
    from ..secrets.rules import read_rules

    known = next((item for item in PROFILES if item == profile), None)
    if known is None:
        raise Refused(f"no such profile: {profile}", hint=f"choose from {', '.join(PROFILES)}", slug="no-such-profile")
    folder = own_folder if library is None else library.own_folder
    rules = read_rules(folder("config"))
    finder = Finder(rules)
    fingerprints = Fingerprints(folder("data")) if rules.allowed_values else None

    def find(text: str, name: str | None) -> Sequence[Found]:
        finds = finder.in_text(text, name)
        if fingerprints is None and not rules.allowed_kinds:
            return finds
        return [
            item for item in finds
            if not rules.allows(item.kind, "", "" if fingerprints is None else fingerprints.of(item.value))
        ]  # fmt: skip

    user, host = machine_names()
    return Redactor(
        known, find=find, may_find=lambda line: finder.anything.first(line) is not None, users=[user] if user else (),
        hosts=[host] if host else (), words=rules.words, homes=[str(user_folder())], same_length=same_length,
    )  # fmt: skip


def redact_text(text: str, profile: str = "personal") -> Redacted:
    """Return a text without the secrets and, by profile, the personal data in it, and what was found."""
    return redactor_for(profile).redact(text)


def refuse_leaks(paths: Sequence[Path], redaction: Redaction) -> None:
    """Search written files once more; where something is left, delete them and raise Refused."""
    found = leaks(paths, redaction)
    if not found:
        return
    for path in paths:
        with contextlib.suppress(OSError):
            disk.remove_if_there(path)
    kinds = ", ".join(sorted({leak.kind for leak in found}))
    raise Refused(
        f"the written output still held what was to be left out ({kinds}); it was deleted",
        hint="`recollect secrets` shows where such values stand", slug="secrets-left",
    )  # fmt: skip


def secrets_in(session: Session) -> dict[str, int]:
    """Count the different secrets in a session's files by kind, most frequent first."""
    finds = session.library.secrets(session.id)
    for _ in finds:
        pass
    return dict(Counter(value.kind for value in finds.values).most_common())


def files_below(copies: Sequence[Session]) -> list[Path]:
    """List all files of the homes that redacted copies lie in."""
    roots = dict.fromkeys(copy.home.root for copy in copies)
    return [
        Path(folder, name) for root in roots for folder, _, names in os.walk(root) for name in sorted(names)
    ]  # fmt: skip


def _library_of(sessions: Sequence[Session]) -> Library:
    return sessions[0].library


@contextlib.contextmanager
def _private_folder(place: Path) -> Iterator[Path]:
    """Make a folder that only this user can read, and remove it at the end; also those of processes that ended early."""
    with contextlib.suppress(OSError):
        for name in os.listdir(place):
            with contextlib.suppress(OSError):
                presence.remove_if_abandoned(place / name, disk.remove_tree)
    folder = place / uuid.uuid4().hex
    try:
        for above in (place.parent, place):
            disk.make_folders(above)
        claim = presence.make_claimed_folder(folder, disk.make_folders)
    except OSError as problem:
        raise disk.explain(problem, place) from problem
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError):
            disk.remove_tree(folder)
        if claim is not None:
            os.close(claim)
