"""Let the official SDK drive the real client with a session store of ours, then resume from the store alone.

    python -m tests.compat.sdk_mirror OUT [--client 2.1.326]

Sealed off, every store with a home of its own, all at the same time. For each: a first talk, what is on disk and in the
store after it; then the local files are deleted, and a second talk resumes the session. OUT/mirror.json tells it all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.compat import clients, scenarios
from tests.compat.fake_api import FakeAPI
from tests.compat.projects import make_project
from tests.compat.sealed import client_environment, isolate

from recollect.stores.folder import FolderSessionStore
from recollect.stores.memory import MemorySessionStore
from recollect.stores.protocol import SessionStore
from recollect.stores.sqlite import SqliteSessionStore

Json = dict[str, Any]

STORES = ("memory", "folder", "sqlite")
FIRST, SECOND = "Please delegate this [fake:subagent]", "And now something else [fake:second]"


def open_store(name: str, place: Path) -> SessionStore:
    if name == "memory":
        return MemorySessionStore()
    return FolderSessionStore(place) if name == "folder" else SqliteSessionStore(place)


async def talk(sdk: Any, prompt: str, **options: Any) -> Json:
    told: Json = {"session": None, "kinds": []}
    async for message in sdk.query(prompt=prompt, options=sdk.ClaudeAgentOptions(**options)):
        told["kinds"].append(type(message).__name__)
        told["session"] = getattr(message, "session_id", None) or told["session"]
    return told


async def stored(store: SessionStore, project_key: str, session: str) -> dict[str, Any]:
    """Everything the store has of a session, by subpath; the session itself under its own name."""
    subpaths = await store.list_subkeys({"project_key": project_key, "session_id": session})
    found: dict[str, Any] = {session: await store.load({"project_key": project_key, "session_id": session})}
    for subpath in subpaths:
        found[subpath] = await store.load({"project_key": project_key, "session_id": session, "subpath": subpath})
    return found


def on_disk(config: Path, session: str) -> dict[str, Any]:
    """The same of the files that the client wrote; what a meta file says stands last, in the form in which the SDK sends it."""
    found = {}
    (main,) = (config / "projects").glob(f"*/{session}.jsonl")
    for path in [main, *main.with_suffix("").rglob("*.jsonl")]:
        name = session if path == main else str(path.relative_to(main.with_suffix("")).with_suffix(""))
        found[name] = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
        meta = path.with_suffix(".meta.json")
        if meta.exists():
            found[name].append({"type": "agent_metadata", **json.loads(meta.read_bytes())})
    return found


async def mirror_and_resume(sdk: Any, api: FakeAPI, command: str, name: str, out: Path) -> Json:
    project = make_project(out / "project")
    config = out / "config"
    (out / "home").mkdir()
    environment = client_environment(out / "home", config, api.channel(name, scenarios.build(project)))
    store = open_store(name, out / "store")
    options = {"cli_path": command, "cwd": str(project), "env": environment, "session_store": store}
    options["allowed_tools"] = ["Read", "Bash", "Agent", "Task"]
    first = await talk(sdk, FIRST, **options)
    session = first["session"]
    project_key = sdk.project_key_for_directory(str(project))
    told: Json = {"project": str(project), "project_key": project_key, "session": session, "first": first["kinds"]}
    told["disk"] = on_disk(config, session)
    told["stored"] = await stored(store, project_key, session)
    told["listed"] = [vars(info) for info in await sdk.list_sessions_from_store(store, str(project))]
    for path in (config / "projects").rglob("*"):  # from here on only the store knows
        if path.is_file():
            path.unlink()
    asked = len(api.requests(name))
    second = await talk(sdk, SECOND, resume=session, **options)
    told["resumed"] = {"session": second["session"], "kinds": second["kinds"]}
    told["requests"] = [body["messages"] for body in api.requests(name)[asked:]]
    told["stored_after"] = await stored(store, project_key, session)
    return told


async def all_stores(out: Path, command: str) -> Json:
    import claude_agent_sdk as sdk

    with FakeAPI() as api:
        for name in STORES:
            (out / name).mkdir(parents=True)
        told = await asyncio.gather(*(mirror_and_resume(sdk, api, command, name, out / name) for name in STORES))
    return dict(zip(STORES, told, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--client", default=clients.NEWEST)
    given = parser.parse_args()
    (command,) = clients.command(given.client)
    isolate()
    out = given.out.resolve()
    (out / "home").mkdir(parents=True, exist_ok=True)
    # The SDK hands on this process's own environment, and looks into it: nothing of the machine's may be there.
    clean = client_environment(out / "home", out / "config", "http://127.0.0.1:1")
    for variable in list(os.environ):
        del os.environ[variable]
    os.environ.update(clean)
    told = asyncio.run(all_stores(out, command))
    (out / "mirror.json").write_text(json.dumps(told, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
