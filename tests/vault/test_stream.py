"""A kept file as a stream: whatever is asked of it, it answers as the file itself would."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.vault.scene import SESSION, Scene

from recollect.errors import DamagedData
from recollect.vault.restore import KeptStream
from recollect.vault.vault import Vault

SIZE = 3000


class KeptTranscript:
    """A transcript of many short pieces, each in a block of its own, and the vault that has it."""

    def __init__(self, folder: Path) -> None:
        self.scene = Scene(folder)
        self.path = self.scene.path()
        self.path.write_bytes(b"".join(b"line %d\n" % number for number in range(SIZE))[:SIZE])
        with pytest.MonkeyPatch.context() as patch:
            for module in ("capture", "writer"):
                patch.setattr(f"recollect.vault.{module}.BLOCK", 100)
            self.scene.keep()
        self.name = self.path.relative_to(self.scene.home.root).as_posix()

    def stream(self, vault: Vault | None = None) -> KeptStream:
        vault = vault or self.scene.vault
        return KeptStream(vault, vault.contents.files[(1, self.name)])


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> KeptTranscript:
    return KeptTranscript(tmp_path_factory.mktemp("stream"))


def test_it_says_what_it_can(kept: KeptTranscript) -> None:
    stream = kept.stream()
    assert (stream.readable(), stream.seekable(), stream.writable(), stream.size) == (True, True, False, SIZE)


STEPS = st.one_of(
    st.tuples(st.just("read"), st.integers(-1, SIZE + 50)),
    st.tuples(st.just("start"), st.integers(0, SIZE + 50)),
    st.tuples(st.just("end"), st.integers(-SIZE, 50)),
    st.tuples(st.just("on"), st.integers(0, 300)),
)
WHENCE = {"start": os.SEEK_SET, "on": os.SEEK_CUR, "end": os.SEEK_END}


@given(st.lists(STEPS, max_size=12))
def test_it_is_read_like_the_file(kept: KeptTranscript, steps: list[tuple[str, int]]) -> None:
    stream = kept.stream()
    with open(kept.path, "rb", buffering=0) as file:
        for step, number in steps:
            if step == "read":
                assert stream.read(number) == file.read(number)
            else:
                assert stream.seek(number, WHENCE[step]) == file.seek(number, WHENCE[step])
            assert stream.tell() == file.tell()


def test_a_place_before_its_beginning_is_its_beginning(kept: KeptTranscript) -> None:
    stream = kept.stream()
    assert stream.seek(-SIZE - 1, os.SEEK_END) == 0
    assert stream.readall() == kept.path.read_bytes()


def test_lines_are_read_through_a_buffer(kept: KeptTranscript) -> None:
    with io.BufferedReader(kept.stream(), 64) as stream:
        assert stream.readlines() == kept.path.read_bytes().splitlines(keepends=True)


def test_an_earlier_moment_ends_where_the_file_ended_then(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    before = scene.path().read_bytes()
    scene.keep()
    with open(scene.path(), "ab") as file:
        file.write(b"more\n" * 100)
    scene.keep()
    vault = scene.vault
    kept = vault.contents.files[(1, scene.path().relative_to(scene.home.root).as_posix())]
    assert KeptStream(vault, kept, kept.looks[0]).read() == before
    assert KeptStream(vault, kept).read() == scene.path().read_bytes()


def test_damage_is_told_where_it_is_reached(tmp_path: Path) -> None:
    kept = KeptTranscript(tmp_path)
    vault = kept.scene.vault
    file = vault.contents.files[(1, kept.name)]
    offset, piece = list(file.pieces(file.last))[7]
    place = vault.contents.blocks[piece.block]
    with open(vault.pack_path(place.pack), "r+b") as pack:
        pack.seek(place.offset + 20)
        pack.write(b"XX")
    stream = kept.stream()
    assert stream.read(offset) == kept.path.read_bytes()[:offset]
    with pytest.raises(DamagedData, match=f"{SESSION}.*block {piece.block} ") as caught:
        stream.read(1)
    assert caught.value.slug == "vault-damaged"
    assert stream.seek(offset + piece.length) == offset + piece.length
    assert stream.read() == kept.path.read_bytes()[offset + piece.length :], "what stands behind is read"
