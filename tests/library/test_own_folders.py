"""Our own folders are where the platform wants them, found without asking the package that knows all platforms."""

from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from recollect.environment import home_candidates, home_folders, own_folder, own_folder_name

_FOLDERS = {
    "config": platformdirs.user_config_path,
    "data": platformdirs.user_data_path,
    "cache": platformdirs.user_cache_path,
}


@pytest.mark.parametrize("kind", sorted(_FOLDERS))
@pytest.mark.parametrize("value", [None, "", "  ", "/somewhere/else"])
def test_they_are_those_of_the_platform(monkeypatch: pytest.MonkeyPatch, kind: str, value: str | None) -> None:
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.delenv(f"RECOLLECT_{name}_DIR", raising=False)
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
        if value is not None:
            monkeypatch.setenv(f"XDG_{name}_HOME", value)
    assert own_folder(kind) == _FOLDERS[kind]("recollect", appauthor=False)
    assert own_folder_name(kind) == str(own_folder(kind))


def test_a_named_folder_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RECOLLECT_CACHE_DIR", "~/cache")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert own_folder("cache") == tmp_path / "cache"


def test_homes_as_texts_and_as_paths_are_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for named in ((), ("here", "~/there", "/abs")):
        paths, are_named = home_candidates(named)
        assert home_folders(named) == ([str(path) for path in paths], are_named)
    assert home_candidates(("here",))[0] == [tmp_path / "here"]
