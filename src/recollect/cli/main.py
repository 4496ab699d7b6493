"""Run commands: the table of commands, imported one by one when called, and exit codes.

0 ok, 1 findings or no match, 2 usage, 3 not found, 4 damaged, 5 busy, 6 refused, 7 query error, 8 unavailable, 70 bug,
130 interrupted, 129 and 143 ended by SIGHUP and SIGTERM: what was begun is rolled back first, as with Ctrl-C.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any

import click

from ..errors import NotFound, RecollectError, Refused, Unavailable
from ..export.terminal_text import safe
from .command_run import CommandRun, report, shared_options
from .streams import OutputFailed, discard_output

#: name -> (module below recollect.cli.commands, one line for the list of commands)
COMMANDS: dict[str, tuple[str, str]] = {
    "overview": ("overview", "What is there: homes, projects, sessions, what will be deleted soon. The default."),
    "list": ("list", "Sessions, newest first."),
    "show": ("show", "A conversation, readable."),
    "search": ("search", "Find anything that was said or seen."),
    "sql": ("sql", "Ask anything in SQL."),
    "index": ("index", "Bring the index up to date, or build it anew."),
    "thread": ("thread", "The rows Claude Code would send to the model on resume, and why."),
    "tree": ("tree", "The branches of a session, drawn."),
    "subagents": ("subagents", "The subagents of a session."),
    "watch": ("watch", "What happens in sessions, as it happens."),
    "tools": ("tools", "The tool calls of a session."),
    "usage": ("usage", "Tokens and cost, by day, session, project, model, ..."),
    "expensive": ("expensive", "The prompts that cost the most."),
    "budget": ("budget", "Budgets: set them, and see how they stand."),
    "statusline": ("statusline", "One line for Claude Code's status line."),
    "todos": ("todos", "To-do lists and tasks."),
    "history": ("history", "Typed prompts and commands."),
    "files": ("files", "Files a session touched, and how they were."),
    "plans": ("plans", "Plans of plan mode."),
    "config": ("config", "Settings and per-project configuration, secrets masked."),
    "flags": ("flags", "Feature gates and dynamic configs from the statsig cache."),
    "cat": ("cat", "The bytes of a session, exactly."),
    "doctor": ("doctor", "Homes, versions, permissions, damage, and what was skipped and why."),
    "check": ("check", "Is every session whole; what Claude Code will make of it, and what helps."),
    "secrets": ("secrets", "Keys, tokens and passwords that stand in the homes; where to revoke them."),
    "repair": ("repair", "Repair damaged sessions, so that they resume with everything."),
    "migrate": ("migrate", "Migrate old layouts to the current one; renew Recollect's own files."),
    "keep": ("keep", "Keep everything new in the vault; status, watching, hooks and timers."),
    "verify": ("verify", "Is every byte of the vault what it was."),
    "restore": ("restore", "Bring sessions back from the vault, byte for byte."),
    "prune": ("prune", "Remove sessions from a home that the vault has."),
    "bundle": ("bundle", "Sessions with all that belongs to them in one file."),
    "export": ("export", "Sessions as files to read, to share or to work with."),
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
    """A group of commands that imports a command's module when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        found = getattr(importlib.import_module(f"recollect.cli.commands.{module}"), module)
        return found if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any of them."""
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
    context.ensure_object(CommandRun)
    if version:
        from .. import __version__

        click.echo(f"recollect {__version__}")
        return
    if context.invoked_subcommand is None:
        found = cli.get_command(context, "overview")
        if found is not None:
            context.invoke(found)


def main(arguments: Sequence[str] | None = None, *, healed: bool = False) -> int:
    """Run once and return the exit code. All errors end here. A damaged index is rebuilt, and the command run again."""
    run = CommandRun()
    code = _run(run, arguments, healed)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
    except OutputFailed as problem:
        run.unwritten = problem
    if run.unwritten is None:
        return code
    discard_output()
    report(_unwritten(run, run.unwritten), run)
    return max(code, Unavailable.exit_code)


def _unwritten(run: CommandRun, problem: OutputFailed) -> Unavailable:
    hint = "`recollect changes` lists what was changed all the same" if run.may_change else None
    return Unavailable(f"the output could not be written: {problem.strerror}", hint=hint, slug="output-not-written")


def _run(run: CommandRun, arguments: Sequence[str] | None, healed: bool) -> int:
    try:
        result: Any = cli.main(
            args=list(arguments) if arguments is not None else None,
            prog_name="recollect",
            standalone_mode=False,
            obj=run,
        )
        return result if isinstance(result, int) else 0
    except RecollectError as error:
        report(error, run)
        return error.exit_code
    except click.ClickException as error:
        try:
            error.show()
        except UnicodeEncodeError:  # an argument that is not text, on a stream that accepts only text
            click.echo(f"Error: {safe(error.format_message())}", err=True)
        return error.exit_code
    except click.exceptions.Exit as request:
        return request.exit_code
    except (click.Abort, KeyboardInterrupt) as end:
        cause = end.__cause__ if isinstance(end, click.Abort) else end
        click.echo("interrupted", err=True)
        return 128 + (cause.number if isinstance(cause, Ended) else signal.SIGINT)
    except OutputFailed as problem:
        run.unwritten = problem
        return Unavailable.exit_code
    except BrokenPipeError:
        # The reader is gone (`| head`): that is not an error of a query, but Python must not complain while it shuts down.
        discard_output()
        if not run.may_change:
            return 0
        with contextlib.suppress(BrokenPipeError):
            click.echo(
                "recollect: nobody reads the output; `recollect changes` tells what was changed until then", err=True
            )
        return 1
    except SystemExit:
        raise
    except BaseException as error:
        from ..library.indexing import is_damage, rebuild_damaged

        is_broken_index = is_damage(error)
        if not isinstance(error, Exception) and not is_broken_index:
            raise
        if is_broken_index and not run.may_change and not healed:
            rebuild_damaged(error, run.say)
            return main(arguments, healed=True)
        if os.environ.get("RECOLLECT_DEBUG"):
            raise
        blamed = _mistake_in_arguments(error, sys.argv[1:] if arguments is None else arguments)
        if blamed is not None:
            report(blamed, run)
            return blamed.exit_code
        click.echo(f"recollect: a bug: {type(error).__name__}: {error}", err=True)
        click.echo("hint: set RECOLLECT_DEBUG=1 to see where it happened", err=True)
        return 70


class Ended(KeyboardInterrupt):
    """A signal that asks the process to end: everything is rolled back as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _end(number: int, frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)  # once is enough: cleaning up must not be interrupted
    raise Ended(number)


def _hear_signals() -> None:
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup sets it to be ignored
            signal.signal(number, _end)


def _mistake_in_arguments(error: BaseException, arguments: Sequence[str]) -> RecollectError | None:
    """Return the error for arguments that the system or a library refused; None for other errors."""
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return NotFound("a path is longer than the system allows", slug="path-too-long")
    if isinstance(error, UnicodeError) and any(not word.isascii() and _is_no_text(word) for word in arguments):
        return Refused("an argument is not UTF-8 text", hint="nothing was changed", slug="argument-not-text")
    return None


def _is_no_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:  # bytes that are not text arrive as lone surrogates
        return True
    return False


def run() -> None:
    """The console script."""
    _hear_signals()
    sys.exit(main())
