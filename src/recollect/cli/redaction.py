"""Read the option --redact of commands, and open sessions without what it leaves out."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from .command_run import indexing_bar

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
    """Add --redact and --same-length to a command of the class `RedactingCommand`."""
    function = click.option(
        "--same-length",
        is_flag=True,
        help="With --redact: what stands in the place of a value is as long as the value.",
    )(function)
    return click.option(
        "--redact", type=click.Choice(PROFILES), metavar="[=WHAT]",
        help="Leave out secrets and personal data; =secrets for secrets alone, =all for addresses, phones and cards too.",
    )(function)  # fmt: skip


@contextlib.contextmanager
def _bar(session: Session) -> Iterator[Callable[[int], None] | None]:
    """Show on a terminal how far the copying is, where it takes a while."""
    total = 2 * (session.file.size + sum(item.size for item in session.file.subagents))
    done = 0
    with indexing_bar("Redacting") as progress:
        if progress is None:
            yield None
            return

        def advance(count: int) -> None:
            nonlocal done
            done = min(done + count, total)
            progress(done, total)

        yield advance


@contextlib.contextmanager
def redacted(
    run: CommandRun, session: Session, profile: str | None, *, same_length: bool = False
) -> Iterator[tuple[Session, Redaction | None]]:
    """Open a session as --redact says: itself, or a copy without what is left out.

    What that is, is told on stderr, unless it stands at the top of a text.
    """
    if profile is None or profile == "none":
        yield session, None
        return
    with contextlib.ExitStack() as stack:
        with _bar(session) as advance:
            copy, redaction = stack.enter_context(session.redacted(profile, same_length=same_length, progress=advance))
        if not run.is_text:  # the text tells it at its top
            run.say(redaction.in_words())
        for text in redaction.left_out:
            run.say(f"left out: {text}")
        yield copy, redaction
