"""Which machine keeps here: an id that the system tells, never written as it is, and a vault that has one owner."""

from __future__ import annotations

import ctypes
import hashlib
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.vault.scene import Scene

from recollect.errors import DamagedData, Refused, StoreBusy
from recollect.vault import vault
from recollect.vault.manifest import read_note
from recollect.vault.vault import Machine


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    """The id is asked of the system once a process."""
    asked = vault.machine_id
    asked.cache_clear()
    yield
    asked.cache_clear()


def hashed(told: str) -> str:
    return hashlib.sha256(f"recollect {told}".encode()).hexdigest()[:32]


def test_the_first_file_that_says_something_is_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing, empty, told = (tmp_path / name for name in ("missing", "empty", "told"))
    empty.write_bytes(b"\n")
    told.write_bytes(b"0123456789abcdef\n")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(vault, "_ID_FILES", (str(missing), str(empty), str(told)))
    assert vault.machine_id() == hashed("0123456789abcdef")


@pytest.mark.parametrize("data", [None, b"", b"\xff\xfe"], ids=["missing", "empty", "no text"])
def test_a_system_without_an_id_cannot_be_told_from_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes | None
) -> None:
    path = tmp_path / "id"
    if data is not None:
        path.write_bytes(data)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(vault, "_ID_FILES", (str(path),))
    assert vault.machine_id() is None


@pytest.mark.parametrize(("status", "expected"), [(0, hashed("07" * 16)), (-1, None)], ids=["told", "refused"])
def test_a_mac_is_asked_for_the_id_of_its_host(
    monkeypatch: pytest.MonkeyPatch, status: int, expected: str | None
) -> None:
    def gethostuuid(found: ctypes.Array[ctypes.c_ubyte], wait: object) -> int:
        ctypes.memset(found, 7, 16)
        return status

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(gethostuuid=gethostuuid))
    assert vault.machine_id() == expected


def test_windows_is_asked_for_the_id_of_its_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    class Key:
        def __enter__(self) -> Key:
            return self

        def __exit__(self, *problem: object) -> None:
            pass

    asked = []

    def open_key(root: str, name: str) -> Key:
        asked.append((root, name))
        return Key()

    def query(key: Key, name: str) -> tuple[str, int]:
        asked.append(("value", name))
        return "the-guid", 1

    registry = SimpleNamespace(HKEY_LOCAL_MACHINE="machine", OpenKey=open_key, QueryValueEx=query)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "winreg", registry)
    assert vault.machine_id() == hashed("the-guid")
    assert asked == [("machine", r"SOFTWARE\Microsoft\Cryptography"), ("value", "MachineGuid")]


def test_a_machine_without_a_name_has_one_to_speak_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "node", lambda: "the-desk")
    assert vault.machine_name() == "the-desk"
    monkeypatch.setattr(platform, "node", lambda: "")
    assert vault.machine_name() == "a machine without a name"


# --- a vault has one owner --------------------------------------------------------------------------------------------


def become(patch: pytest.MonkeyPatch, told: str | None, name: str = "") -> None:
    patch.setattr(vault, "machine_id", lambda: told)
    patch.setattr(vault, "machine_name", lambda: name)


def test_another_machine_is_refused_until_it_takes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tmp_path)
    become(monkeypatch, "a" * 32, "the laptop")
    scene.keep()
    become(monkeypatch, "b" * 32, "the desk")
    with pytest.raises(Refused, match="the laptop") as caught:
        scene.keep(full=True)
    assert caught.value.slug == "vault-of-another-machine"
    scene.vault.take_over()
    scene.keep(full=True)
    assert read_note(scene.vault.folder / "machine", Machine) == Machine("b" * 32, "the desk")
    become(monkeypatch, None)
    scene.keep(full=True)  # one that cannot tell who it is changes nothing of that
    scene.vault.take_over()
    assert read_note(scene.vault.folder / "machine", Machine) == Machine("b" * 32, "the desk")


def test_nothing_is_taken_over_where_there_is_no_vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    become(monkeypatch, "a" * 32, "the laptop")
    Scene(tmp_path).vault.take_over()
    assert not (tmp_path / "data").exists()


def test_a_note_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tmp_path)
    become(monkeypatch, "a" * 32, "the laptop")
    scene.keep()
    become(monkeypatch, "b" * 32, "the desk")
    (scene.vault.folder / "machine.new").mkdir()
    with pytest.raises((DamagedData, Refused), match=r"machine\.new"):
        scene.vault.take_over()
    assert read_note(scene.vault.folder / "machine", Machine) == Machine("a" * 32, "the laptop")


def test_one_process_at_a_time(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.keep()
    with scene.vault.locked():
        waiting = scene.vault
        waiting.lock_seconds = 0.05
        with pytest.raises(StoreBusy, match="another Recollect process") as caught, waiting.locked():
            pass
        assert caught.value.slug == "locked"
    with scene.vault.locked():
        pass


def test_a_lock_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.data.mkdir()
    (scene.data / "locks").write_bytes(b"a file where a folder should be")
    with pytest.raises((DamagedData, Refused), match="locks"):
        scene.keep()
    assert not scene.vault.exists
