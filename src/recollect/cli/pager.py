"""Show long text through a pager, by the rules of git.

RECOLLECT_PAGER, else PAGER, else `less`; empty or `cat` means none. LESS=FRX and LV=-c are set if they are unset. A LESS that
is set stays as it is, and text goes to `less` with colours only if that passes them on (`-R`).
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator

import click

from .command_run import CommandRun

_DEFAULTS = {"LESS": "FRX", "LV": "-c"}
#: Options of less that take the rest of the word as their value.
_WITH_VALUE = frozenset('bDhjkoOpPtTxyz#"')
_SHELL = frozenset("|&;<>()$`\\\"'*?[#~=%{}!\n")


def show_paged(run: CommandRun, pieces: Iterator[str]) -> None:
    """Print the pieces, through a pager if stdout is a terminal. Colours are decided before the first piece is made."""
    command = pager_command() if sys.stdout.isatty() else None
    if command is None:
        for piece in pieces:
            click.echo(piece, nl=False, color=run.colored)
        return
    environment = {**_DEFAULTS, **os.environ}
    run.color = run.colored and passes_colors(command, environment["LESS"])
    start = ["/bin/sh", "-c", command] if os.name == "posix" else shlex.split(command, posix=False)
    with subprocess.Popen(start, stdin=subprocess.PIPE, env=environment) as pager:
        assert pager.stdin is not None
        try:
            for piece in pieces:
                pager.stdin.write(piece.encode(sys.stdout.encoding, "replace"))
            pager.stdin.close()
        except (BrokenPipeError, KeyboardInterrupt):  # the reader has seen enough
            pass
        while True:
            try:
                pager.wait()
                return
            except KeyboardInterrupt:  # meant for the pager, which continues or ends by itself
                continue


def pager_command() -> str | None:
    """Return the pager to use; None for none."""
    named = os.environ.get("RECOLLECT_PAGER", os.environ.get("PAGER"))
    if named is None:
        if os.environ.get("TERM", "dumb") == "dumb":
            return None
        return next((name for name in ("less", "more") if shutil.which(name)), None)
    if named.strip() in ("", "cat"):
        return None
    if not _SHELL & set(named) and shutil.which(named.split()[0]) is None:
        click.echo(f"the pager {named.split()[0]} was not found", err=True)
        return None
    return named.strip()


def passes_colors(command: str, less: str) -> bool:
    """Return whether a pager shows colours instead of their bytes. Pagers other than less are trusted, as by git."""
    try:
        program, *options = shlex.split(command)
    except ValueError:
        return True
    if os.path.basename(program).removesuffix(".exe") not in ("less", "more"):
        return True
    if (
        os.path.basename(program) == "more"
        and os.path.basename(os.path.realpath(shutil.which(program) or "")) != "less"
    ):
        return True
    passes = False
    for word in [*less.split(), *options]:
        if word.startswith("--"):
            name = word[2:].partition("=")[0].lower()
            passes |= len(name) > 2 and "raw-control-chars".startswith(name)
            continue
        off = word.startswith("-+")
        for letter in word.lstrip("-+"):
            if letter in _WITH_VALUE:
                break
            if letter in "rR":
                passes = not off
    return passes
