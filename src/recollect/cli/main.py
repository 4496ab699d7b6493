"""Entry point: the table of commands, imported one by one when called, and exit codes.

0 ok, 1 findings or no match, 2 usage, 3 not found, 4 damaged, 5 busy, 6 refused, 7 query error, 8 unavailable, 70 bug,
130 interrupted.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from ..errors import RecollectError
from .face import Face, discard_output, report, shared_options

#: name -> (module below recollect.cli.commands, one line for the list of commands)
COMMANDS: dict[str, tuple[str, str]] = {
    "overview": ("overview", "What is there: homes, projects, sessions, what will be deleted soon. The default."),
    "list": ("list", "Sessions, newest first."),
    "show": ("show", "A conversation, readable."),
    "search": ("search", "Find anything that was said or seen."),
    "sql": ("sql", "Ask anything in SQL."),
    "index": ("index", "Bring the index up to date, or build it anew."),
    "thread": ("thread", "The rows the client would send to the model on resume, and why."),
    "tree": ("tree", "The branches of a session, drawn."),
    "agents": ("agents", "The sub-agents of a session."),
    "watch": ("watch", "What happens in sessions, as it happens."),
    "tools": ("tools", "The tool calls of a session."),
    "usage": ("usage", "Tokens and cost, by day, session, project, model, ..."),
    "expensive": ("expensive", "The prompts that cost the most."),
    "budget": ("budget", "Budgets: set them, and see how they stand."),
    "statusline": ("statusline", "One line for the client's status line."),
    "todos": ("todos", "To-do lists and tasks."),
    "history": ("history", "Typed prompts and commands."),
    "files": ("files", "Files a session touched, and how they were."),
    "plans": ("plans", "Plans of plan mode."),
    "config": ("config", "Settings and per-project configuration, secrets masked."),
    "flags": ("flags", "Feature gates and dynamic configs from the statsig cache."),
    "cat": ("cat", "The bytes of a session, exactly."),
    "doctor": ("doctor", "Homes, versions, permissions, damage, and what was skipped and why."),
    "check": ("check", "Is every session whole; what the client will make of it, and what helps."),
    "repair": ("repair", "Mend damaged sessions, so that they resume with everything."),
    "migrate": ("migrate", "Lift old layouts into the current one; renew Recollect's own files."),
    "keep": ("keep", "Keep everything new in the vault; status, watching, hooks and timers."),
    "verify": ("verify", "Is every byte of the vault what it was."),
    "restore": ("restore", "Bring sessions back from the vault, byte for byte."),
    "prune": ("prune", "Remove sessions from a home that the vault has."),
    "bundle": ("bundle", "Sessions with all that belongs to them in one file."),
    "unbundle": ("unbundle", "Take the sessions of a bundle into a home."),
    "new": ("new", "Begin an empty session; `append` gives it its first message."),
    "append": ("append", "Add a message to the end of a conversation."),
    "rename": ("rename", "Give a session a title."),
    "tag": ("tag", "Tag a session, or take its tag away."),
    "bookmark": ("bookmark", "Mark sessions and messages to come back to."),
    "archive": ("archive", "Mark a session as put away."),
    "rewind": ("rewind", "Set where the conversation goes on from."),
    "fork": ("fork", "A new session from any point of another."),
    "move": ("move", "Move a project: every place that names its path follows."),
    "split": ("split", "Part a folder that two projects share."),
    "delete": ("delete", "Move sessions or a project to the trash."),
    "todo": ("todo", "Change the to-do list or the tasks of a session."),
    "undo": ("undo", "Take a change back, byte for byte."),
    "changes": ("changes", "What Recollect changed in the homes."),
    "serve": ("serve", "Your history in the browser."),
    "completion": ("completion", "Shell completion for bash, zsh and fish."),
    "demo": ("demo", "A demo home to look at."),
}


class LazyGroup(click.Group):
    """Knows its commands by name and imports a command's module when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        found = getattr(importlib.import_module(f"recollect.cli.commands.{module}"), module)
        return found if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in COMMANDS.items()])


@click.group(cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@shared_options
@click.option("--version", is_flag=True, help="Show the version.")
@click.pass_context
def cli(context: click.Context, version: bool) -> None:
    """Recollect keeps every conversation you had with your coding agent, and lets you use it.

    SESSION is an id, the start of one, a title, or `last`. Without a command: the overview.
    """
    context.ensure_object(Face)
    if version:
        from .. import __version__

        click.echo(f"recollect {__version__}")
        return
    if context.invoked_subcommand is None:
        found = cli.get_command(context, "overview")
        if found is not None:
            context.invoke(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run once and return the exit code. All errors end here."""
    face = Face()
    try:
        result: Any = cli.main(
            args=list(arguments) if arguments is not None else None,
            prog_name="recollect",
            standalone_mode=False,
            obj=face,
        )
        return result if isinstance(result, int) else 0
    except RecollectError as error:
        report(error, face)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.exceptions.Exit as request:
        return request.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:
        # The reader went away (`| head`): nothing is wrong with a question, but Python must not complain while it shuts down.
        discard_output()
        if not face.may_change:
            return 0
        with contextlib.suppress(BrokenPipeError):
            click.echo(
                "recollect: nobody reads the output; `recollect changes` tells what was changed until then", err=True
            )
        return 1
    except Exception as error:
        if os.environ.get("RECOLLECT_DEBUG"):
            raise
        click.echo(f"recollect: a bug: {type(error).__name__}: {error}", err=True)
        click.echo("hint: set RECOLLECT_DEBUG=1 to see where it happened", err=True)
        return 70


def run() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")  # a terminal that lacks a character must not end the command
    sys.exit(main())
