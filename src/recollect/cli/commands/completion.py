"""`recollect completion`: the script that teaches a shell our commands.

JSON: with --install and --remove the object of `keep --install`; the script itself is printed as text.
"""

from __future__ import annotations

import click

from ..command_run import CommandRun, command
from ..installing import install, install_options


@command(
    "completion",
    epilog='eval "$(recollect completion bash)"\nrecollect completion fish --install',
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@install_options
def completion(run: CommandRun, shell: str, put_in: bool, take_out: bool, dry_run: bool, yes: bool) -> None:
    """Print the completion script for SHELL, or put it where SHELL finds it (--install)."""
    from click.shell_completion import get_completion_class

    from ..main import cli

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    script = found(cli, {}, "recollect", "_RECOLLECT_COMPLETE").source()
    if put_in or take_out:
        install(run, "completion", remove=take_out, yes=yes, dry_run=dry_run, shell=shell, script=script)
    else:
        run.print_styled(script)
