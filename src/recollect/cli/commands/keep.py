"""`recollect keep`: everything new of the homes goes into the vault.

JSON: {homes: [{home, files, new, grown, rewritten, bytes, stored, sessions, skipped}], bytes, stored}. With --status:
{vault, homes: [{home, cleanup_days, sessions, kept, behind, lost, expiring, expiring_not_kept}], files, bytes, stored,
ratio, reclaimable, last_kept, installed}. With --compact: {vault, files, bytes, blocks, unused_blocks, unused, stored,
blocks_after, stored_after, dry_run}; the two of afterwards are null where nothing was done.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import click

from ...library.homes import open_homes
from ...store.home import Home
from ...vault.report import CaptureReport
from ...vault.seen import SeenFiles
from ...vault.selection import walk_home
from ..face import Face, command
from ..vaulting import existing_vault, open_vault, seen_folder, vault_folder
from ..words import ago, number, plural, size

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
@click.option("--dry-run", "-n", is_flag=True, help="With --install, --remove and --compact: change nothing.")
def keep(
    face: Face,
    status: bool,
    watch: bool,
    full: bool,
    compact: bool,
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
    that was rewritten. Tokens, accounts and settings are never kept.
    """
    if status:
        _status(face)
    elif kind is not None or gone is not None:
        from ..keep_install import install

        install(face, kind or str(gone), remove=kind is None, every=every, yes=yes, dry_run=dry_run)
    elif compact:
        _compact(face, quiet=quiet, dry_run=dry_run)
    elif watch:
        _watch(face, quiet, polling)
    else:
        _tell(face, _keep(face, full=full, shown=not quiet), quiet)


def _keep(face: Face, *, full: bool = False, shown: bool = False) -> list[CaptureReport]:
    progress = _progress(face, shown, "files")
    return [_keep_home(home, full, progress) for home in open_homes(face.homes)]


def _progress(face: Face, shown: bool, words: str) -> Progress:
    shown = shown and face.is_text and sys.stderr.isatty()

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


def _tell(face: Face, reports: list[CaptureReport], quiet: bool) -> None:
    if not face.is_text:
        face.value(
            {
                "homes": [{**asdict(report), "sessions": sorted(report.sessions)} for report in reports],
                "bytes": sum(report.bytes for report in reports),
                "stored": sum(report.stored for report in reports),
            }
        )
        return
    if quiet:
        return
    for report in reports:
        face.print(f"{report.home}: {_words(report)}")
        for name in report.skipped[:20]:
            face.say(f"not kept: {name}")
        if len(report.skipped) > 20:
            face.say(f"… and {len(report.skipped) - 20} more")


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


def _watch(face: Face, quiet: bool, polling: bool) -> None:
    """Keep now, and again whenever something changes. One row a capture with --jsonl."""
    from ...vault.watching import changes

    def once() -> None:
        for report in _keep(face):
            if report.bytes or report.changed:
                if face.is_text and not quiet:
                    face.say(f"{time.strftime('%H:%M:%S')} {report.home}: {_words(report)}")
                elif not face.is_text:
                    face.format = "jsonl"
                    face.value({**asdict(report), "sessions": sorted(report.sessions)})
                    sys.stdout.flush()

    once()
    for _ in changes(open_homes(face.homes), at_least_every=1.0 if polling else 60.0, polling=polling):
        once()


def _compact(face: Face, *, quiet: bool, dry_run: bool) -> None:
    from ...vault.compact import compact, survey

    vault = existing_vault()
    report = (
        survey(vault) if dry_run else compact(vault, progress=_progress(face, not quiet, "files stored and read back"))
    )
    if not face.is_text:
        face.value({"vault": str(vault.folder), **report.as_dict(), "dry_run": dry_run})
        return
    if quiet:
        return
    if not report.is_worthwhile:
        face.print(f"{vault.folder}: nothing to gain, {size(report.bytes)} are kept in {size(report.stored)}")
    elif report.stored_after is None or report.blocks_after is None:
        face.print(
            f"{vault.folder}: would store {plural(report.files, 'file')} anew; {number(report.unused_blocks)} of "
            f"{plural(report.blocks, 'block')} are no longer needed, so of {size(report.stored)} at least "
            f"{size(report.unused)} would be freed"
        )
    else:
        face.print(
            f"{vault.folder}: {size(report.stored)} in {plural(report.blocks, 'block')} became "
            f"{size(report.stored_after)} in {plural(report.blocks_after, 'block')}; nothing that was kept is gone"
        )


def _status(face: Face) -> None:
    from ...format.times import to_iso
    from ...vault.compact import survey
    from ...vault.retention import SOON_DAYS, guard
    from ..keep_install import installed

    vault, library, now = open_vault(), face.library, time.time()
    guards = [
        guard(vault, home, [file for file in library.files() if file.home is home], now=now) for home in library.homes
    ]
    contents = vault.contents if vault.exists else None
    raw = contents.raw_bytes() if contents is not None else 0
    stored = vault.stored_bytes() if contents is not None else 0
    last = contents.last_time if contents is not None else None
    reclaimable = survey(vault).unused if contents is not None else 0
    told: dict[str, Any] = {
        "vault": str(vault.folder),
        "homes": [asdict(item) for item in guards],
        "files": len(contents.files) if contents is not None else 0,
        "bytes": raw,
        "stored": stored,
        "ratio": round(raw / stored, 2) if stored else None,
        "reclaimable": reclaimable,
        "last_kept": to_iso(last) if last is not None else None,
        "installed": installed(face),
    }
    if not face.is_text:
        face.value(told)
        return
    for item in guards:
        face.print(
            f"{item.home}: {plural(len(item.expiring), 'session')} will be deleted within {SOON_DAYS} days; "
            f"{number(len(item.expiring_not_kept))} not kept (the client keeps {number(item.cleanup_days)} days)"
        )
        face.print(
            f"  {number(item.kept)} of {plural(item.sessions, 'session')} kept as they are now, "
            f"{number(item.lost)} more only in the vault"
        )
    if contents is None:
        face.print("nothing was kept yet: `recollect keep` keeps everything there is")
        return
    face.print(
        f"{vault.folder}: {plural(len(contents.files), 'file')}, {size(raw)} in {size(stored)} "
        f"({raw / max(stored, 1):.1f} times smaller), last kept {ago(last, now) if last is not None else 'never'}"
    )
    if reclaimable > max(stored // 4, 1_000_000):
        face.print(f"at least {size(reclaimable)} of it can be freed: `recollect keep --compact`")
    names = told["installed"]
    face.print(
        f"kept by itself: {', '.join(names)}" if names else "not kept by itself: `recollect keep --install hook`"
    )
