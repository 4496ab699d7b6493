"""Single writes to the disk: what is refused, what is waited for, and what is put back after a failure."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from tests.faults.faulty import Fault, faulty_disk

from recollect.errors import DamagedData, Refused, StoreBusy
from recollect.journal import disk
from recollect.journal.locks import is_being_written
from recollect.store.home import Home
from recollect.store.stamp import Stamp, stamp_of

needs_leases = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
LINE = b'{"type":"tag"}\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file.jsonl"
    path.write_bytes(LINE)
    os.utime(path, (1e9, 1e9))
    return path


@pytest.mark.parametrize(
    ("number", "kind", "slug"),
    [
        (errno.ENOSPC, Refused, "disk-full"), (errno.EDQUOT, Refused, "disk-full"), (errno.EROFS, Refused, "read-only"),
        (errno.EACCES, Refused, "read-only"), (errno.ELOOP, Refused, "outside-home"), (errno.EBUSY, StoreBusy, None),
        (errno.EIO, DamagedData, "write-failed"),
    ],
)  # fmt: skip
def test_errors_of_the_system_are_explained(number: int, kind: type[Exception], slug: str | None) -> None:
    problem = disk.explain(OSError(number, os.strerror(number)), "/some/where")
    assert isinstance(problem, kind)
    assert "/some/where" in str(problem)
    assert slug is None or getattr(problem, "slug", None) == slug


def test_a_full_disk_is_that_of_the_copy(tmp_path: Path) -> None:
    problem = OSError(errno.ENOSPC, "No space left on device", "/from", None, "/to")
    assert "/to" in str(disk.explain(problem, tmp_path))


class TestAppend:
    def test_an_open_line_is_ended_first(self, path: Path) -> None:
        path.write_bytes(LINE[:-1])
        done = disk.append_bytes(path, LINE)
        assert path.read_bytes() == LINE + LINE
        assert (done.start, done.data, done.left) == (len(LINE) - 1, b"\n" + LINE, stamp_of(path))

    def test_a_file_of_another_size_is_left_alone(self, path: Path) -> None:
        with pytest.raises(StoreBusy) as busy:
            disk.append_bytes(path, LINE, expected=3)
        assert busy.value.slug == "changed-meanwhile"
        assert path.read_bytes() == LINE

    @pytest.mark.parametrize("kind", ["short", "EIO", "signal after"])
    @pytest.mark.parametrize("create", [False, True], ids=["grown", "created"])
    def test_a_failure_leaves_no_trace(self, kind: str, create: bool, tmp_path: Path) -> None:
        at, struck = 1, True
        while struck:
            path = tmp_path / f"{at}.jsonl"
            if not create:
                path.write_bytes(LINE)
                os.utime(path, (1e9, 1e9))
            before = stamp_of(path)
            fault = Fault(at, kind)
            with faulty_disk(fault):
                try:
                    disk.append_bytes(path, LINE, create=create, mtime_ns=None if create else 5)
                except (OSError, KeyboardInterrupt):
                    if fault.hit != ["open"] and fault.hit != ["utime"]:
                        assert stamp_of(path) == before, fault.hit
            struck = bool(fault.hit)
            at += 1
        assert at > 3

    def test_what_another_program_wrote_behind_is_not_cut_off(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def write_behind_and_fail(fd: int) -> None:
            with open(path, "ab") as other:
                other.write(b"theirs\n")
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(os, "fsync", write_behind_and_fail)
        with pytest.raises(OSError, match="Input"):
            disk.append_bytes(path, LINE)
        assert path.read_bytes() == LINE + LINE + b"theirs\n"

    def test_without_a_sync_none_is_made(self, path: Path) -> None:
        fault = Fault(10**9, "EIO")
        with faulty_disk(fault):
            disk.append_bytes(path, LINE, sync=False)
        assert "fsync" not in fault.seen


@needs_leases
class TestOtherPrograms:
    def test_a_quiet_one_that_has_the_file_open_does_not_matter(self, path: Path) -> None:
        with open(path, "ab"):
            assert is_being_written(path)
            disk.append_bytes(path, LINE)
        assert path.read_bytes() == LINE + LINE

    def test_one_within_a_line_is_waited_for_and_then_refused(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(disk, "WAITS", 0.05)
        with open(path, "ab", buffering=0) as other:
            other.write(b'{"half')
            with pytest.raises(StoreBusy) as busy:
                disk.append_bytes(path, LINE)
        assert busy.value.slug == "session-running"
        assert path.read_bytes() == LINE + b'{"half'

    def test_a_reader_is_not_waited_for(self, path: Path) -> None:
        with open(path, "rb"):
            assert not is_being_written(path)
            disk.append_bytes(path, LINE)
            disk.truncate(path, 0, expected=2 * len(LINE), mtime_ns=7)
        assert stamp_of(path) == Stamp(0, 7)

    def test_no_file_is_cut_under_the_hands_of_a_writer(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(disk, "WAITS", 0.05)
        with open(path, "ab"), pytest.raises(BlockingIOError, match="another process"):
            disk.truncate(path, 0, expected=len(LINE), mtime_ns=7)
        assert path.read_bytes() == LINE


def test_a_file_is_opened_only_as_it_was_seen(path: Path) -> None:
    seen = stamp_of(path)
    assert seen is not None
    fd = disk.open_if_unchanged(path, seen)
    assert fd is not None
    os.close(fd)
    os.utime(path, (2e9, 2e9))
    assert disk.open_if_unchanged(path, seen) is None
    path.unlink()
    assert disk.open_if_unchanged(path, seen) is None


def test_only_a_file_of_the_expected_size_is_cut_or_removed(path: Path) -> None:
    with pytest.raises(BlockingIOError):
        disk.truncate(path, 0, expected=3, mtime_ns=7)
    with pytest.raises(BlockingIOError):
        disk.remove_file(path, expected=3)
    assert path.read_bytes() == LINE


def test_a_new_file_that_cannot_be_completed_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "SYNCED_AT_ONCE", 4)
    assert disk.write_new(tmp_path / "whole", [b"12345", b"", b"6"]) == 6
    monkeypatch.setattr(os, "write", lambda *_: 0)
    with pytest.raises(OSError, match="short write"):
        disk.write_new(tmp_path / "half", [b"12345"])
    assert not (tmp_path / "half").exists()


class TestTwoDisks:
    """Nothing can be renamed or linked from one folder to the other."""

    @pytest.fixture
    def apart(self, tmp_path: Path) -> Fault:
        for name in ("one", "other"):
            (tmp_path / name).mkdir()
        return Fault(10**9, "EIO", apart=(tmp_path / "one", tmp_path / "other"))

    def test_a_folder_moves_with_times_and_links(self, tmp_path: Path, apart: Fault) -> None:
        source, target = tmp_path / "one" / "folder", tmp_path / "other" / "folder"
        (source / "deep").mkdir(parents=True)
        (source / "deep" / "file").write_bytes(b"x")
        os.utime(source / "deep" / "file", (1e9, 1e9))
        (source / "link").symlink_to("deep/file")
        with faulty_disk(apart):
            disk.move(source, target)
        assert (target / "deep" / "file").stat().st_mtime == 1e9
        assert os.readlink(target / "link") == "deep/file"
        assert os.listdir(tmp_path / "one") == []
        assert os.listdir(tmp_path / "other") == ["folder"]

    @pytest.mark.parametrize(
        ("interrupted", "settled"),
        [
            ({"one/file": "old", "other/.file.recollect-tmp": "o"}, {"one/file": "old"}),
            ({"one/.file.recollect-gone": "old", "other/.file.recollect-tmp": "old"}, {"one/file": "old"}),
            ({"one/.file.recollect-gone": "old", "other/file": "old"}, {"other/file": "old"}),
            (
                {"one/.file.recollect-gone": "old", "other/.file.recollect-tmp": "old", "one/file": "made anew"},
                {"other/file": "old", "one/file": "made anew"},
            ),
            ({"other/file": "old"}, {"other/file": "old"}),
        ],
        ids=["while copying", "before the swap", "after the swap", "another one came meanwhile", "done"],
    )
    def test_an_interrupted_move_is_completed_or_taken_back(
        self, tmp_path: Path, apart: Fault, interrupted: dict[str, str], settled: dict[str, str]
    ) -> None:
        for name, text in interrupted.items():
            (tmp_path / name).write_text(text)
        disk.settle_move(tmp_path / "one" / "file", tmp_path / "other" / "file")
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert {str(path.relative_to(tmp_path)): path.read_text() for path in files} == settled

    def test_the_error_of_a_file_comes_out_of_the_copy_of_its_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "source").mkdir()
        (tmp_path / "source" / "file").write_bytes(b"x")

        def full(*_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(shutil, "copy2", full)
        with pytest.raises(OSError, match="No space") as problem:
            disk.copy_tree(tmp_path / "source", tmp_path / "target")
        assert problem.value.errno == errno.ENOSPC


def test_a_move_never_overwrites(path: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"x")
    with pytest.raises(FileExistsError):
        disk.move(path, tmp_path / "there")
    assert (tmp_path / "there").read_bytes() == b"x"


def test_folders_of_our_own_are_private_and_a_file_in_the_way_is_an_error(tmp_path: Path) -> None:
    disk.make_folders(tmp_path / "a" / "b")
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("a", "a/b")] == [0o700, 0o700]
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        disk.make_folders(tmp_path / "file" / "below")


def test_a_folder_that_another_process_makes_meanwhile_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.mkdir

    def made_already(path: Path, mode: int) -> None:
        real(path, mode)
        raise FileExistsError(errno.EEXIST, "File exists", str(path))

    monkeypatch.setattr(os, "mkdir", made_already)
    disk.make_folders(tmp_path / "a" / "b")
    disk.make_home(Home(tmp_path / "claude"))
    assert (tmp_path / "a" / "b").is_dir()
    assert (tmp_path / "claude" / "projects").is_dir()


def test_a_home_that_cannot_be_made_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(Refused) as refused:
        disk.make_home(Home(tmp_path / "claude"))
    assert refused.value.slug == "read-only"


def test_a_line_in_the_future_does_not_make_the_append_wait_for_ever(path: Path) -> None:
    os.utime(path, (time.time() + 3600,) * 2)
    disk.append_bytes(path, LINE)
    assert path.read_bytes() == LINE + LINE
