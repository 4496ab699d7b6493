"""`recollect verify`: is every byte of the vault what it was.

JSON: rows of {code, place, message, harmless, files}, with sound, packs, blocks, files, bytes, compared.
"""

from __future__ import annotations

import click

from ...export.formatting import plural, size
from ..command_run import CommandRun, command, library_of_vault


@command("verify", epilog="recollect verify\nrecollect verify --deep\nrecollect verify --json")
@click.option("--deep", is_flag=True, help="Unpack everything, and compare with the files that are still in the homes.")
def verify(run: CommandRun, deep: bool) -> None:
    """Read the whole vault and check every hash. Any flipped bit is found, and which files it touches is said.

    Ends with 1 where something is damaged.
    """
    report = library_of_vault(run).vault.verify(deep=deep)
    if run.is_text:
        for finding in report.findings:
            mark = "note" if finding.harmless else "damaged"
            run.print(f"{mark}: {finding.place}: {finding.message} [{finding.code}]")
            for path in finding.files[:10]:
                run.print(f"  {path}")
            if len(finding.files) > 10:
                run.print(f"  … and {len(finding.files) - 10} more")
        compared = f", {plural(report.compared, 'file')} compared with the homes" if deep else ""
        run.print(
            f"{'sound' if report.is_sound else 'DAMAGED'}: {plural(report.files, 'file')} in {plural(report.blocks, 'block')} "
            f"and {plural(report.packs, 'pack')}, {size(report.bytes)} read{compared}"
        )
    else:
        run.rows(
            [finding.as_dict() for finding in report.findings],
            sound=report.is_sound, packs=report.packs, blocks=report.blocks, files=report.files, bytes=report.bytes,
            compared=report.compared,
        )  # fmt: skip
    if not report.is_sound:
        raise click.exceptions.Exit(1)
