"""`recollect secrets`: keys, tokens and passwords that stand in the homes, and where to revoke them.

JSON: rows of {session_id, path (from the home), home, line, pointer, start, end, kind, family, confidence, form, length, masked,
fingerprint, time}; values, finds, sessions, bytes, read_bytes, files, unreadable, seconds, rules_version. `start` and `end`
count code points of the string at the JSON `pointer`; without pointer, from the start of the line. With --reveal, rows have
`value`, too. With --rules: rows of {kind, family, confidence, looks_like, checksum, revoke, source, own}, total. Exit code 1
where something is found. With --mask: see `recollect.cli.secrets_masking`.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from ...export.formatting import local_minute, plural
from ...library.secrets import CONFIDENCES, FileFinds, Finding, FoundValue, SecretFinds, kind_rows, read_rules
from ..command_run import Column, CommandRun, command, complete_session
from ..option_types import SINCE, UNTIL

EXAMPLES = """
recollect secrets
recollect secrets last --min-confidence possible
recollect secrets --since 1d --quiet
recollect secrets --kind github-pat --json
recollect secrets --files notes.md -
recollect secrets --rules
recollect secrets --mask --dry-run
"""


@command("secrets", epilog=EXAMPLES)
@click.argument("sessions", nargs=-1, metavar="[SESSION]...", shell_complete=complete_session)
@click.option("--all", "everything", is_flag=True, help="Everything the homes hold. The default.")
@click.option("--project", metavar="P", help="Only this project: its path, the end of it, or a folder above; any case.")
@click.option("--since", type=SINCE, help="Not before this moment. Files that were not changed since are not opened.")
@click.option("--until", type=UNTIL, help="Not after this moment; a day counts as a whole.")
@click.option("--kind", "kinds", multiple=True, metavar="K", help="Only this kind (see --rules). May be repeated.")
@click.option(
    "--personal", is_flag=True, help="Also mail addresses, user names in paths, host names, addresses, cards."
)
@click.option(
    "--min-confidence", type=click.Choice(CONFIDENCES), default="likely", show_default=True,
    help="definite: the form says it all; likely: what stands beside it does; possible: only its look.",
)  # fmt: skip
@click.option("--reveal", is_flag=True, help="Show the values themselves.")
@click.option("--ignore", multiple=True, metavar="FINGERPRINT", help="Leave this value out. May be repeated.")
@click.option(
    "--files", "are_files", is_flag=True, help="Search the named files instead of the homes; - is standard input."
)
@click.option(
    "--rules", "show_rules", is_flag=True, help="List the kinds: how they look, and where the facts are from."
)
@click.option("--quiet", is_flag=True, help="Print nothing; the exit code says whether something was found.")
@click.option(
    "--mask", "is_mask", is_flag=True, help="Remove the values for good: from homes, index, vault and journal."
)
@click.option("--dry-run", is_flag=True, help="With --mask: only show what would be done.")
@click.option("--yes", is_flag=True, help="With --mask: do not ask.")
@click.option("--everywhere", is_flag=True, help="With --mask: also where a value stands inside of a longer word.")
@click.option("--same-length", is_flag=True, help="With --mask: replace each value by a text of its length.")
@click.option(
    "--settings", is_flag=True, help="With --mask: also in settings and the global config, where keys are in use."
)
def secrets(
    run: CommandRun,
    sessions: tuple[str, ...],
    everything: bool,
    project: str | None,
    since: datetime | None,
    until: datetime | None,
    kinds: tuple[str, ...],
    personal: bool,
    min_confidence: str,
    reveal: bool,
    ignore: tuple[str, ...],
    are_files: bool,
    show_rules: bool,
    quiet: bool,
    is_mask: bool,
    **masking: bool,
) -> None:
    """Find keys, tokens and passwords in everything the homes hold: transcripts, subagents, tool results, history, settings.

    Values are shown masked. What was found must be revoked: it stood in a file, and was sent to the model.
    """
    if everything and (sessions or project is not None):
        raise click.UsageError("SESSION and --project exclude --all")
    if not is_mask and any(masking.values()):
        raise click.UsageError("--dry-run, --yes, --everywhere, --same-length and --settings need --mask")
    if are_files and (is_mask or project is not None or since is not None or until is not None or everything):
        raise click.UsageError("--files takes only files, --personal, --kind, --ignore, --min-confidence and --reveal")
    if show_rules:
        _print_rules(run)
        return
    if are_files:
        _search_files(
            run, sessions, kinds, ignore, personal=personal, confidence=min_confidence, reveal=reveal, quiet=quiet
        )
        return
    with _bar(quiet) as progress:
        found = run.library.secrets(
            *sessions, project=project, since=since, until=until, kinds=kinds, personal=personal,
            min_confidence=min_confidence, ignore=ignore, progress=progress,
        )  # fmt: skip
        rows = list(found)
    if is_mask:
        from ..secrets_masking import mask

        chosen = sessions or project is not None or since is not None or until is not None
        mask(
            run, {row.fingerprint for row in rows} if chosen else None,
            kinds=kinds, min_confidence=min_confidence, ignore=ignore, personal=personal, **masking,
        )  # fmt: skip
        return
    if not quiet:
        values = found.reveal() if reveal and rows else {}
        if run.is_text:
            _print_values(run, found.values)
            for item in found.values if reveal else ():
                run.print(f"{item.fingerprint}: {values.get(item.fingerprint, item.masked)}")
            _print_totals(run, found)
        else:
            run.rows([_shape(row, values, reveal) for row in rows], **found.totals)
        if not rows:
            run.advise_on_project(project)
    if rows:
        raise click.exceptions.Exit(1)


def _shape(row: Finding, values: dict[str, str], reveal: bool) -> dict[str, Any]:
    shape = row.as_dict()
    return shape | {"value": values.get(row.fingerprint)} if reveal else shape


@contextlib.contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[int, int], None]]:
    hidden = quiet or not sys.stderr.isatty()
    with click.progressbar(length=1, label="searching", file=sys.stderr, hidden=hidden) as bar:
        told = 0

        def progress(done: int, todo: int) -> None:
            nonlocal told
            bar.length = max(todo, 1)
            bar.update(done - told)
            told = done

        yield progress


VALUE_COLUMNS = (
    Column("kind"),
    Column("masked", "value"),
    Column("fingerprint"),
    Column("finds", "times", right=True),
    Column("sessions", right=True),
    Column("first", "first seen"),
    Column("last", "last seen"),
    Column("advice", "revoke it there", stretch=True),
)


def _print_values(run: CommandRun, values: list[FoundValue]) -> None:
    rows = [
        {
            "kind": item.kind if item.confidence != "possible" else f"{item.kind} (possible)",
            "masked": item.masked,
            "fingerprint": item.fingerprint,
            "finds": item.finds,
            "sessions": len(item.sessions),
            "first": local_minute(item.first),
            "last": local_minute(item.last),
            "advice": item.advice,
        }
        for item in values
    ]
    run.table(rows, VALUE_COLUMNS)


def _print_totals(run: CommandRun, found: SecretFinds) -> None:
    totals = found.totals
    size = f"{totals['bytes'] / 1e6:,.1f} MB in {plural(totals['files'], 'file')} searched"
    if totals["unreadable"]:
        run.say(f"{plural(len(totals['unreadable']), 'file')} could not be read: {', '.join(totals['unreadable'][:5])}")
    if not totals["values"]:
        run.say(f"no secrets found; {size}")
        return
    run.print()
    sessions = f" in {plural(totals['sessions'], 'session')}" if totals["sessions"] else ""
    run.print(f"{plural(totals['values'], 'value')}, {plural(totals['finds'], 'find')}{sessions}; {size}")
    run.say("A key that stood here must be revoked. `recollect secrets --mask` then removes it from the files.")


def _print_rules(run: CommandRun) -> None:
    rows = [asdict(row) for row in kind_rows(read_rules(run.library.own_folder("config")))]
    columns = (
        Column("kind"),
        Column("confidence"),
        Column("looks_like", "looks like", stretch=True),
        Column("source", "known from"),
    )
    run.rows(rows, columns, total=len(rows))


def _search_files(
    run: CommandRun,
    names: tuple[str, ...],
    kinds: tuple[str, ...],
    ignore: tuple[str, ...],
    *,
    personal: bool,
    confidence: str,
    reveal: bool,
    quiet: bool,
) -> None:
    """Search files that belong to no home. One line for each find, as compilers tell: file, line, kind."""
    if not names:
        raise click.UsageError("--files needs the names of files; - is standard input")
    search = FileFinds(run.library, personal=personal, min_confidence=confidence)
    rows: list[Finding] = []
    for name in names:
        found = search.in_bytes("-", sys.stdin.buffer.read()) if name == "-" else search.in_file(Path(name))
        rows += [row for row in found if row.fingerprint not in ignore and (not kinds or row.kind in kinds)]
    if not quiet:
        if run.is_text:
            for row in rows:
                shown = search.revealed.get(row.fingerprint, row.masked) if reveal else row.masked
                run.print(f"{row.path}:{row.line}: {row.kind} ({row.confidence}) {shown} [{row.fingerprint}]")
        else:
            values = len({row.fingerprint for row in rows})
            run.rows([_shape(row, search.revealed, reveal) for row in rows], values=values, finds=len(rows))
    if rows:
        raise click.exceptions.Exit(1)
