"""Values that look like secrets and belong to nobody, and a session that is full of them."""

from __future__ import annotations

import base64
import json
import random
import string
from pathlib import Path

from recollect.testing.home import HomeBuilder
from recollect.testing.toolcalls import bash, read

_draw = random.Random(5)


def letters(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(_draw.choice(alphabet) for _ in range(count))


API_KEY = f"sk-ant-api03-{letters(93)}AA"
GOOGLE_KEY = f"AIza{letters(35)}"
PASSWORD = "Harbour!Ledger4821"
PRIVATE_KEY = "\n".join(
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        *(letters(64, string.ascii_letters + string.digits + "+/") for _ in range(12)),
        "-----END RSA PRIVATE KEY-----",
    ]
)


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


CWD = "/home/inesh/code/app"
PICTURE = in_base64("\x89PNG made up" + "".join(map(chr, range(32, 127))) * 5)


def build(root: Path) -> HomeBuilder:
    """A session with values at many places, some of them only recognisable at one of these."""
    home = HomeBuilder(root)
    talk = home.session(CWD, slug="quiet-orchard")
    talk.user(f"Here is the key: {API_KEY}. Mail ines@halden.dev when it is done, or ask inesh.")
    talk.assistant(f"I put {API_KEY} into the file.", thinking=f"The key {API_KEY} must not leak.")
    talk.call(bash("cat .env", f"DB_PASSWORD={PASSWORD}\nPATH=/home/inesh/bin\n"))
    talk.results()
    talk.call(bash(f"echo {in_base64('user:' + PASSWORD)} | base64 -d", f"user:{PASSWORD}"))
    talk.results()
    talk.call(read(f"{CWD}/id_rsa", PRIVATE_KEY))
    talk.results()
    talk.user(
        [
            {"type": "text", "text": f"Logs: {json.dumps({'body': json.dumps({'k': GOOGLE_KEY})})}"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}},
        ]
    )
    helper = talk.subagent(f"Look for {PASSWORD}")
    helper.assistant(f"It is in {CWD}/.env: {PASSWORD}")
    helper.finish("Found.")
    talk.assistant("Done.", toolMeta={GOOGLE_KEY: {"/home/inesh/x": 1}})
    home.tool_result_file(CWD, talk.session_id, "b1", f"line\nexport KEY={GOOGLE_KEY}\n{PRIVATE_KEY}\n/home/inesh\n")
    home.todos(talk.session_id, [{"content": f"revoke {GOOGLE_KEY}", "status": "pending", "activeForm": "Revoking"}])
    home.plan("quiet-orchard", f"# Plan\n\n1. Rotate {API_KEY}\n")
    home.backup(talk.session_id, f"{CWD}/.env", 1, f"DB_PASSWORD={PASSWORD}\n")
    return home
