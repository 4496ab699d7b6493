"""`python -m bench [--quick] [--write] [NAME...]`: run the benchmarks and print one table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from typing import Final

from bench import (
    append,
    check,
    damaged_lines,
    export,
    fork,
    index,
    large_file,
    list_sessions,
    million_chain,
    no_change_sync,
    read_session,
    search,
    secrets,
    sql,
    startup,
    statusline,
    usage,
    vault,
    watch,
    web,
)
from bench.measure import REPOSITORY, BenchFailed
from bench.table import Row, circumstances, figures_on, markdown, with_rows, write_between_markers

BENCHMARKS: Final[dict[str, Callable[[bool], Iterator[Row]]]] = {
    "startup": startup.rows,
    "read_session": read_session.rows,
    "damaged_lines": damaged_lines.rows,
    "list_sessions": list_sessions.rows,
    "million_chain": million_chain.rows,
    "large_file": large_file.rows,
    "append": append.rows,
    "watch": watch.rows,
    "fork": fork.rows,
    "usage": usage.rows,
    "statusline": statusline.rows,
    "check": check.rows,
    "no_change_sync": no_change_sync.rows,
    "index": index.rows,
    "search": search.rows,
    "secrets": secrets.rows,
    "sql": sql.rows,
    "vault": vault.rows,
    "web": web.rows,
    "export": export.rows,
}
PAGE: Final = REPOSITORY / "docs" / "benchmarks.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure recollect.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which (default: all): {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="smaller inputs and fewer rounds; no figures to quote")
    parser.add_argument(
        "--write", action="store_true", help=f"write the table into docs/{PAGE.name}; with names, their rows of it"
    )
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(BENCHMARKS)):
        parser.error(f"no such benchmark: {', '.join(unknown)}")
    if options.write and options.quick:
        parser.error("--write takes figures to quote: leave out --quick")

    rows: list[Row] = []
    failures: list[str] = []
    for name in options.names or BENCHMARKS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            rows.extend(BENCHMARKS[name](options.quick))
        except BenchFailed as reason:
            failures.append(f"{name}: {reason}")
    table = markdown(rows)
    print(table)
    for failure in failures:
        print(failure, file=sys.stderr)
    if failures:
        sys.exit(1)
    if options.write:
        whole = f"{circumstances()}\n\n{table}"
        write_between_markers(PAGE, with_rows(figures_on(PAGE), rows) if options.names else whole)


if __name__ == "__main__":
    main()
