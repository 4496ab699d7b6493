"""Start the console script. The list of commands is printed before anything heavy is imported.

`help.txt` is what click would print, written by ``make docs`` and checked in the tests; importing click alone takes four
times as long as starting Python.
"""

import sys

from recollect.environment import leave_out_current_folder

from .streams import open_standard_streams


def run() -> None:
    """Run the command in `sys.argv`, without any code or program from the current folder."""
    if sys.version_info < (3, 11):  # noqa: UP036  a checkout can be run by any Python
        sys.stderr.write(f"recollect needs Python 3.11 or later, and this is {sys.version.split()[0]}\n")
        sys.exit(8)
    leave_out_current_folder()
    open_standard_streams()
    arguments = sys.argv[1:]
    if arguments in (["--help"], ["-h"]) and _print_help():
        return
    if "keep" in arguments[:5]:
        from recollect.cli.lean_keep import WALKS, try_keep

        code = try_keep(arguments, WALKS)
        if code is not None:
            sys.exit(code)
    if arguments[:1] == ["statusline"] and len(arguments) == 1:
        from recollect.cli.lean_statusline import print_statusline, read_input

        print_statusline(read_input(), [])
        return
    from recollect.cli.main import run as run_command

    run_command()


def _print_help() -> bool:
    try:
        with open(__file__.removesuffix("entry.py") + "help.txt", encoding="utf-8") as stream:
            text = stream.read()
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError:  # missing (a checkout without it), or the reader is gone
        return False
    return True
