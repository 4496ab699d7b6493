"""A small home with everything that is kept, and a vault for it."""

from __future__ import annotations

import os
from pathlib import Path

from recollect.journal.changes import Journal
from recollect.store.home import Home
from recollect.testing import HomeBuilder, uuid_from
from recollect.vault.capture import CaptureReport, capture
from recollect.vault.vault import Vault

CWD = "/work/notes"
SESSION = uuid_from("the session that is kept")
OTHER = uuid_from("another session")
ELSEWHERE = uuid_from("a session of another project")


def build_home(root: Path) -> None:
    home = HomeBuilder(root)
    main = home.session(CWD, session_id=SESSION)
    main.user("What is in the notes?")
    main.assistant("Milk and bread.")
    helper = main.subagent("look for more")
    helper.user("anything else?")
    helper.finish("no")
    home.tool_output(main, "b12345678", "a long output\n" * 400)
    other = home.session(CWD, session_id=OTHER)
    other.user("Hello")
    other.assistant("Hello to you")
    elsewhere = home.session("/work/other", session_id=ELSEWHERE)
    elsewhere.user("Another project")
    elsewhere.assistant("Yes")
    home.history("What is in the notes?", project=CWD, session_id=SESSION)
    home.file(f"file-history/{SESSION}/0123456789abcdef@v1", b"milk\n")
    home.file(f"tasks/{SESSION}/1.json", b'{"id":"1","subject":"Buy milk","status":"pending"}')
    home.file("plans/quiet-river.md", b"# A plan\n")
    home.file("settings.json", b'{"model":"opus"}')
    home.file(".credentials.json", b"secret")
    home.file("sessions/4711.0123.key", b"secret")
    home.write()


class Scene:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = Home(folder / "claude")
        build_home(self.home.root)
        self.data = folder / "data"
        self.cache = folder / "cache"

    @property
    def vault(self) -> Vault:
        """As a new process sees it."""
        return Vault(self.data / "vault", lock_seconds=5)

    @property
    def journal(self) -> Journal:
        return Journal(self.data)

    def keep(self, *, full: bool = False) -> CaptureReport:
        return capture(self.vault, self.home, cache=self.cache, full=full)

    def path(self, session_id: str = SESSION) -> Path:
        return next(self.home.projects.glob(f"*/{session_id}.jsonl"))

    def kept_bytes(self, path: Path) -> bytes:
        vault = self.vault
        number = vault.contents.home_number(self.home.real_root)
        assert number is not None
        return b"".join(vault.chunks(vault.contents.files[(number, path.relative_to(self.home.root).as_posix())]))

    def files(self) -> dict[str, bytes]:
        """Everything of the home that should be kept, found without any code of the vault."""
        found = {}
        for folder, _, names in os.walk(self.home.root):
            for name in names:
                path = Path(folder, name)
                relative = path.relative_to(self.home.root).as_posix()
                if not relative.startswith((".cred", "sessions/", "settings")):
                    found[relative] = path.read_bytes()
        return found

    def all_kept(self) -> dict[str, bytes]:
        vault = self.vault
        return {path: b"".join(vault.chunks(file)) for (_, path), file in vault.contents.files.items()}
