"""One stamp tells a file that was written to, replaced or given another name from one that was left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recollect.store.opening import file_stamp, signed


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a"
    path.write_bytes(b"one")
    return path


def test_a_file_left_alone_keeps_its_stamp(path: Path) -> None:
    before = file_stamp(os.stat(path))
    path.read_bytes()
    assert file_stamp(os.stat(path)) == before


def test_other_bytes_at_the_same_time_are_told_by_the_size_or_the_time_of_the_change(path: Path) -> None:
    info = os.stat(path)
    path.write_bytes(b"three")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert os.stat(path).st_mtime_ns == info.st_mtime_ns
    assert file_stamp(os.stat(path)) != file_stamp(info)


def test_another_file_in_its_place_is_told(path: Path, tmp_path: Path) -> None:
    info = os.stat(path)
    other = tmp_path / "b"
    other.write_bytes(b"two")
    os.utime(other, ns=(info.st_atime_ns, info.st_mtime_ns))
    os.replace(other, path)
    assert file_stamp(os.stat(path)) != file_stamp(info)


@pytest.mark.parametrize(
    ("number", "stored"), [(0, 0), ((1 << 63) - 1, (1 << 63) - 1), (1 << 63, -(1 << 63)), ((1 << 64) - 1, -1)]
)
def test_numbers_of_64_bits_fit_a_database(number: int, stored: int) -> None:
    assert signed(number) == stored
