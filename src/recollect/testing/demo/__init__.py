"""A small, believable home to show the program with: three projects, a dozen sessions of several ages."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from recollect.testing.demo.garden import garden_sessions
from recollect.testing.demo.marmalade import marmalade_sessions
from recollect.testing.demo.tidepool import TIDEPOOL, tidepool_sessions
from recollect.testing.home import HomeBuilder
from recollect.testing.identifiers import parse_time

__all__ = ["DEMO_NOW", "build_demo_home"]

DEMO_NOW = "2026-03-30T17:00:00Z"
"""The moment that the demo's dates are counted back from unless another is given."""


def build_demo_home(root: str | Path, *, now: str | datetime = DEMO_NOW, running_pid: int | None = None) -> None:
    """Write the demo home under `root`. The oldest sessions are within a week of the client's deletion at `now`.

    `running_pid` makes the newest session look like one that a client with that process id has open.
    """
    moment = parse_time(now)
    home = HomeBuilder(root, start=moment - timedelta(days=29))
    newest = tidepool_sessions(home, moment)
    last_recipe = marmalade_sessions(home, moment)
    last_page = garden_sessions(home, moment)
    projects = {
        TIDEPOOL: home.project_config(newest.session_id, cost=1.37, mcp_servers={"charts": {"command": "charts-mcp"}}),
        last_recipe.cwd: home.project_config(last_recipe.session_id, cost=0.58),
        last_page.cwd: home.project_config(last_page.session_id, cost=0.09),
    }
    home.global_config(projects, mcp_servers={"issues": {"type": "http", "url": "https://issues.example.invalid/mcp"}})
    home.settings({"cleanupPeriodDays": 30, "model": "opus", "permissions": {"allow": ["Bash(pytest:*)"]}})
    home.settings({"permissions": {"allow": ["Bash(git status)"]}}, local=True)
    home.credentials()
    home.config_backup()
    home.claude_md()
    home.command("release", "Write the changelog, tag the version, and push.\n")
    home.subagent_definition("reviewer", "Reads a diff with a fresh eye", "You review code.", ["Read", "Grep"])
    home.skill("tide-tables", "How tide tables are laid out", "A table has one row for each high and low water.")
    home.plugin("changelog")
    home.statsig({"demo_new_picker": True, "demo_old_theme": False}, {"demo_limits": {"subagents": 4}})
    home.stats_cache({(moment - timedelta(days=back)).strftime("%Y-%m-%d"): 6 + back % 5 for back in (9, 6, 4, 2, 1)})
    home.file(".last-cleanup", (moment - timedelta(days=1)).isoformat())
    if running_pid is not None:
        home.running(running_pid, newest.session_id, newest.cwd, name="Cache the tide tables", status="busy")
        home.session_key(running_pid)
    home.write()
