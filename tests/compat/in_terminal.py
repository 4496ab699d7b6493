"""What the interactive client sends when it resumes a session in a terminal: some things it does only there.

python -m tests.compat.in_terminal CONFIG SESSION CWD [--client 2.1.326]      prints the messages, as JSON
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.compat import clients
from tests.compat.ask import SCENARIOS, Question, copy_of, without_probe
from tests.compat.client import Client
from tests.compat.fake_api import FakeAPI
from tests.compat.projects import answer_first_questions
from tests.compat.sealed import MARK, isolate, sealed_environment
from tests.compat.tui import Tui
from tests.compat.wire import PROBE, Block, request_blocks

FLAGS = {"tengu_hawthorn_steeple": True}
"""The rollout switch of replaced results, as the client keeps it from the last time it asked."""


def terminal_blocks(question: Question, version: str = clients.NEWEST) -> list[Block] | None:
    """The blocks that a resume in a terminal sends; None where the client cannot be sealed off."""
    clients.command(version)
    place = [str(question.config), question.session, str(question.cwd)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.compat.in_terminal", *place, "--client", version],
        cwd=clients.REPOSITORY,
        env=sealed_environment(),
        stdout=subprocess.PIPE,
        check=True,
    )
    messages = json.loads(done.stdout)
    return None if messages is None else request_blocks(messages)


def _resume(question: Question, version: str) -> list[dict[str, Any]]:
    with (
        tempfile.TemporaryDirectory(prefix="recollect-terminal-", ignore_cleanup_errors=True) as name,
        FakeAPI() as api,
    ):
        config = copy_of(question, Path(name))
        answer_first_questions(config, [question.cwd])
        settings = json.loads((config / ".claude.json").read_text())
        settings |= {"cachedGrowthBookFeatures": FLAGS, "cachedFeatureFlags": FLAGS}
        (config / ".claude.json").write_text(json.dumps(settings))
        client = Client(clients.command(version), Path(name), api.channel("t", SCENARIOS), config)
        for variable in ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY"):
            client.environment.pop(variable)  # with these no switch is looked up; the namespace has no network anyway
        screen = Tui(client, question.cwd, ["--resume", question.session])
        try:
            screen.wait("❯", 40)
            screen.say(f"{PROBE} [fake:probe]", "ok")
        finally:
            screen.close()
        sent = [body["messages"] for body in api.requests("t") if PROBE in json.dumps(body.get("messages"))]
    return without_probe(sent[0]) if sent else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("session")
    parser.add_argument("cwd", type=Path)
    parser.add_argument("--client", default=clients.NEWEST)
    given = parser.parse_args()
    isolate()
    is_sealed = os.environ.get(MARK) == "yes"
    question = Question(given.config, given.session, given.cwd)
    print(json.dumps(_resume(question, given.client) if is_sealed else None))
    return 0


if __name__ == "__main__":
    sys.exit(main())
