"""Test export formats (`recollect.export.formats.Format`) for what every export relies on, over sessions of every kind.

    from recollect.testing.export_contract import CONTRACTS, build_export_home

    @pytest.mark.parametrize("check", CONTRACTS)
    def test_my_format(check, sessions, tmp_path):
        check(MY_FORMAT, sessions, tmp_path)

`sessions` are those of the home that `build_export_home` makes, opened in any way: from the home, from the vault, redacted.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..export.document import DEPTHS, Document, ExportOptions, OpenSession
from ..export.formats import Format, Pieces
from ..export.json_text import whole_text
from .damage import DAMAGES
from .home import HomeBuilder
from .identifiers import uuid_from
from .toolcalls import ToolCall, bash, edit, failed
from .transcript import TranscriptBuilder

PICTURE: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A picture of one dot."""
HOSTILE: Final = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "Thanks @octocat, fixes #12, closes GH-3 and owner/repo#4, see https://github.com/o/r/issues/5 !7",
    "[click](javascript:alert(1)) [data](data:text/html,x) ![pixel](https://example.com/pixel.png) <javascript:alert(1)>",
    "```\nnever closed",
    "~~~~\n```\n</details></summary>\n<details open ontoggle=alert(1)>",
    "# A heading\n\nSetext\n===\n\n---\ntitle: no front matter\n---\n\n| a | b |\n|---|---|\n| `|` | <b> |",
    "[[wiki]] #tag %%hidden%% `= this.file` `$= dv.run()` $x^2$ $$y$$ ==mark== [^1]\n\n[^1]: note\n\n[ref]: https://example.com",
    "```mermaid\ngraph TD\n```\n\n```dataviewjs\nalert(1)\n```\n\n````\n```\n````",
    "\x1b]0;title\x07\x1b[2J\x9b31m bell \x07 nul \x00 \u202egnp.exe \u200b zero",
    "=HYPERLINK(\"http://example.com\")\n+1+1\t@SUM(A1)",
    "half a pair: \ud83d and the other: \ude00",
    "*" * 4000 + "[" * 4000 + "`" * 50,
    "a " * 3000 + "\n" + "x" * 20_000,
)  # fmt: skip
"""Texts that try to be more than text."""
_SOME: Final = 8
"""How many sessions a check reads that is about the format, not about the session."""


class Written(NamedTuple):
    """What a format wrote."""

    name: str
    files: dict[str, bytes]

    @property
    def main(self) -> bytes:
        return self.files[self.name]


class MemoryOutput:
    """Keeps what a format writes."""

    def __init__(self, name: str, suffix: str, folder: Path, *, may_be_several: bool = True) -> None:
        self.name = name
        self.stem = name.removesuffix(suffix)
        self.may_be_several = may_be_several
        self.files: dict[str, bytes] = {}
        self._folder = folder

    def write(self, name: str, pieces: Pieces) -> int:
        assert name not in self.files, f"{name} is written twice"
        assert self.may_be_several or name == self.name, f"{name} is a second file"
        self.files[name] = b""  # other files may be written while the pieces are made
        self.files[name] = b"".join(whole_text(item).encode() if isinstance(item, str) else item for item in pieces)
        return len(self.files[name])

    def scratch(self, name: str) -> Path:
        self._folder.mkdir(exist_ok=True)
        return self._folder / name

    def write_scratch(self, path: Path, pieces: Pieces) -> None:
        path.write_bytes(b"".join(whole_text(item).encode() if isinstance(item, str) else item for item in pieces))


def write_with(
    format: Format,
    sessions: Iterable[OpenSession],
    folder: Path,
    options: ExportOptions,
    *,
    may_be_several: bool = True,
) -> Written:
    """Write sessions by a format into memory; `folder` is for its private files."""
    out = MemoryOutput(f"an export{format.suffix}", format.suffix, folder / "scratch", may_be_several=may_be_several)
    format.write([Document(session, options) for session in sessions], out, options)
    return Written(out.name, out.files)


def build_export_home(root: Path) -> Path:
    """Build a home with a session of every kind that an export meets."""
    home = HomeBuilder(root)
    _rich(home.session("/home/dev/garden", session_id=uuid_from("export", "rich")))
    _hostile(home.session("/home/dev/garden", session_id=uuid_from("export", "hostile")))
    home.session("/home/dev/empty", session_id=uuid_from("export", "empty"))
    only_prompt = home.session("/home/dev/garden", session_id=uuid_from("export", "unanswered"))
    only_prompt.user("Is anybody there?")
    for recipe in DAMAGES.values():
        if recipe.rename is None:
            damaged = home.session("/home/dev/orchard", session_id=uuid_from("export", recipe.name))
            home.damage(damaged, recipe.make())
    orphan = home.session("/home/dev/garden", session_id=uuid_from("export", "orphan"))
    orphan.user("Look into it")
    helper = orphan.subagent("Look deeper", description="Deeper")
    helper.assistant("Only I am left.")
    helper.finish("Only I am left.")
    path = home.session_path(orphan)
    home.write()
    path.unlink()
    return root


def _rich(session: TranscriptBuilder) -> None:
    picture = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PICTURE).decode()},
    }
    odd = {"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2Zy8+"}}
    broken = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "%%%"}}
    paper = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}}
    session.user([{"type": "text", "text": "What is on this picture?"}, picture, odd, broken, paper])
    session.assistant("A dot.", thinking="It is very small.")
    session.call(bash("ls -la", "total 0\n"), "Let me look.")
    session.call(edit("/home/dev/garden/a.py", "one", "two", original="one\n"))
    session.call(failed("Bash", {"command": "false"}, "exit 1"))
    session.call(ToolCall("Read", {"file_path": "dot.png"}, content=[picture, {"type": "text", "text": "a dot"}]))
    helper = session.subagent("Look deeper", description="Deeper")
    helper.call(bash("grep -r dot", "dot.png"))
    deeper = helper.subagent("Deeper still", description="Deepest")
    deeper.finish("Nothing.")
    helper.finish("Nothing there.")
    kept = session.assistant("# Done\n\n- one\n- two\n\n```python\nprint(1)\n```")
    session.user("Do it in another way.")
    session.assistant("That was the branch.")
    session.rewind(kept)
    session.user("Go on.")
    session.compact("auto", "So far: a dot was found.")
    session.api_error()
    session.attachment("file", filename="notes.md", content="# notes")
    session.system("turn_duration", durationMs=4200)
    session.assistant(
        "Going on.", tools=[ToolCall("mcp__tracker.do it!", {"n": float("1e308"), "list": [1, {"a": None}]})]
    )


def _hostile(session: TranscriptBuilder) -> None:
    for text in HOSTILE:
        session.user(text)
        session.call(bash(text, text), text, thinking=text)
        session.assistant(text)
    session.call(
        ToolCall("<b>@octocat</b> #1\n```", {"file_path": "</summary><script>", "<k>": HOSTILE}, content="</details>")
    )
    session.user([{"type": "hologram", "beam": "<script>"}, {"type": "text", "text": "unknown block above"}])


def _all(sessions: Sequence[OpenSession], format: Format) -> Iterator[list[OpenSession]]:
    """Yield the sessions one by one, and together where the format holds several."""
    yield from ([session] for session in sessions)
    if format.holds_many:
        yield list(sessions)


def it_writes_its_main_file(format: Format, sessions: Sequence[OpenSession], folder: Path) -> None:
    options = ExportOptions(depth=format.depth, branches=format.branches)
    for some in _all(sessions, format):
        written = write_with(format, some, folder, options)
        assert written.name in written.files or any(name.startswith("an export/") for name in written.files)


def its_other_files_are_named_after_it(format: Format, sessions: Sequence[OpenSession], folder: Path) -> None:
    for session in sessions[:_SOME]:
        for name in write_with(format, [session], folder, ExportOptions(depth=format.depth, pictures="files")).files:
            assert name.startswith(("an export.", "an export/")), name
            assert ".." not in name.split("/"), name


def every_depth_range_and_view_can_be_written(format: Format, sessions: Sequence[OpenSession], folder: Path) -> None:
    plain = ExportOptions()
    variants = [replace(plain, depth=depth, branches=True, costs=True) for depth in DEPTHS]
    variants += [replace(plain, depth="all", view="all"), replace(plain, view="thread", last=2), replace(plain, last=0)]
    variants += [
        replace(plain, start=2, end=3),
        replace(plain, start=900),
        replace(plain, timezone="Asia/Tokyo", single=True),
    ]
    variants += [replace(plain, pictures=kind, front_matter=True) for kind in ("none", "inline", "files")]
    for session in sessions[:3]:
        for options in variants:
            write_with(format, [session], folder, options)


def one_file_can_be_all(format: Format, sessions: Sequence[OpenSession], folder: Path) -> None:
    for session in sessions[:_SOME]:
        written = write_with(format, [session], folder, ExportOptions(depth=format.depth), may_be_several=False)
        assert list(written.files) == [written.name]


def the_same_session_gives_the_same_bytes(format: Format, sessions: Sequence[OpenSession], folder: Path) -> None:
    options = ExportOptions(depth=format.depth, branches=True, costs=True)
    for session in sessions[:_SOME]:
        assert write_with(format, [session], folder, options) == write_with(format, [session], folder, options)


def what_is_text_is_text(format: Format, sessions: Sequence[OpenSession], folder: Path) -> None:
    if format.name in ("parquet", "jsonl"):  # binary; and the bytes of the session, whatever they are
        return
    for session in sessions:
        files = write_with(format, [session], folder, ExportOptions(depth=format.depth, branches=True)).files
        for name, data in files.items():
            if not name.endswith((".png", ".jpg", ".gif", ".webp")):
                text = data.decode("utf-8")
                assert not any(mark in text for mark in "\x00\x07\x1b\x9b"), name


def what_is_json_can_be_read(format: Format, sessions: Sequence[OpenSession], folder: Path) -> None:
    if format.suffix not in (".json", ".jsonl") or format.name == "jsonl":
        return
    for session in sessions:
        text = write_with(format, [session], folder, ExportOptions(depth=format.depth, branches=True)).main.decode()
        for document in [text] if format.suffix == ".json" else text.splitlines():
            json.loads(document, parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")


CONTRACTS: Final[tuple[Callable[[Format, Sequence[OpenSession], Path], None], ...]] = (
    it_writes_its_main_file, its_other_files_are_named_after_it, every_depth_range_and_view_can_be_written,
    one_file_can_be_all, the_same_session_gives_the_same_bytes, what_is_text_is_text, what_is_json_can_be_read,
)  # fmt: skip
