"""A home with a vault that was filled once, then changed in every way; and what must hold after any fault."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults.scene import Tree, _restore, differences, photograph

from recollect.store.home import Home
from recollect.testing import HomeBuilder, uuid_from
from recollect.vault.capture import capture
from recollect.vault.vault import Vault
from recollect.vault.verify import verify

GROWS = uuid_from("a session that grew")
REWRITTEN = uuid_from("a session that was rewritten")
GONE = uuid_from("a session that was deleted")
NEW = uuid_from("a session that is new")


class VaultScene:
    """`reset` puts home, vault and journal back to the moment before the second capture."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "claude")
        self.data = folder / "data"
        self.cache = folder / "cache"
        builder = HomeBuilder(self.home.root)
        for name in (GROWS, REWRITTEN, GONE):
            session = builder.session("/work/notes", session_id=name)
            session.user(f"Begin {name} " * 30)
            session.assistant("Yes. " * 200)
        builder.file(f"file-history/{GROWS}/0123456789abcdef@v1", b"milk\n")
        builder.write()
        self.keep()
        self.old = self.live()
        folder_of = self.path(GROWS).parent
        with open(self.path(GROWS), "ab") as stream:
            stream.write(b'{"type":"tag","tag":"more"}\n' * 50)
        self.path(REWRITTEN).write_bytes(b'{"type":"tag","tag":"other"}\n' * 80)
        self.path(GONE).unlink()
        (folder_of / f"{NEW}.jsonl").write_bytes(
            b'{"type":"tag","tag":"new"}\n' * 100 + os.urandom(3000).hex().encode()
        )
        for path in folder_of.iterdir():  # long ago, so that what was seen counts as settled
            os.utime(path, (1_700_000_000, 1_700_000_000))
        self.new = self.live()
        self._memory = [(place, photograph(place)) for place in (self.home.root, self.data, self.cache)]

    def path(self, session_id: str) -> Path:
        return self.home.projects / "-work-notes" / f"{session_id}.jsonl"

    @property
    def vault(self) -> Vault:
        return Vault(self.data / "vault", lock_seconds=20)

    def keep(self) -> None:
        capture(self.vault, self.home, cache=self.cache)

    def whole_files(self) -> Iterator[tuple[str, bytes]]:
        """Path and bytes of every file in the vault, each as long as the vault says it is."""
        vault = self.vault
        for file in vault.contents.files.values():
            data = b"".join(vault.chunks(file))
            assert len(data) == file.last.size
            yield file.path, data

    def live(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.home.root).as_posix(): path.read_bytes()
            for path in self.home.root.rglob("*")
            if path.is_file()
        }

    def kept(self) -> dict[str, bytes]:
        vault = self.vault
        return {path: b"".join(vault.chunks(file)) for (_, path), file in vault.contents.files.items()}

    def reset(self) -> None:
        for place, tree in self._memory:
            _restore(place, tree)

    def home_tree(self) -> Tree:
        return photograph(self.home.root)

    def judge(self, acknowledged: bool) -> str:
        """After a fault in a capture: sound; all that was kept is; old or new; and the next capture ends it."""
        root, before = self._memory[0]
        assert not differences(before, photograph(root)), "keeping reads the home and changes nothing in it"
        report = verify(self.vault)
        assert report.is_sound, report.findings
        kept = self.kept()
        for name, data in kept.items():
            assert data in (self.old.get(name), self.new.get(name)), f"{name} is neither old nor new"
        assert kept.keys() >= self.old.keys(), "nothing that was kept is lost"
        outcome = "new" if {**self.old, **self.new} == kept else "old"
        assert outcome == "new" or not acknowledged, "acknowledged, then lost"
        self.keep()
        assert self.kept() == {**self.old, **self.new}
        assert self._old_generation() == self.old[f"projects/-work-notes/{REWRITTEN}.jsonl"]
        assert verify(self.vault, deep=True).findings == []
        return outcome

    def _old_generation(self) -> bytes:
        vault = self.vault
        file = next(file for file in vault.contents.files.values() if file.path.endswith(f"{REWRITTEN}.jsonl"))
        return b"".join(vault.chunks(file, next(look for look in file.looks if look.generation == 1)))


Perform = Callable[[VaultScene], None]
