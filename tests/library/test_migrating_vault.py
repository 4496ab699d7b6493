"""A vault of an older format: refused with words, migrated in a copy, verified, and taken back. As if there were two formats."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest
from tests.faults.faulty import Fault, faulty_disk
from tests.faults.kills import Child, Tell
from tests.running import Ran, run
from tests.vault.scene import Scene

from recollect.edit.migrate.framework import Migration
from recollect.errors import DamagedData, Refused
from recollect.library import migrating
from recollect.vault import vault as vault_module
from recollect.vault.compact import compact_locked
from recollect.vault.vault import Vault, read_format, write_format
from recollect.vault.verify import verify


def step(problem: str | None = None) -> Migration[Path]:
    """The example: in format 2 everything is stored anew."""

    def migrate(folder: Path) -> int:
        write_format(folder, 2)
        report = compact_locked(Vault(folder))
        return report.blocks

    def check(folder: Path) -> str | None:
        found = verify(Vault(folder), deep=True).findings
        return problem or (found[0].message if found else None)

    return Migration(
        "together", "1", "2", "everything close together", migrate, lambda folder: write_format(folder, 1), check
    )


@pytest.fixture
def scene(tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A vault that was made when the format was 1, looked at by a Recollect that writes 2."""
    scene = Scene(tmp_path)
    scene.data = own_home / "recollect" / "data"
    for number in range(12):
        with open(scene.path(), "ab") as stream:
            stream.write(b'{"type":"tag","tag":"%d"}\n' % number * 40)
        scene.keep()
    scene.before = _bytes_of(scene.data / "vault")  # type: ignore[attr-defined]
    scene.told = scene.all_kept()  # type: ignore[attr-defined]
    _pretend(monkeypatch, step())
    return scene


def _pretend(monkeypatch: pytest.MonkeyPatch, *steps: Migration[Path]) -> None:
    monkeypatch.setattr(vault_module, "VERSION", 2)
    mark = vault_module.format_mark
    monkeypatch.setattr(vault_module, "format_mark", lambda version=2: mark(version))
    monkeypatch.setattr("recollect.vault.verify.format_mark", lambda: mark(2))
    monkeypatch.setattr(migrating, "VAULT_MIGRATIONS", steps)


def _bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def ask(scene: Scene, capsys: pytest.CaptureFixture[str], *words: str) -> Ran:
    return run(capsys, scene.home.root, *words)


def test_there_and_back(scene: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    before, told = scene.before, scene.told  # type: ignore[attr-defined]
    refused = ask(scene, capsys, "keep", "--full")
    assert refused.code == 6 and "vault-of-the-past" in refused.err and "recollect migrate --apply" in refused.err
    shown = ask(scene, capsys, "migrate")
    assert "vault: format 1, 1 step due" in shown.out and "everything close together" in shown.out
    assert _bytes_of(scene.data / "vault") == before
    assert "done: together" in ask(scene, capsys, "migrate", "--apply").out
    assert read_format(scene.data / "vault") == 2
    assert _bytes_of(scene.data / "vault.before-1") == before
    assert scene.all_kept() == told
    assert verify(scene.vault, deep=True).findings == []
    assert ask(scene, capsys, "keep", "--full").code == 0
    assert ask(scene, capsys, "migrate", "--rollback", "vault").code == 0
    assert _bytes_of(scene.data / "vault") == before
    assert ask(scene, capsys, "migrate", "--rollback", "vault").code == 3


def test_what_is_not_right_is_never_used(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend(monkeypatch, step("it is not right"))
    with pytest.raises(DamagedData, match="it is not right"):
        migrating.vault_folder(scene.data / "vault").migrate()
    assert _bytes_of(scene.data / "vault") == scene.before  # type: ignore[attr-defined]
    assert [path.name for path in scene.data.iterdir() if path.name.startswith("vault.")] == []


def test_a_vault_from_the_future_is_refused(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    write_format(scene.data / "vault", 7)
    with pytest.raises(Refused) as caught:
        scene.keep(full=True)
    assert caught.value.slug == "vault-from-the-future"


def test_killed_at_every_call(scene: Scene) -> None:
    """Old or new, all of it, for whoever comes next: `keep`, or `migrate` again."""
    own = migrating.vault_folder(scene.data / "vault")
    at, deaths, outcomes, dies = 0, 0, set(), True
    while dies:
        at += 1
        child = Child(partial(_migrate_faulty, scene, Fault(at, "die after")))
        child.end()
        dies = child.status == signal.SIGKILL
        deaths += dies
        with Vault(scene.data / "vault").locked():  # what a capture does first
            pass
        outcomes.add(read_format(scene.data / "vault"))
        own.migrate()
        assert read_format(scene.data / "vault") == 2
        assert scene.all_kept() == scene.told  # type: ignore[attr-defined]
        assert verify(scene.vault, deep=True).findings == []
        own.roll_back()
        assert _bytes_of(scene.data / "vault") == scene.before  # type: ignore[attr-defined]
    assert deaths > 15
    assert outcomes == {1, 2}


def _migrate_faulty(scene: Scene, fault: Fault, tell: Tell) -> None:
    with faulty_disk(fault):
        migrating.vault_folder(scene.data / "vault").migrate()
    tell(b"done")
    os._exit(0)
