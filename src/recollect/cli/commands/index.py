"""`recollect index`: bring the index up to date, or build it anew.

JSON: {folder, temporary, files, gone, lines, bytes, entries, documents, threaded, unreadable: [path], left_out: [row],
seconds, index_bytes, sessions, damaged}. `lines` counts those that were parsed now; `sessions` and `damaged` are of the whole
index; `left_out` names up to 100 rows that Recollect fails on, each with its file and line.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from ...export.formatting import number, plural, seconds, size
from ...library.homes import open_homes
from ...library.indexing import index_homes, open_catalogue
from ..command_run import CommandRun, command
from ..indexing_bar import indexing_bar


@command("index", epilog="recollect index\nrecollect index --rebuild\nrecollect index --json")
@click.option("--rebuild", is_flag=True, help="Throw the index away and build it from the files.")
def index(run: CommandRun, rebuild: bool) -> None:
    """Bring the index up to date: only what changed since the last time is read.

    Every question does this by itself. The index is a copy of what stands in the homes; deleting it loses nothing.
    """
    homes = open_homes(run.homes)
    catalogue = open_catalogue(run.say)
    with indexing_bar("Reading") as progress:
        report = index_homes(catalogue, homes, statuses=True, rebuild=rebuild, progress=progress)
    db = catalogue.connection
    answer: dict[str, Any] = {
        "folder": str(catalogue.folder),
        "temporary": catalogue.is_temporary,
        "files": report.files,
        "gone": report.gone,
        "lines": report.lines,
        "bytes": report.bytes,
        "entries": report.entries,
        "documents": report.documents,
        "threaded": report.threaded,
        "unreadable": report.unreadable,
        "left_out": report.left_out.names,
        "seconds": round(report.seconds, 3),
        "index_bytes": folder_size(catalogue.folder),
        "sessions": db.execute("SELECT count(*) FROM sessions").get,
        "damaged": db.execute("SELECT count(*) FROM damage").get,
    }
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


def folder_size(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:  # merged away meanwhile
                continue
    return total
