"""Everything of a session in the vault: by its path, and by what the first line, the history or the transcript says."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from tests.vault.scene import CWD, ELSEWHERE, OTHER, SESSION, Scene

from recollect.format.path_text import project_key
from recollect.vault.restore import Footprints

FOLDER = project_key(CWD)


class Owned:
    """A home in which files belong to sessions in every way there is."""

    def __init__(self, folder: Path) -> None:
        self.scene = Scene(folder)
        self.root = self.scene.home.root
        project = f"projects/{FOLDER}"
        self.write(f"{project}/agent-1111.jsonl", self.line(sessionId=SESSION))
        self.write(f"{project}/agent-2222.jsonl", self.line(sessionId=OTHER))
        self.write(f"{project}/agent-3333.jsonl", b'{"type":"summary"}\nno JSON at all\n')
        self.write(f"projects/{project_key('/work/other')}/agent-4444.jsonl", self.line(sessionId=SESSION))
        self.write(f"{project}/memory/MEMORY.md", b"remember\n")
        self.write(f"{project}/sessions-index.json", b"{}")
        self.write("projects/a-file-of-no-project", b"?")
        self.write(f"todos/{SESSION}-agent-{SESSION}.json", b"[]")
        self.write("todos/of-nobody.json", b"[]")
        for name in ("only", "both", "elsewhere"):
            self.write(f"paste-cache/{name}.txt", name.encode())
        self.write("plans/patient-otter.md", b"# Its plan\n")
        with open(self.scene.path(), "ab") as stream:
            stream.write(self.line(type="user", slug="patient-otter") + self.line(type="user", slug="never-written"))
        self.write(
            "history.jsonl",
            self.typed(SESSION, "only", "both", None, "../settings")
            + b"half a li\n"
            + self.typed(OTHER, "both")
            + self.typed(ELSEWHERE, "elsewhere"),
        )
        self.scene.keep()

    def write(self, name: str, data: bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    @staticmethod
    def line(**fields: object) -> bytes:
        return json.dumps(fields, separators=(",", ":")).encode() + b"\n"

    def typed(self, session_id: str, *hashes: str | None) -> bytes:
        """A prompt with pastes, of which a short one stands in the history itself."""
        pasted = {
            str(number): {"id": number, "type": "text"} | ({"content": "x"} if told is None else {"contentHash": told})
            for number, told in enumerate(hashes, 1)
        }
        return self.line(display="Look", pastedContents=pasted, timestamp=0, project=CWD, sessionId=session_id)

    def files(self, session_id: str, *, at: float | None = None) -> set[str]:
        footprints = Footprints(self.scene.vault, 1, at=at)
        return {file.path for file, _ in footprints.complete(footprints.sessions[(FOLDER, session_id)])}


@pytest.fixture
def owned(tmp_path: Path) -> Owned:
    return Owned(tmp_path)


def test_each_session_has_what_is_its_own(owned: Owned) -> None:
    by_path = {name for name in owned.scene.files() if SESSION in name}
    assert owned.files(SESSION) == by_path | {
        f"projects/{FOLDER}/agent-1111.jsonl", "paste-cache/only.txt", "plans/patient-otter.md",
    }  # fmt: skip
    assert owned.files(OTHER) == {f"projects/{FOLDER}/{OTHER}.jsonl", f"projects/{FOLDER}/agent-2222.jsonl"}


def test_the_transcript_comes_first_and_names_its_home(owned: Owned) -> None:
    session = Footprints(owned.scene.vault, 1).sessions[(FOLDER, SESSION)]
    assert session.files[0] == (session.transcript, session.look)
    assert session.transcript.path == f"projects/{FOLDER}/{SESSION}.jsonl"
    assert session.home == 1


def test_of_a_moment_only_what_was_kept_then(owned: Owned) -> None:
    assert Footprints(owned.scene.vault, 1, at=1.0).sessions == {}
    moment = time.time()
    before = owned.files(SESSION)
    owned.write(f"tasks/{SESSION}/9.json", b'{"id":"9"}')
    owned.scene.keep()
    assert owned.files(SESSION, at=moment) == before
    assert owned.files(SESSION) - before == {f"tasks/{SESSION}/9.json"}


def test_without_pastes_and_plans_nothing_is_read_for_them(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    (scene.home.root / "plans" / "quiet-river.md").unlink()
    scene.keep()
    for pack in scene.vault.packs.iterdir():
        pack.write_bytes(b"")
    footprints = Footprints(scene.vault, 1)
    found = footprints.complete(footprints.sessions[(FOLDER, SESSION)])
    assert {file.path for file, _ in found} == {name for name in scene.files() if SESSION in name}


def test_where_the_bytes_are_lost_the_paths_still_tell(owned: Owned) -> None:
    by_path = {name for name in owned.scene.files() if SESSION in name}
    for pack in owned.scene.vault.packs.iterdir():
        pack.write_bytes(b"")
    assert owned.files(SESSION) == by_path
