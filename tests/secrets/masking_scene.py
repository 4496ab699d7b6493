"""A home in which made-up secrets stand in every kind of file, with an index, a vault, a journal and bookmarks of it."""

from __future__ import annotations

import base64
import json
import os
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

from recollect.library.library import Library
from recollect.library.masking import MaskPlan
from recollect.secrets.values import SecretValue
from recollect.store.home import Home
from recollect.testing import HomeBuilder, uuid_from
from recollect.testing.toolcalls import bash, read
from recollect.vault.blocks import walk_blocks

CWD = "/work/tea"
MAIN, OTHER, DELETED, CLEAN = (uuid_from("masking", name) for name in ("main", "other", "deleted", "clean"))

TOKEN = SecretValue("github-pat", "aaaaaaaaaaaa", "ghp_" + "n4Qz7Lw2Vb9Xc5Rt8Yk1Md3Fs6Gh0JpTzWaE")
PASSWORD = SecretValue("generic-password", "bbbbbbbbbbbb", 'kettle/"7\\Whistle é9')
KEY = SecretValue(
    "private-key",
    "cccccccccccc",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n"
    "AgEAAoIBAQC7VJTUt9Us8cKjMzEfYyjiWA4R4ypb\n-----END PRIVATE KEY-----",
)
VALUES = (TOKEN, PASSWORD, KEY)


def build_home(root: Path) -> Home:
    """Sessions, subagents and side files with the values in many forms. All of it is months old."""
    t, p, k = (item.value for item in VALUES)
    home = HomeBuilder(root)
    main = home.session(CWD, session_id=MAIN)
    main.user(f"Use the token {t} for the shop, and the password {p}.")
    main.assistant("I will keep it in mind.", thinking=f"The token is {t}, I must not repeat it.")
    main.assistant(
        blocks=[{"type": "thinking", "thinking": f"Again {t}", "signature": "c2ln"}, {"type": "text", "text": "Yes."}]
    )
    main.call(read(f"{CWD}/key.pem", k))
    main.call(bash(f"curl -H 'Authorization: token {t}' https://shop.example", json.dumps({"token": t, "password": p})))
    main.call(bash("cat auth", base64.b64encode(f"tea:{t}".encode()).decode() + "\n" + urllib.parse.quote(p, safe="")))
    wrapped = f"{t[:20]}\n    {t[20:]}"
    main.call(bash("cat wrapped.txt", f"token:\n    {wrapped}\n"))
    helper = main.subagent(f"try the token {t}")
    helper.user("go on")
    helper.finish(f"it works: {t}")
    main.user("Thanks.")
    main.assistant("You are welcome.")
    main.line(type="ai-title", aiTitle=f"Shop with {t}", sessionId=MAIN)
    main.line(type="last-prompt", lastPrompt=f"Use the token {t}", leafUuid=main.head, sessionId=MAIN)
    main.line(type="api-request-blob", sha256="00", blob=f"prompt {t}", sessionId=MAIN)
    main.raw(b'{"type":"user","uuid":"torn","message":{"role":"user","content":"torn ' + t.encode())
    home.tool_output(main, "b1234567", f"a long output\nexport TOKEN={t}\n{k}\n")
    other = home.session(CWD, session_id=OTHER)
    other.user("What is the weather?")
    other.assistant(f"Ask with {t}.")
    deleted = home.session(CWD, session_id=DELETED)
    deleted.user(f"A session for the trash with {t}")
    deleted.assistant("Gone soon.")
    clean = home.session("/work/clean", session_id=CLEAN)
    clean.user("Nothing secret here")
    clean.assistant("Indeed")
    home.history(f"Use the token {t} for the shop", project=CWD, session_id=MAIN, pasted={1: p})
    home.history("Nothing", project=CWD, session_id=MAIN)
    home.paste(f"{k}\n")
    home.backup(MAIN, f"{CWD}/.env", 1, f"TOKEN={t}\nPASSWORD='{p}'\n")
    home.plan("quiet-river", f"# Plan\n\nSet TOKEN to `{t}`.\n")
    home.todos(MAIN, [{"content": f"rotate {t}", "status": "pending", "activeForm": "rotating"}], subagent=MAIN)
    home.task(MAIN, 1, f"rotate {p}")
    home.debug_log(MAIN, f"[DEBUG] header {t}\n", latest=False)
    home.shell_snapshot(text=f"export TOKEN={t}\n")
    home.session_env(MAIN, text=f"export TOKEN={t}\n")
    home.memory(CWD, f"The token is {t}.\n")
    home.file("settings.json", json.dumps({"env": {"TOKEN": t}}, indent=2))
    home.file(".credentials.json", json.dumps({"key": "never read"}))
    home.file("image-cache/x/1.png", b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    return Home(home.write())


class MaskScene:
    """The home, our own folders, and what uses them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = build_home(folder / "claude")

    def own_folder(self, kind: str) -> Path:
        return self.folder / kind

    def library(self) -> Library:
        return Library([self.home], own_folder=self.own_folder)

    def fill(self) -> None:
        """Make everything of our own that may hold a value: vault, index, journal, trash, bookmarks, tables."""
        with self.library() as library:
            library.vault.keep()
            library.index(statuses=True)
            library.changes.rename(CLEAN, "Nothing to see", force=True).commit()
            library.changes.rename(OTHER, f"Tea for {TOKEN.value}", force=True).commit()
            forked = library.changes.fork(MAIN).commit().result["session_id"]
            for path in self.home.projects.rglob(f"*{forked}*/**/*.jsonl"):
                os.utime(path, (1.7e9, 1.7e9))  # so that it counts as old, whoever wrote it
            os.utime(next(self.home.projects.glob(f"*/{forked}.jsonl")), (1.7e9, 1.7e9))
            library.changes.delete([DELETED]).commit()
            library.bookmarks.add(OTHER, note=f"remember {TOKEN.value}")
            library.refresh()
            library.vault.keep()
            library.index(statuses=True)
            library.sql("SELECT count(*) FROM sessions")

    def plan(
        self, library: Library, *, everywhere: bool = False, same_length: bool = False, settings: bool = False
    ) -> MaskPlan:
        return library.changes.mask(VALUES, everywhere=everywhere, same_length=same_length, settings=settings)

    def mask(self, **options: bool) -> MaskPlan:
        with self.library() as library:
            plan = self.plan(library, **options)
            plan.commit()
            return plan

    # --- looking ------------------------------------------------------------------------------------------------------

    def leaks(self, *, but: tuple[str, ...] = ()) -> list[str]:
        """Return the places below home, data, cache and config that hold a value: raw bytes, blocks of packs, SQLite pages."""
        return [
            f"{name}: {value.kind}"
            for name, data in readable(self.folder)
            if not name.startswith(but or ("-",))
            for value in VALUES
            if any(form in data for form in forms(value.value))
        ]


def forms(value: str) -> set[bytes]:
    """Return a value as it may stand in a file. Without the finder's own code, so that both must agree."""
    escaped = json.dumps(value)[1:-1]
    texts = {
        value, escaped, json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(escaped)[1:-1],
        urllib.parse.quote(value, safe=""), urllib.parse.quote(value), value.replace("\n", "\\n"),
    }  # fmt: skip
    found = {text.encode() for text in texts}
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + value.encode())
        found.add(whole[8:-8])
    return found


def readable(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of every file below a folder, and of every block in every pack."""
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if path.is_symlink():
                continue
            relative = path.relative_to(folder).as_posix()
            yield relative, path.read_bytes()
            if path.suffix == ".pack":
                yield from ((f"{relative} {number}", data) for number, data in blocks_of(path))


def blocks_of(pack: Path) -> Iterator[tuple[int, bytes]]:
    from backports import zstd

    with open(pack, "rb") as stream:
        for block in walk_blocks(stream):
            if block.kind == b"RCD1":
                yield block.offset, zstd.decompress(block.payload)


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and times of all files below a folder."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
