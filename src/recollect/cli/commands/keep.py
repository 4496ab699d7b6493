"""`recollect keep`: everything new of the homes goes into the vault.

JSON: {homes: [{home, files, new, grown, rewritten, healed, bytes, stored, sessions, skipped, lost, recovered}], bytes,
stored}; lost are files of which the vault has lost something that stands nowhere else. With --status: {vault, homes: [{home,
cleanup_days, sessions, kept, behind, lost, damaged, expiring, expiring_not_kept}], files, bytes, stored, ratio, reclaimable,
last_kept, read_since (since then every block was read and found right), installed}. With --compact: {vault, files, bytes,
blocks, unused_blocks, unused, stored, blocks_after, stored_after, dry_run}; the two of afterwards are null where nothing was
done. With --forget-lost: {vault, files, dry_run}.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import DamagedData
from ...export.formatting import ago, number, plural, size
from ...export.terminal_text import safe
from ...library.homes import open_homes
from ...store.home import Home
from ...vault.report import CaptureReport
from ...vault.seen import SeenFiles
from ...vault.selection import walk_home
from ..command_run import CommandRun, command
from ..vaulting import existing_vault, open_vault, seen_folder, vault_folder

if TYPE_CHECKING:
    from ...vault.retention import Guard

Progress = Callable[[int, int], None]
KINDS = ("hook", "systemd", "launchd", "cron")


@command(
    "keep",
    epilog="recollect keep\nrecollect keep --status\nrecollect keep --install hook\nrecollect keep --watch\n"
    "recollect keep --compact",
)
@click.option("--status", is_flag=True, help="What is kept, and what the client will delete soon.")
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

    The client deletes transcripts after 30 days (cleanupPeriodDays); the vault keeps them, with every generation of a file
    that was rewritten. Tokens, accounts and settings are never kept. Where the vault has lost something, that is said and
    stored again from the files that are still there; a part of the vault is read again every few hours.
    """
    if take_over:
        open_vault().take_over()
    if status:
        _status(run)
    elif kind is not None or gone is not None:
        from ..keep_install import install

        install(run, kind or str(gone), remove=kind is None, every=every, yes=yes, dry_run=dry_run)
    elif compact:
        _compact(run, quiet=quiet, dry_run=dry_run)
    elif forget_lost:
        _forget_lost(run, yes=yes, dry_run=dry_run)
    elif watch:
        _watch(run, quiet, polling)
    else:
        reports = _keep(run, full=full, shown=not quiet)
        _tell(run, reports, quiet)
        _raise_if_lost(reports)


def _raise_if_lost(reports: list[CaptureReport]) -> None:
    """What stands nowhere else is said at every keep, until it is back or given up."""
    lost = reports[-1].lost if reports else []  # of all homes, when the last of them was kept
    if lost:
        raise DamagedData(
            f"the vault has lost part of {plural(len(lost), 'file')}, and nothing else has it: {', '.join(lost[:3])}"
            f"{' ...' if len(lost) > 3 else ''}",
            hint="everything else is kept. Packs that come back, from a backup of the folder, are used again; "
            "`recollect keep --forget-lost` gives up what does not", slug="vault-damaged",
        )  # fmt: skip


def _keep(run: CommandRun, *, full: bool = False, shown: bool = False) -> list[CaptureReport]:
    progress = _progress(run, shown, "files")
    return [_keep_home(home, full, progress) for home in open_homes(run.homes)]


def _progress(run: CommandRun, shown: bool, words: str) -> Progress:
    shown = shown and run.is_text and sys.stderr.isatty()

    def progress(done: int, todo: int) -> None:
        if shown and (done % 50 == 0 or done == todo):
            click.echo(f"\r{done:,} of {todo:,} {words}", nl=done == todo, err=True)

    return progress


def _keep_home(home: Home, full: bool, progress: Progress) -> CaptureReport:
    if not full:  # most often nothing is new, and that is known before the rest of the program is loaded
        found = walk_home(home)
        if SeenFiles(seen_folder(), vault_folder(), home.real_root).is_all(found.files):
            return CaptureReport(str(home.root), len(found.files), skipped=found.skipped)
    from ...vault.capture import capture

    return capture(open_vault(), home, cache=seen_folder(), full=full, progress=progress)


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
        if report.healed:
            run.say(
                f"DAMAGE: the vault had lost part of {plural(report.healed, 'file')} of {report.home}; the home still has "
                "them, and they are stored again. Look at the disk that the vault is on"
            )
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
    """Keep now, and again whenever something changes. One row a capture with --jsonl."""
    from ...vault.watching import changes

    def once() -> None:
        for report in _keep(run):
            if report.bytes or report.changed:
                if run.is_text and not quiet:
                    run.say(f"{time.strftime('%H:%M:%S')} {report.home}: {_words(report)}")
                elif not run.is_text:
                    run.format = "jsonl"
                    run.value({**asdict(report), "sessions": sorted(report.sessions)})
                    sys.stdout.flush()

    once()
    for _ in changes(open_homes(run.homes), at_least_every=1.0 if polling else 60.0, polling=polling):
        once()


def _compact(run: CommandRun, *, quiet: bool, dry_run: bool) -> None:
    from ...vault.compact import compact, survey

    vault = existing_vault()
    report = (
        survey(vault) if dry_run else compact(vault, progress=_progress(run, not quiet, "files stored and read back"))
    )
    if not run.is_text:
        run.value({"vault": str(vault.folder), **report.as_dict(), "dry_run": dry_run})
        return
    if quiet:
        return
    if not report.is_worthwhile:
        run.print(f"{vault.folder}: nothing to gain, {size(report.bytes)} are kept in {size(report.stored)}")
    elif report.stored_after is None or report.blocks_after is None:
        run.print(
            f"{vault.folder}: would store {plural(report.files, 'file')} anew; {number(report.unused_blocks)} of "
            f"{plural(report.blocks, 'block')} are no longer needed, so of {size(report.stored)} at least "
            f"{size(report.unused)} would be freed"
        )
    else:
        run.print(
            f"{vault.folder}: {size(report.stored)} in {plural(report.blocks, 'block')} became "
            f"{size(report.stored_after)} in {plural(report.blocks_after, 'block')}; nothing that was kept is gone"
        )


def _forget_lost(run: CommandRun, *, yes: bool, dry_run: bool) -> None:
    from ...vault.compact import forget_lost, lost_files
    from ..changing import confirm

    vault = existing_vault()
    lost = lost_files(vault)
    if lost and not dry_run:
        confirm(f"Give up what is lost of {plural(len(lost), 'kept file')}", yes=yes)
        lost = forget_lost(vault)
    if not run.is_text:
        run.value({"vault": str(vault.folder), "files": lost, "dry_run": dry_run})
        return
    run.print(f"{'would give up' if dry_run else 'gave up'} what is lost of {plural(len(lost), 'kept file')}")
    for path in lost:
        run.print(f"  {path}")


def _status(run: CommandRun) -> None:
    from ...format.times import to_iso
    from ...vault.compact import survey
    from ...vault.health import read_state
    from ...vault.retention import guard
    from ..keep_install import installed

    vault, library, now = open_vault(), run.library, time.time()
    guards = [
        guard(vault, home, [file for file in library.files() if file.home is home], now=now) for home in library.homes
    ]
    contents = vault.contents if vault.exists else None
    raw = contents.raw_bytes() if contents is not None else 0
    stored = vault.stored_bytes() if contents is not None else 0
    last = contents.last_time if contents is not None else None
    reclaimable = survey(vault).unused if contents is not None else 0
    read_since = read_state(vault).read_since if contents is not None else None
    told: dict[str, Any] = {
        "vault": str(vault.folder),
        "homes": [asdict(item) for item in guards],
        "files": len(contents.files) if contents is not None else 0,
        "bytes": raw,
        "stored": stored,
        "ratio": round(raw / stored, 2) if stored else None,
        "reclaimable": reclaimable,
        "last_kept": to_iso(last) if last is not None else None,
        "read_since": to_iso(read_since) if read_since is not None else None,
        "installed": installed(run),
    }
    if not run.is_text:
        run.value(told)
    else:
        _print_status(run, guards, told, now, vault.folder, last)
    if any(item.damaged for item in guards):
        raise click.exceptions.Exit(1)


def _print_status(
    run: CommandRun, guards: list[Guard], told: dict[str, Any], now: float, folder: Path, last: float | None
) -> None:
    from ...vault.retention import SOON_DAYS

    for item in guards:
        if item.damaged:
            text = f"DAMAGED: the vault has lost part of {plural(len(item.damaged), 'file')} of {item.home}"
            hint = "`recollect keep` stores again what the home still has, `recollect verify` tells everything"
            run.print_styled(run.style(f"{safe(text)}: {hint}", fg="red"))
        run.print(
            f"{item.home}: {plural(len(item.expiring), 'session')} will be deleted within {SOON_DAYS} days; "
            f"{number(len(item.expiring_not_kept))} not kept (the client keeps {number(item.cleanup_days)} days)"
        )
        run.print(
            f"  {number(item.kept)} of {plural(item.sessions, 'session')} kept as they are now, "
            f"{number(item.lost)} more only in the vault"
        )
    if not told["files"] and last is None:
        run.print("nothing was kept yet: `recollect keep` keeps everything there is")
        return
    run.print(
        f"{folder}: {plural(told['files'], 'file')}, {size(told['bytes'])} in {size(told['stored'])} "
        f"({told['bytes'] / max(told['stored'], 1):.1f} times smaller), last kept "
        f"{ago(last, now) if last is not None else 'never'}"
    )
    stored, reclaimable = told["stored"], told["reclaimable"]
    if reclaimable > max(stored // 4, 1_000_000):
        run.print(f"at least {size(reclaimable)} of it can be freed: `recollect keep --compact`")
    names = told["installed"]
    run.print(f"kept by itself: {', '.join(names)}" if names else "not kept by itself: `recollect keep --install hook`")
