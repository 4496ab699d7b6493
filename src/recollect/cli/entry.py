"""Where the console script starts. The list of commands is printed before anything heavy is imported.

`help.txt` is what click would print, written by ``make docs`` and checked in the tests; importing click alone takes four
times as long as starting Python.
"""

import sys


def run() -> None:
    arguments = sys.argv[1:]
    if arguments in (["--help"], ["-h"]) and _print_help():
        return
    if "search" in arguments[:5]:
        from recollect.cli.lean_search import try_search

        code = try_search(arguments)
        if code is not None:
            sys.exit(code)
    if "usage" in arguments[:5] and "--json" in arguments:
        from recollect.cli.lean_usage import try_usage

        code = try_usage(arguments)
        if code is not None:
            import gc

            gc.freeze()  # the process ends: going through all its objects once more would free nothing that matters
            sys.exit(code)
    if "keep" in arguments[:5]:
        from recollect.cli.lean_keep import try_keep

        code = try_keep(arguments)
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
    except OSError:  # not there (a checkout without it), or the reader went away
        return False
    return True
