"""`recollect export`: sessions as files to read, to share or to work with.

JSON: {files, bytes, messages, sessions, unchanged, removed, redacted, left_out, warnings, gist}. `redacted` is null, or
{profile, values, kinds}: how many different values of which kinds were replaced. `left_out` says in words what is not in the
files. `unchanged` counts the sessions whose files were up to date, with --into and --site.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from ...errors import NotFound
from ...export.formatting import plural, size
from ..command_run import CommandRun, command, complete_session, indexing_bar
from ..redaction import RedactingCommand, redact_option

if TYPE_CHECKING:
    from ...library.exporting import ExportResult
    from ...library.library import SessionSummary

_FORMATS: Final = ("html", "md", "text", "json", "jsonl", "csv", "parquet", "atif", "otel", "openai")
_SHOWN: Final = 20
"""How many files and remarks are listed; of more, only the number."""


@command(
    "export",
    cls=RedactingCommand,
    epilog="recollect export last -o talk.md\nrecollect export 3f2a --format html --redact\n"
    "recollect export 3f2a --depth conversation --last 1 -o -\nrecollect export --project . --into notes/ --front-matter\n"
    "recollect export --all --site pages/\nrecollect export 3f2a --format json -o talk.json --json",
)
@click.argument("sessions", nargs=-1, metavar="[SESSION]...", shell_complete=complete_session)
@click.option("--project", metavar="PATH", help="All sessions of a project, by its path or a part of it.")
@click.option("--all", "everything", is_flag=True, help="All sessions of the homes, and those that only the vault has.")
@click.option(
    "--format",
    "-f",
    "format_name",
    type=click.Choice(_FORMATS),
    help="What to write; by default the file's ending, else md.",
)
@click.option(
    "--output", "-o", metavar="PATH", help="The file to write; `-` is stdout. Default: `DAY TITLE.md` in this folder."
)
@click.option(
    "--into", metavar="DIR", help="A file for each session in this folder; again, only what changed is written."
)
@click.option(
    "--site", metavar="DIR", help="A folder of pages with index and search; again, only what changed is written."
)
@click.option(
    "--depth", type=click.Choice(["prompts", "conversation", "tools", "all"]),
    help="How much: prompts; and answers; and tools with results and subagents (default); and thinking and all else.",
)  # fmt: skip
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N messages of that depth.")
@click.option(
    "--from", "start", metavar="MESSAGE", help="From this message: 12, `#12`, `line:292`, a uuid or its start."
)
@click.option("--to", "end", metavar="MESSAGE", help="Up to this message, included.")
@click.option("--message", metavar="MESSAGE", help="Only this message; `last` is the last one.")
@click.option("--thread", "view", flag_value="thread", help="Only what Claude Code would load on resume.")
@click.option(
    "--history", "view", flag_value="history", help="The whole conversation, what was compacted included (default)."
)
@click.option("--all-rows", "view", flag_value="all", help="Every row of the file in file order.")
@click.option(
    "--branches/--no-branches",
    default=None,
    help="With the branches that were left. In json, csv and parquet by default.",
)
@click.option(
    "--pictures", type=click.Choice(["none", "inline", "files"]), help="Left out, inside of the file, or beside it."
)
@click.option("--costs", is_flag=True, help="Tokens and cost of every answer.")
@click.option("--front-matter", is_flag=True, help="Facts as front matter (md), for Obsidian.")
@click.option(
    "--tz",
    "timezone",
    default="UTC",
    show_default=True,
    metavar="ZONE",
    help="The time zone of the times: Europe/Berlin, local.",
)
@click.option(
    "--stamp", is_flag=True, help="Write when it was exported. Without, the same session gives the same bytes."
)
@click.option("--single", is_flag=True, help="One file, however large.")
@redact_option
@click.option(
    "--no-redact",
    is_flag=True,
    help="Leave nothing out. Without --redact, secrets are left out of all but json and jsonl.",
)
@click.option("--force", is_flag=True, help="Replace a file that Recollect did not write, or that was changed since.")
@click.option(
    "--gist", is_flag=True, help="Also print the command that would publish the file as a gist. It is not run."
)
def export(
    run: CommandRun,
    sessions: tuple[str, ...],
    project: str | None,
    everything: bool,
    format_name: str | None,
    output: str | None,
    into: str | None,
    site: str | None,
    redact: str | None,
    no_redact: bool,
    force: bool,
    gist: bool,
    view: str | None,
    **options: Any,
) -> None:
    """Write sessions as files to read, to share or to work with: web page, Markdown, text, JSON, tables, trajectories.

    Secrets are left out of everything that is made to be shared; what was left out is said in the file. Nothing is written
    into a Claude home, over a file of somebody else, or in part.
    """
    if redact is not None and no_redact:
        raise click.UsageError("--redact and --no-redact exclude each other")
    if sum(item is not None for item in (output, into, site)) > 1:
        raise click.UsageError("--output, --into and --site exclude each other")
    if site is not None and format_name not in (None, "html"):
        raise click.UsageError("a site is html")
    if output == "-" and not run.is_text:
        raise click.UsageError("with --output - stdout holds the export: --json is not possible")
    chosen = _chosen(run, sessions, project, everything)
    with indexing_bar("exporting") as progress:
        result = run.library.export(
            chosen, sys.stdout.buffer if output == "-" else output, format=format_name, into=into, site=site,
            redact="none" if no_redact else redact, force=force, progress=progress, view=view or "history", **options,
        )  # fmt: skip
    if not run.is_text:
        run.value(result.as_dict())
        return
    if site is not None:
        run.print(os.path.join(site, "index.html"))
    elif output != "-":
        _tell_files(run, result)
    _tell(run, result)
    if gist and result.gist is not None:
        (run.say if output == "-" else run.print)(result.gist)


def _chosen(run: CommandRun, sessions: Sequence[str], project: str | None, everything: bool) -> list[Any]:
    """Return the sessions that are meant."""
    if sum((bool(sessions), project is not None, everything)) != 1:
        raise click.UsageError("name sessions, or a --project, or --all")
    if sessions:
        return [run.library.session(name) for name in sessions]
    found = run.library.sessions(project=project, kept=None, sort="created", count=False)
    if not found:
        run.advise_on_project(project)
        raise NotFound("there is no session to export", slug="nothing-to-export")
    return [run.library.session(_reference(item)) for item in found]


def _reference(item: SessionSummary) -> str:
    """Return how to open a session: by its path, since two homes may have the same id, if there is a file at it."""
    return item.session_id if item.file.is_kept or item.file.is_gone else str(item.file.path)


def _tell_files(run: CommandRun, result: ExportResult) -> None:
    for name in result.files[:_SHOWN]:
        run.print(name)
    more = len(result.files) - _SHOWN
    if more > 0:
        run.say(f"… and {plural(more, 'more file')}")


def _tell(run: CommandRun, result: ExportResult) -> None:
    """Say on stderr what a reader of the files must know."""
    words = [plural(result.sessions, "session"), plural(result.messages, "message"), size(result.bytes)]
    if result.unchanged:
        words.append(f"{result.unchanged:,} unchanged")
    if result.removed:
        words.append(f"{plural(len(result.removed), 'old file')} removed")
    run.say(", ".join(words))
    redacted = result.redacted
    if redacted is not None:
        kinds = ", ".join(f"{count} {kind}" for kind, count in redacted["kinds"].items())
        told = f"{plural(redacted['values'], 'value')} redacted: {kinds}" if kinds else "nothing was found to redact"
        run.say(f"{told} ({redacted['profile']})")
    for remark in result.warnings:
        run.say(f"note: {remark}")
    for remark in result.left_out[:_SHOWN]:
        run.say(f"left out: {remark}")
    more = len(result.left_out) - _SHOWN
    if more > 0:
        run.say(f"… and {plural(more, 'more')}: --json lists them")
