"""`recollect serve`: your history in the browser.

JSON (one object, printed once the server listens): {url, link, key, read_only}. `link` signs one browser in, once; `key` is
for scripts (`Authorization: Bearer KEY`).
"""

from __future__ import annotations

import sys
import webbrowser

import click

from ..command_run import CommandRun, command


@command(
    "serve",
    epilog="recollect serve --open\nrecollect serve --port 8000 --read-only\nrecollect serve --json",
)
@click.option("--open", "open_browser", is_flag=True, help="Open the browser, signed in.")
@click.option("--port", type=click.IntRange(0, 65535), default=7373, show_default=True, help="0 takes a free one.")
@click.option("--read-only", is_flag=True, help="Take renaming, tagging, forking, rewinding and deleting away.")
@click.option(
    "--bind",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Listen elsewhere than on this machine alone. There is no encryption: use a tunnel instead if you can.",
)
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="A further name by which browsers may call this server."
)
def serve(
    run: CommandRun, open_browser: bool, port: int, read_only: bool, bind: str, allow_host: tuple[str, ...]
) -> None:  # fmt: skip
    """Show your history in the browser, on this machine alone.

    The link that is printed signs one browser in, once; then the next one is printed. Ends with Ctrl-C.
    """
    from ...web.server import launch

    run.may_change = True  # the pages may change things even if nobody reads the output
    ready = launch(
        run.library, bind=bind, port=port, read_only=read_only, more_hosts=allow_host,
        next_link=lambda link: run.say(f"For another browser: {link}"),
    )  # fmt: skip
    if not ready.is_local:
        run.say(f"warning: {bind} can be reached by other machines, and what they exchange with it is not encrypted")
    if ready.missing:
        run.say(f"warning: {ready.missing}")
    if run.is_text:
        run.print(f"Recollect: {ready.link}")
        run.say("The link works once. Ctrl-C ends the server.")
    else:
        run.value({"url": ready.url, "link": ready.link, "key": ready.key, "read_only": read_only})
    sys.stdout.flush()
    if open_browser and not webbrowser.open(ready.link):
        run.say("no browser could be opened: open the link yourself")
    ready.run()
