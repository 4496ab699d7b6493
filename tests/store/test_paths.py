"""Nothing outside the home, no secret, no pipe and no device is ever read, by whatever path it is asked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recollect.errors import DamagedData, NotFound, RecollectError, Refused
from recollect.store.home import (
    Home,
    check_home,
    contained,
    existing_homes,
    is_inside,
    is_secret,
    list_inside,
    open_inside,
    read_inside,
)
from recollect.store.layout import FileKind, kind_of_file
from recollect.vault.selection import walk_home

OUTSIDE = b"what nobody may see"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    root = tmp_path / "user" / "claude"
    (root / "projects" / "-w-app").mkdir(parents=True)
    (root / "projects" / "-w-app" / "session.jsonl").write_bytes(b"{}\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file.jsonl").write_bytes(OUTSIDE)
    return Home(root)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    return tmp_path / "outside" / "file.jsonl"


@pytest.fixture
def folder(home: Home) -> Path:
    return home.projects / "-w-app"


def refused(home: Home, path: Path) -> str:
    with pytest.raises(Refused) as caught:
        read_inside(home, path)
    return caught.value.slug


def test_a_file_inside_is_read(home: Home, folder: Path) -> None:
    assert read_inside(home, folder / "session.jsonl") == b"{}\n"
    assert read_inside(home, folder / "session.jsonl", limit=1) == b"{"
    with open_inside(home, folder / "session.jsonl") as stream:
        assert stream.read() == b"{}\n"


class TestOutside:
    def test_by_its_absolute_path(self, home: Home, outside: Path) -> None:
        assert refused(home, outside) == "outside-home"

    def test_by_dots(self, home: Home, outside: Path) -> None:
        path = home.root / ".." / ".." / "outside" / "file.jsonl"
        assert path.exists()
        assert refused(home, path) == "outside-home"

    def test_by_dots_that_come_back_it_is_inside(self, home: Home, folder: Path) -> None:
        assert read_inside(home, folder / ".." / "-w-app" / "session.jsonl") == b"{}\n"

    def test_by_a_link(self, home: Home, folder: Path, outside: Path) -> None:
        (folder / "s").mkdir()
        (folder / "s" / "link.jsonl").symlink_to(outside)
        assert refused(home, folder / "s" / "link.jsonl") == "outside-home"

    def test_by_a_session_that_leads_to_something_else(self, home: Home, folder: Path, outside: Path) -> None:
        outside.rename(outside.with_name("id_rsa"))
        (folder / "link.jsonl").symlink_to(outside.with_name("id_rsa"))
        assert refused(home, folder / "link.jsonl") == "outside-home"

    def test_by_a_relative_link(self, home: Home, folder: Path) -> None:
        (folder / "s").mkdir()
        (folder / "s" / "link.jsonl").symlink_to("../../../../../outside/file.jsonl")
        assert (folder / "s" / "link.jsonl").exists()
        assert refused(home, folder / "s" / "link.jsonl") == "outside-home"

    def test_by_a_link_to_a_link(self, home: Home, folder: Path, outside: Path) -> None:
        (folder / "one").symlink_to(outside)
        (folder / "two").symlink_to(folder / "one")
        assert refused(home, folder / "two") == "outside-home"

    def test_by_a_folder_that_is_a_link(self, home: Home, folder: Path, outside: Path) -> None:
        (folder / "linked").symlink_to(outside.parent)
        assert refused(home, folder / "linked" / "file.jsonl") == "outside-home"

    @pytest.mark.parametrize("place", ["projects", "projects/-linked", "projects/-w-app/linked.jsonl"])
    def test_links_of_the_store_are_followed_and_nothing_beside_what_they_lead_to(
        self, home: Home, outside: Path, place: str
    ) -> None:
        link = home.root / place
        if link.exists():
            link.rename(home.root / "was")
        link.symlink_to(outside if place.endswith(".jsonl") else outside.parent)
        assert read_inside(home, link if place.endswith(".jsonl") else link / "file.jsonl") == OUTSIDE
        beside = outside.parent.with_name("beside.jsonl")
        beside.write_bytes(OUTSIDE)
        assert refused(home, beside) == "outside-home"

    def test_by_a_neighbour_whose_name_begins_alike(self, home: Home) -> None:
        neighbour = home.root.with_name("claude2")
        neighbour.mkdir()
        (neighbour / "file.jsonl").write_bytes(OUTSIDE)
        assert refused(home, neighbour / "file.jsonl") == "outside-home"
        assert not is_inside(home, neighbour / "file.jsonl")

    @pytest.mark.skipif(
        not Path("/proc/self/fd").is_dir(), reason="only a system that tells an open file's path sees the swap"
    )
    def test_by_a_folder_swapped_for_a_link_before_it_is_opened(
        self, home: Home, folder: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = folder / "tool-results"
        folder.mkdir()
        wanted = folder / outside.name
        wanted.write_bytes(b"{}\n")
        really_open = os.open

        def swap_and_open(path: str | Path, flags: int, *rest: int) -> int:
            if Path(path) == wanted and not folder.is_symlink():
                folder.rename(folder.with_name("aside"))
                folder.symlink_to(outside.parent)
            return really_open(path, flags, *rest)

        monkeypatch.setattr(os, "open", swap_and_open)
        assert refused(home, wanted) == "outside-home"
        assert folder.is_symlink()

    def test_a_link_that_stays_inside_is_followed(self, home: Home, folder: Path) -> None:
        (home.root / "link.jsonl").symlink_to(folder / "session.jsonl")
        assert read_inside(home, home.root / "link.jsonl") == b"{}\n"

    def test_a_home_that_is_itself_a_link_is_one(self, home: Home, tmp_path: Path) -> None:
        (tmp_path / "linked-home").symlink_to(home.root)
        linked = Home(tmp_path / "linked-home")
        assert read_inside(linked, linked.projects / "-w-app" / "session.jsonl") == b"{}\n"


class TestNoFile:
    def test_a_pipe_is_refused_and_does_not_block(self, home: Home, folder: Path) -> None:
        os.mkfifo(folder / "pipe.jsonl")
        assert refused(home, folder / "pipe.jsonl") == "not-a-file"

    def test_a_link_to_a_pipe(self, home: Home, folder: Path) -> None:
        os.mkfifo(folder / "pipe")
        (folder / "link.jsonl").symlink_to(folder / "pipe")
        assert refused(home, folder / "link.jsonl") == "not-a-file"

    @pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
    def test_a_device(self, home: Home, folder: Path, device: str) -> None:
        assert refused(home, Path(device)) == "not-a-file"
        (folder / "device.jsonl").symlink_to(device)
        assert refused(home, folder / "device.jsonl") == "outside-home"

    @pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc here")
    def test_proc(self, home: Home) -> None:
        assert refused(home, Path("/proc/self/environ")) == "outside-home"

    def test_a_folder(self, home: Home, folder: Path) -> None:
        assert refused(home, folder) == "not-a-file"

    def test_a_nul_byte_in_the_path(self, home: Home) -> None:
        assert refused(home, home.root / "a\0b") == "outside-home"

    def test_nothing_there(self, home: Home) -> None:
        with pytest.raises(NotFound):
            read_inside(home, home.root / "nothing")

    @pytest.mark.parametrize("name", ["x" * 5_000, "x/" * 3_000])
    def test_a_name_that_is_too_long(self, home: Home, name: str) -> None:
        with pytest.raises((DamagedData, NotFound)):
            read_inside(home, home.root / name)

    def test_links_in_a_circle(self, home: Home) -> None:
        (home.root / "one").symlink_to(home.root / "two")
        (home.root / "two").symlink_to(home.root / "one")
        with pytest.raises(DamagedData):
            read_inside(home, home.root / "one")

    def test_a_file_that_may_not_be_read(self, home: Home, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def deny(*_: object) -> int:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(os, "open", deny)
        with pytest.raises(DamagedData, match="Permission denied") as caught:
            read_inside(home, folder / "session.jsonl")
        assert caught.value.slug == "unreadable-file"

    def test_no_file_is_left_open_when_it_is_refused(self, home: Home, outside: Path) -> None:
        held = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
        for _ in range(20):
            refused(home, outside)
        assert (len(os.listdir("/proc/self/fd")) if held else 0) == held


class TestSecrets:
    NAMES = (
        ".credentials.json", ".CREDENTIALS.json", ".credentials.json.bak", ".credentials", ".credentials-backup",
        "4000001.ab12.key", "peer.KEY", "server.pem", "CA.PEM",
    )  # fmt: skip

    @pytest.mark.parametrize("name", NAMES)
    def test_they_are_never_read(self, home: Home, name: str) -> None:
        (home.root / name).write_bytes(b"token")
        assert is_secret(home.root / name)
        assert refused(home, home.root / name) == "secret"

    @pytest.mark.parametrize("name", NAMES)
    def test_nor_kept_nor_taken_for_anything_else(self, home: Home, name: str) -> None:
        (home.root / "projects" / "-w-app").mkdir(parents=True, exist_ok=True)
        (home.root / "projects" / "-w-app" / name).write_bytes(b"token")
        assert kind_of_file(("projects", "-w-app", name)) is FileKind.SECRET
        assert not any(path.endswith(name) for path in walk_home(home).files)

    def test_nor_by_a_link_of_an_innocent_name(self, home: Home, folder: Path) -> None:
        (home.root / ".credentials.json").write_bytes(b"token")
        (folder / "link.jsonl").symlink_to(home.root / ".credentials.json")
        with pytest.raises(RecollectError):
            read_inside(home, folder / "link.jsonl")

    @pytest.mark.parametrize("name", ["keys.json", "credentials.md", "key", "monkey.jsonl"])
    def test_other_files_are_no_secrets(self, name: str) -> None:
        assert not is_secret(Path("/w") / name)


class TestContained:
    @pytest.mark.parametrize("text", ["projects/-w-app/session.jsonl", "./projects", "projects/../projects"])
    def test_relative_paths_are_those_of_the_home(self, home: Home, text: str) -> None:
        assert contained(home, text) == home.root / text

    def test_an_absolute_path_inside(self, home: Home) -> None:
        assert contained(home, str(home.projects)) == home.projects

    @pytest.mark.parametrize(
        "text", ["..", "../..", "projects/../../..", "/etc/passwd", "/", "a\0b", "projects/\0/../.."]
    )
    def test_everything_else_is_refused(self, home: Home, text: str) -> None:
        with pytest.raises(Refused):
            contained(home, text)


class TestListing:
    def test_names_in_order(self, home: Home, folder: Path) -> None:
        (folder / "b").mkdir()
        (folder / "a").write_bytes(b"")
        assert [path.name for path in list_inside(home, folder)] == ["a", "b", "session.jsonl"]

    def test_outside_there_is_nothing(self, home: Home, folder: Path, outside: Path) -> None:
        (folder / "link").symlink_to(outside.parent)
        assert list_inside(home, outside.parent) == []
        assert list_inside(home, folder / "link") == []
        assert list_inside(home, home.root / ".." / "..") == []

    def test_where_there_is_no_folder_there_is_nothing(self, home: Home, folder: Path) -> None:
        assert list_inside(home, home.root / "nothing") == []
        assert list_inside(home, folder / "session.jsonl") == []
        assert list_inside(home, home.root / "a\0b") == []


class TestConfigFile:
    def test_beside_a_home_of_the_usual_name_it_may_be_read(self, tmp_path: Path) -> None:
        (tmp_path / ".claude" / "projects").mkdir(parents=True)
        (tmp_path / ".claude.json").write_bytes(b"{}")
        (tmp_path / ".claude.json2").write_bytes(OUTSIDE)
        home = Home(tmp_path / ".claude")
        assert home.config_file == tmp_path / ".claude.json"
        assert read_inside(home, home.config_file) == b"{}"
        assert refused(home, tmp_path / ".claude.json2") == "outside-home"

    def test_beside_a_home_of_another_name_it_may_not(self, home: Home) -> None:
        (home.root.parent / ".claude.json").write_bytes(OUTSIDE)
        assert home.config_file == home.root / ".claude.json"
        assert refused(home, home.root.parent / ".claude.json") == "outside-home"

    def test_inside_it_comes_first_and_the_oldest_place_last(self, tmp_path: Path) -> None:
        root = tmp_path / ".claude"
        root.mkdir()
        (root / "config.json").write_bytes(b"{}")
        assert Home(root).config_file == root / "config.json"
        (tmp_path / ".claude.json").write_bytes(b"{}")
        assert Home(root).config_file == tmp_path / ".claude.json"
        (root / ".claude.json").write_bytes(b"{}")
        assert Home(root).config_file == root / ".claude.json"


class TestHomes:
    def test_a_folder_that_is_no_home_says_what_is_missing(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        (tmp_path / "file").write_bytes(b"")
        for name, words in (("empty", "no projects/ folder"), ("file", "is not a folder"), ("gone", "does not exist")):
            with pytest.raises(NotFound, match=words) as caught:
                check_home(tmp_path / name)
            assert caught.value.slug == "not-a-home"
            assert caught.value.hint

    @pytest.mark.parametrize("mark", ["projects", "history.jsonl", "settings.json", "todos"])
    def test_any_file_of_the_client_makes_it_one(self, tmp_path: Path, mark: str) -> None:
        root = tmp_path / "home"
        (root / mark).mkdir(parents=True)
        assert check_home(root).root == root

    def test_the_same_home_twice_is_one(self, home: Home, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(home.root)
        found = existing_homes([home.root, tmp_path / "link", tmp_path / "nothing", home.root])
        assert [item.root for item in found] == [home.root]
