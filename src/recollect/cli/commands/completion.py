"""`recollect completion`: the script that teaches a shell our commands. No JSON form."""

from __future__ import annotations

import click

from ..command_run import CommandRun, command


@command(
    "completion",
    epilog='eval "$(recollect completion bash)"\nrecollect completion fish > ~/.config/fish/completions/recollect.fish',
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(run: CommandRun, shell: str) -> None:
    """Print the completion script for SHELL."""
    from click.shell_completion import get_completion_class

    from ..main import cli

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    run.print_styled(found(cli, {}, "recollect", "_RECOLLECT_COMPLETE").source())
