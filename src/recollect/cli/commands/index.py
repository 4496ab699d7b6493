"""`recollect index`: bring the index up to date, or build it anew.

JSON: {folder, temporary, files, gone, lines, bytes, entries, documents, threaded, unreadable: [path], left_out: [row],
seconds, index_bytes, sessions, damaged}. `lines` counts those that were parsed now; `sessions` and `damaged` are of the whole
index; `left_out` names up to 100 rows that Recollect fails on, each with its file and line.
"""

from __future__ import annotations

import click

from ...export.formatting import number, plural, seconds, size
from ...library.indexing import index_facts
from ..command_run import CommandRun, command, indexing_bar


@command("index", epilog="recollect index\nrecollect index --rebuild\nrecollect index --json")
@click.option("--rebuild", is_flag=True, help="Throw the index away and build it from the files.")
def index(run: CommandRun, rebuild: bool) -> None:
    """Bring the index up to date: only what changed since the last time is read.

    Every question does this by itself. The index is a copy of what stands in the homes; deleting it loses nothing.
    """
    library = run.library
    with indexing_bar("Reading") as progress:
        report = library.index(statuses=True, rebuild=rebuild, progress=progress)
    answer = index_facts(library, report)
    if not run.is_text:
        run.value(answer)
        return
    for path in report.unreadable:
        run.say(f"cannot be read: {path}")
    if report.files or report.gone:
        gone = f", {plural(report.gone, 'file')} gone" if report.gone else ""
        run.print(
            f"{plural(report.files, 'file')} read ({number(report.lines)} lines, {size(report.bytes)}){gone} "
            f"in {seconds(report.seconds)}"
        )
    else:
        run.print("nothing changed")
    damage = f", {plural(answer['damaged'], 'damaged place')}" if answer["damaged"] else ""
    run.print(
        f"the index knows {plural(answer['sessions'], 'session')}{damage}; it takes {size(answer['index_bytes'])}"
    )
