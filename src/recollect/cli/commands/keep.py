"""`recollect keep`: everything new of the homes goes into the vault.

JSON: {homes: [{home, files, new, grown, rewritten, healed, bytes, stored, sessions, skipped, lost, recovered}], bytes,
stored}; lost are files of which the vault has lost something that stands nowhere else. With --status: {vault, homes: [{home,
cleanup_days, sessions, kept, behind, lost, damaged, expiring, expiring_not_kept}], files, bytes, stored, ratio, reclaimable,
last_kept, read_since (since then every block was read and found right), other_machine (the name of another machine that keeps in
the vault, so that this one does not, or null), installed}. With --compact: {vault, files, bytes,
blocks, unused_blocks, unused, stored, blocks_after, stored_after, dry_run}; the two of afterwards are null where nothing was
done. With --forget-lost: {vault, files, dry_run}. With --install and --remove: {kind, home, command, events, present, files,
commands, done, change, dry_run, steps}; present says whether it was installed already, files maps paths to texts (null: removed).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ...errors import DamagedData
from ...export.formatting import ago, number, plural, size
from ...export.terminal_text import safe
from ...library.homes import open_homes
from ...library.keeping import damage_words, keep_homes, keep_on
from .. import lean_keep
from ..command_run import CommandRun, command, library_of_vault

if TYPE_CHECKING:
    from ...library.keeping import CaptureReport
    from ...library.vault import VaultStatus

Progress = Callable[[int, int], None]
KINDS = ("hook", "systemd", "launchd", "cron")


@command(
    "keep",
    epilog="recollect keep\nrecollect keep --status\nrecollect keep --install hook\nrecollect keep --watch\n"
    "recollect keep --compact",
)
@click.option("--status", is_flag=True, help="What is kept, and what Claude Code will delete soon.")
@click.option("--watch", is_flag=True, help="Go on keeping whenever something changes, until interrupted.")
@click.option("--full", is_flag=True, help="Compare every file with what is kept, whatever its time says.")
@click.option(
    "--compact", is_flag=True, help="Store what is kept anew, closer together, and free the room of the rest."
)
@click.option("--forget-lost", is_flag=True, help="Give up what the vault has lost for good. Asks first.")
@click.option(
    "--take-over", is_flag=True, help="Keep from this machine from now on, where another one kept in the same folder."
)
@click.option(
    "--install", "kind", type=click.Choice(KINDS), help="Keep by itself from now on. Shown before it is done."
)
@click.option("--remove", "gone", type=click.Choice(KINDS), help="Take out what --install put in.")
@click.option(
    "--every",
    default=15,
    type=click.IntRange(1, 1440),
    show_default=True,
    metavar="MINUTES",
    help="How often a timer keeps.",
)
@click.option("--quiet", "-q", is_flag=True, help="Say nothing unless something goes wrong.")
@click.option("--polling", is_flag=True, hidden=True)
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.option(
    "--dry-run", "-n", is_flag=True, help="With --install, --remove, --compact and --forget-lost: change nothing."
)
def keep(
    run: CommandRun,
    status: bool,
    watch: bool,
    full: bool,
    compact: bool,
    forget_lost: bool,
    take_over: bool,
    kind: str | None,
    gone: str | None,
    every: int,
    quiet: bool,
    polling: bool,
    yes: bool,
    dry_run: bool,
) -> None:
    """Keep everything new in the vault: transcripts with all that belongs to them. What is there already costs nothing.

    Claude Code deletes transcripts after 30 days (cleanupPeriodDays); the vault keeps them, with every generation of a file
    that was rewritten. Tokens, accounts and settings are never kept. Where the vault has lost something, that is said and
    stored again from the files that are still there; a part of the vault is read again every few hours.
    """
    if take_over:
        library_of_vault(run).vault.take_over()
    if status:
        _status(run)
    elif kind is not None or gone is not None:
        from ..installing import install

        install(run, kind or str(gone), remove=kind is None, every=every, yes=yes, dry_run=dry_run)
    elif compact:
        _compact(run, quiet=quiet, dry_run=dry_run)
    elif forget_lost:
        _forget_lost(run, yes=yes, dry_run=dry_run)
    elif watch:
        _watch(run, quiet, polling)
    else:
        walks = {} if full else lean_keep.WALKS  # made when the process began
        progress = _progress(run, not quiet, "files")
        reports = keep_homes(open_homes(run.homes), full=full, progress=progress, walks=walks)
        _tell(run, reports, quiet)
        _raise_if_lost(reports)


def _raise_if_lost(reports: list[CaptureReport]) -> None:
    """Raise DamagedData at every keep until what the vault lost, and nothing else has, is back or given up."""
    lost = reports[-1].lost if reports else []  # of all homes, as of the last one that was kept
    if lost:
        raise DamagedData(
            f"the vault has lost part of {plural(len(lost), 'file')}, and nothing else has it: {', '.join(lost[:3])}"
            f"{' ...' if len(lost) > 3 else ''}",
            hint="everything else is kept. Packs that come back, from a backup of the folder, are used again; "
            "`recollect keep --forget-lost` gives up what does not", slug="vault-damaged",
        )  # fmt: skip


def _progress(run: CommandRun, shown: bool, words: str) -> Progress:
    shown = shown and run.is_text and sys.stderr.isatty()

    def progress(done: int, todo: int) -> None:
        if shown and (done % 50 == 0 or done == todo):
            click.echo(f"\r{done:,} of {todo:,} {words}", nl=done == todo, err=True)

    return progress


def _tell(run: CommandRun, reports: list[CaptureReport], quiet: bool) -> None:
    if not run.is_text:
        run.value(
            {
                "homes": [{**asdict(report), "sessions": sorted(report.sessions)} for report in reports],
                "bytes": sum(report.bytes for report in reports),
                "stored": sum(report.stored for report in reports),
            }
        )
        return
    for report in reports:
        if (words := damage_words(report)) is not None:
            run.say(words)
    if quiet:
        return
    for report in reports:
        run.print(f"{report.home}: {_words(report)}")
        for name in report.skipped[:20]:
            run.say(f"not kept: {name}")
        if len(report.skipped) > 20:
            run.say(f"… and {len(report.skipped) - 20} more")


def _words(report: CaptureReport) -> str:
    if not report.changed and not report.bytes:
        return f"nothing new in {plural(report.files, 'file')}"
    parts = [f"{number(count)} {word}" for count, word in (
        (report.new, "new"), (report.grown, "grown"), (report.rewritten, "rewritten"),
            (report.healed, "healed")) if count]  # fmt: skip
    return (
        f"{', '.join(parts) or 'no new'} of {plural(report.files, 'file')}, {plural(len(report.sessions), 'session')}; "
        f"{size(report.bytes)} kept in {size(report.stored)}"
    )


def _watch(run: CommandRun, quiet: bool, polling: bool) -> None:
    """Keep now, and again whenever something changes. With --jsonl, one row for each capture."""
    for reports in keep_on(open_homes(run.homes), polling=polling):
        for report in reports:
            if report.bytes or report.changed:
                if run.is_text and not quiet:
                    run.say(f"{time.strftime('%H:%M:%S')} {report.home}: {_words(report)}")
                elif not run.is_text:
                    run.format = "jsonl"
                    run.value({**asdict(report), "sessions": sorted(report.sessions)})
                    sys.stdout.flush()


def _compact(run: CommandRun, *, quiet: bool, dry_run: bool) -> None:
    plan = library_of_vault(run).vault.compact()
    if not dry_run:
        plan.commit(_progress(run, not quiet, "files stored and read back"))
    if not run.is_text:
        run.value({**plan.result, "dry_run": dry_run})
        return
    if quiet:
        return
    report, folder = plan.report, plan.result["vault"]
    if not report.is_worthwhile:
        run.print(f"{folder}: nothing to gain, {size(report.bytes)} are kept in {size(report.stored)}")
    elif report.stored_after is None or report.blocks_after is None:
        run.print(
            f"{folder}: would store {plural(report.files, 'file')} anew; {number(report.unused_blocks)} of "
            f"{plural(report.blocks, 'block')} are no longer needed, so of {size(report.stored)} at least "
            f"{size(report.unused)} would be freed"
        )
    else:
        run.print(
            f"{folder}: {size(report.stored)} in {plural(report.blocks, 'block')} became "
            f"{size(report.stored_after)} in {plural(report.blocks_after, 'block')}; nothing that was kept is gone"
        )


def _forget_lost(run: CommandRun, *, yes: bool, dry_run: bool) -> None:
    from ..changing import confirm

    plan = library_of_vault(run).vault.forget_lost()
    if plan.steps and not dry_run:
        confirm(plan.title, yes=yes)
        plan.commit()
    if not run.is_text:
        run.value({**plan.result, "dry_run": dry_run})
        return
    lost = plan.result["files"]
    run.print(f"{'would give up' if dry_run else 'gave up'} what is lost of {plural(len(lost), 'kept file')}")
    for path in lost:
        run.print(f"  {path}")


def _status(run: CommandRun) -> None:
    now = time.time()
    status, names = run.library.vault.status(now=now), run.library.installed()
    if not run.is_text:
        run.value({**status.as_dict(), "installed": names})
    else:
        _print_status(run, status, names, now)
    if status.is_damaged:
        raise click.exceptions.Exit(1)


def _print_status(run: CommandRun, status: VaultStatus, names: list[str], now: float) -> None:
    from ...library.vault import SOON_DAYS

    for item in status.homes:
        if item.damaged:
            text = f"DAMAGED: the vault has lost part of {plural(len(item.damaged), 'file')} of {item.home}"
            hint = "`recollect keep` stores again what the home still has, `recollect verify` tells everything"
            run.print_styled(run.style(f"{safe(text)}: {hint}", fg="red"))
        run.print(
            f"{item.home}: {plural(len(item.expiring), 'session')} will be deleted within {SOON_DAYS} days; "
            f"{number(len(item.expiring_not_kept))} not kept (Claude Code keeps {number(item.cleanup_days)} days)"
        )
        run.print(
            f"  {number(item.kept)} of {plural(item.sessions, 'session')} kept as they are now, "
            f"{number(item.lost)} more only in the vault"
        )
    if not status.files and status.last_kept is None:
        run.print("nothing was kept yet: `recollect keep` keeps everything there is")
        return
    run.print(
        f"{status.folder}: {plural(status.files, 'file')}, {size(status.bytes)} in {size(status.stored)} "
        f"({status.bytes / max(status.stored, 1):.1f} times smaller), last kept "
        f"{ago(status.last_kept, now) if status.last_kept is not None else 'never'}"
    )
    if status.other_machine is not None:
        text = f"kept by another machine, {safe(status.other_machine)}: nothing of this machine is kept here. Give it a folder "
        text += (
            "of its own (RECOLLECT_DATA_DIR); where the other one no longer keeps here, `recollect keep --take-over`"
        )
        run.print_styled(run.style(text, fg="yellow"))
    if status.is_worth_compacting:
        run.print(f"at least {size(status.reclaimable)} of it can be freed: `recollect keep --compact`")
    run.print(f"kept by itself: {', '.join(names)}" if names else "not kept by itself: `recollect keep --install hook`")
