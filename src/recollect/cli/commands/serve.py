"""`recollect serve`: your history in the browser.

JSON (one object, printed once the server listens): {url, link, key, read_only}. `link` signs one browser in, once; `key` is
for scripts (`Authorization: Bearer KEY`).
"""

from __future__ import annotations

import sys
import webbrowser

import click

from ...environment import own_folder
from ..face import Face, command

LOOPBACK = ("127.0.0.1", "::1", "localhost")


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
    face: Face, open_browser: bool, port: int, read_only: bool, bind: str, allow_host: tuple[str, ...]
) -> None:  # fmt: skip
    """Show your history in the browser, on this machine alone.

    The link that is printed signs one browser in, once; then the next one is printed. Ends with Ctrl-C.
    """
    from ...web.access import Access, allowed_hosts
    from ...web.app import create_app
    from ...web.assets import check_assets
    from ...web.desk import Desk
    from ...web.server import open_socket, server_for

    check_assets()
    desk = Desk(face.library, face.journal, read_only=read_only, own_folders=own_folder)
    listening = open_socket(bind, port)
    chosen: int = listening.getsockname()[1]
    name = f"[{bind}]" if ":" in bind else bind
    shown = "127.0.0.1" if bind in ("0.0.0.0", "::") else name
    if bind not in LOOPBACK:
        face.say(f"warning: {bind} can be reached by other machines, and what they exchange with it is not encrypted")
    access = Access(chosen)
    url = f"http://{shown}:{chosen}"

    def tell(token: str) -> None:
        face.say(f"\nFor another browser: {url}/login?token={token}")

    link = f"{url}/login?token={access.issue_link()}"
    access.new_link = tell
    hosts = allowed_hosts(chosen, [name, *allow_host])
    server = server_for(create_app(desk, access, hosts))
    if face.is_text:
        face.print(f"Recollect: {link}")
        face.say("The link works once. Ctrl-C ends the server.")
    else:
        face.value({"url": url, "link": link, "key": access.api_key, "read_only": read_only})
    sys.stdout.flush()
    if open_browser and not webbrowser.open(link):
        face.say("no browser could be opened: open the link yourself")
    try:
        server.run(sockets=[listening])
    finally:
        listening.close()
