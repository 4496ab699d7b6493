"""Which session `--continue` picks: the real client, sealed off, on a copy of a home.

python -m tests.compat.continuing CONFIG CWD [--client 2.1.326]      prints what it sent, as JSON
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.compat import clients
from tests.compat.ask import SCENARIOS, without_probe
from tests.compat.client import Client
from tests.compat.fake_api import FakeAPI
from tests.compat.sealed import isolate, sealed_environment
from tests.compat.wire import PROBE, request_blocks


def continued_texts(config: Path, cwd: Path, version: str = clients.NEWEST) -> list[str]:
    """The texts that `--continue` in `cwd` resumes with."""
    clients.command(version)
    done = subprocess.run(
        [sys.executable, "-m", "tests.compat.continuing", str(config), str(cwd), "--client", version],
        cwd=clients.REPOSITORY,
        env=sealed_environment(),
        stdout=subprocess.PIPE,
        check=True,
    )
    texts: list[str] = json.loads(done.stdout)
    return texts


def _continue(config: Path, cwd: Path, version: str) -> list[str]:
    with (
        tempfile.TemporaryDirectory(prefix="recollect-continue-", ignore_cleanup_errors=True) as name,
        FakeAPI() as api,
    ):
        copy = Path(name) / "config"
        shutil.copytree(config, copy, symlinks=True)
        client = Client(clients.command(version), Path(name), api.channel("c", SCENARIOS), copy)
        client.prompt(f"{PROBE} [fake:probe]", "--continue", cwd=cwd, timeout=60)
        sent: list[list[dict[str, Any]]] = [
            body["messages"] for body in api.requests("c") if PROBE in json.dumps(body.get("messages"))
        ]
    blocks = request_blocks(without_probe(sent[0]) if sent else [])
    return [block.text for block in blocks if block.kind == "text" and "<system-reminder>" not in block.text]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("cwd", type=Path)
    parser.add_argument("--client", default=clients.NEWEST)
    arguments = parser.parse_args()
    isolate()
    print(json.dumps(_continue(arguments.config, arguments.cwd, arguments.client)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
