"""Demo project: a notebook about a garden, kept as a static site."""

from __future__ import annotations

from datetime import datetime, timedelta

from recollect.testing.home import HomeBuilder
from recollect.testing.toolcalls import bash, edit, read
from recollect.testing.transcript import TranscriptBuilder

GARDEN = "/home/ada/notes/garden"
PAGE = "# Beds\n\n- Bed 1: beans\n- Bed 2: garlic\n"


def garden_sessions(home: HomeBuilder, now: datetime) -> TranscriptBuilder:
    """All sessions of the project; returns the newest."""
    _feed(home, now - timedelta(days=16, hours=9))
    rotation = _rotation(home, now - timedelta(days=2, hours=3))
    return _branched(home, rotation, now - timedelta(days=2, hours=1))


def _feed(home: HomeBuilder, start: datetime) -> None:
    """A turn taken back in a client that had no checkpoints yet."""
    t = home.session(GARDEN, version="2.1.50", start=start, git_branch="")
    t.user("The feed shows drafts. It should not.")
    t.call(read(f"{GARDEN}/feed.py", "pages = load()\n"))
    question = t.assistant("`load()` gives every page. How do I know a draft: by its name, or by a flag in its head?")
    t.user("By an underscore in the name.")
    t.assistant("No page has one so far; you would have to rename eleven files and their links.")
    t.rewind(question)
    t.user("By the flag, then.")
    t.call(edit(f"{GARDEN}/feed.py", "load()", "[p for p in load() if not p.draft]", original="pages = load()\n"))
    t.assistant("The feed leaves drafts out now.")
    home.todos(t.session_id, [], subagent=t.session_id)
    home.session_env(t.session_id)


def _rotation(home: HomeBuilder, start: datetime) -> TranscriptBuilder:
    t = home.session(GARDEN, version="2.1.325", start=start, git_branch="")
    t.user("What may follow beans in bed 1?")
    t.attachment("date", rendered="Today's date.", date=start.strftime("%Y-%m-%d"))
    t.call(read(f"{GARDEN}/beds.md", PAGE))
    t.assistant("Beans leave nitrogen behind, so something hungry: kale, leek or squash. Garlic stays in bed 2.")
    t.title("Crop rotation")
    t.last_prompt("What may follow beans in bed 1?")
    home.history("What may follow beans in bed 1?", GARDEN, t.session_id, when=start)
    return t


def _branched(home: HomeBuilder, source: TranscriptBuilder, start: datetime) -> TranscriptBuilder:
    t = home.session(GARDEN, version="2.1.325", start=start, git_branch="")
    t.fork_copy(source, style="branch")
    t.at(0)
    t.user("Then squash. How far apart?")
    t.call(bash("grep -n squash seeds.csv", "12:squash,Red Kuri,90 cm\n"))
    t.assistant("Ninety centimetres for the Red Kuri you have; two plants fit into bed 1.")
    t.title("Crop rotation (Branch)")
    t.last_prompt("Then squash. How far apart?")
    return t
