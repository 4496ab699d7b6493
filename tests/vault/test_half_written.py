"""What a crash, a full disk or another program left behind: half a pack, a commit that says nothing, a file that changed."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import pytest
from tests.vault.scene import OTHER, SESSION, Scene

from recollect.errors import Refused
from recollect.vault.blocks import MAGIC, RECORDS, encode_block
from recollect.vault.bundle import BundleReader, FileToBundle, encode_bundle
from recollect.vault.retention import is_as_kept
from recollect.vault.verify import verify
from recollect.vault.writer import commits_in_packs, encode_records

GOOD = f"projects/-p/{SESSION}.jsonl"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path)
    scene.keep()
    return scene


def grow(scene: Scene) -> None:
    with open(scene.path(OTHER), "ab") as stream:
        stream.write(b'{"type":"tag","tag":"x"}\n')


@pytest.mark.parametrize("begun", [b"", MAGIC[:5], MAGIC, MAGIC + b"RCD1 half a block"])
def test_a_pack_that_was_only_begun_is_in_nobodys_way(scene: Scene, begun: bytes) -> None:
    scene.vault.pack_path(2).write_bytes(begun)
    grow(scene)
    assert scene.keep().grown == 1
    assert scene.all_kept() == scene.files()
    assert verify(scene.vault, deep=True).findings == []


def test_a_commit_that_says_nothing_is_none(tmp_path: Path) -> None:
    blocks = [
        encode_block(RECORDS, encode_records(b'{"number":17}')),
        encode_block(RECORDS, b"no frame at all"),
        encode_block(RECORDS, b""),
    ]
    (tmp_path / "00000001.pack").write_bytes(MAGIC + b"".join(blocks))
    (tmp_path / "00000002.pack").mkdir()
    assert list(commits_in_packs(tmp_path)) == []


def test_a_file_that_is_gone_is_not_as_kept(scene: Scene) -> None:
    vault = scene.vault
    name = scene.path().relative_to(scene.home.root).as_posix()
    file = vault.contents.files[(1, name)]
    assert is_as_kept(scene.home, name, file)
    scene.path().unlink()
    assert not is_as_kept(scene.home, name, file)
    assert not is_as_kept(scene.home, name, None)


def test_a_file_that_changes_while_it_is_bundled_ends_that() -> None:
    counted = itertools.count()
    changing = FileToBundle(GOOD, 7, lambda: iter([b"%d" % next(counted)]))
    with pytest.raises(ValueError, match="was changed meanwhile"):
        b"".join(encode_bundle("/r", 0.0, [], [changing]))


def test_a_bundle_that_ends_otherwise_is_refused() -> None:
    data = b"".join(encode_bundle("/r", 0.0, [], [FileToBundle(GOOD, 7, lambda: iter([b"x" * 100]))]))
    end = data.rindex(RECORDS)
    with pytest.raises(Refused, match="does not end as bundles do"):
        for _, chunks in BundleReader(io.BytesIO(data[:end] + encode_block(RECORDS, encode_records(b"17")))).files():
            b"".join(chunks)
