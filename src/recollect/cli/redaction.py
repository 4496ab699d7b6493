"""Read the option --redact of commands, and open sessions without what it leaves out."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from ..library.redaction import Redaction
    from ..library.session import Session
    from .command_run import CommandRun

PROFILES: Final = ("secrets", "personal", "all", "none")
ALONE: Final = "personal"
"""What --redact means without a value."""


class RedactingCommand(click.Command):
    """A command with --redact, whose value follows only after `=`, so that the next word is the session."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        args = [f"--redact={ALONE}" if item == "--redact" else item for item in args[:end]] + args[end:]
        return super().parse_args(ctx, args)


def redact_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --redact to a command of the class `RedactingCommand`."""
    return click.option(
        "--redact", type=click.Choice(PROFILES), metavar="[=WHAT]",
        help="Leave out secrets and personal data; =secrets for secrets alone, =all for addresses, phones and cards too.",
    )(function)  # fmt: skip


@contextlib.contextmanager
def redacted(run: CommandRun, session: Session, profile: str | None) -> Iterator[tuple[Session, Redaction | None]]:
    """Open a session as --redact says: itself, or a copy without what is left out. What that is, is told on stderr."""
    if profile is None or profile == "none":
        yield session, None
        return
    with session.redacted(profile) as (copy, redaction):
        if not run.is_text or not sys.stdout.isatty():  # on a terminal, the top of the text tells it
            run.say(redaction.in_words())
        for text in redaction.left_out:
            run.say(f"left out: {text}")
        yield copy, redaction
