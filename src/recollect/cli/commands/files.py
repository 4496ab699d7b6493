"""`recollect files`: the files a session touched, their versions, and their content as it was.

JSON, by what is asked:
  files SESSION                rows of {path, versions, edits, lines_added, lines_removed, created, deleted, first, last}
  files SESSION PATH           rows of {number, kind, message_uuid, time, version, backup, on_disk, absent, lines_added,
                               lines_removed}, with path; kind is checkpoint, first-touch or edit
  files SESSION PATH --at M    {path, at, exists, certain, source, note, message_uuid, encoding, content}; encoding is
                               utf-8 or base64; exists and content are null where they are not known
  files SESSION PATH --at M --write  {path, target, exists, certain, diff, change, dry_run, steps}
  files SESSION [PATH] --diff  rows of {path, from, to, certain, diff}: `diff` is a text, empty for files that are alike
"""

from __future__ import annotations

import sys

import click

from recollect.cli.changing import NO_EFFECT, carry_out, changing_options, confirm
from recollect.export.moments import local
from recollect.library.shapes import plain
from recollect.library.touched_files import END, START, FileContent, TouchedFiles

from ...library.session import Session
from ..command_run import Column, CommandRun, command, session_argument, used_columns

FILE_COLUMNS = (
    Column("path", "file", stretch=True),
    Column("edits", right=True),
    Column("lines_added", "+", right=True),
    Column("lines_removed", "-", right=True),
    Column("versions", right=True),
    Column("created", "new", show=lambda created: "yes" if created else ""),
    Column("deleted", "gone", show=lambda deleted: "yes" if deleted else ""),
    Column("last", "last change", show=local),
)
VERSION_COLUMNS = (
    Column("number", "#", right=True),
    Column("time", show=local),
    Column("kind"),
    Column("message_uuid", "message"),
    Column("version", "backup", right=True),
    Column("on_disk", "kept", show=lambda kept: "yes" if kept else ""),
    Column("absent", "no such file", show=lambda absent: "yes" if absent else ""),
    Column("lines_added", "+", right=True),
    Column("lines_removed", "-", right=True),
)


@command(
    "files",
    epilog="""
    recollect files last
    recollect files last src/main.py
    recollect files last src/main.py --at 3f2a91
    recollect files last src/main.py --at 3f2a91 --raw > main.py
    recollect files last src/main.py --at 3f2a91 --write
    recollect files last --diff
    """,
)
@session_argument
@click.argument("path", required=False)
@click.option(
    "--at",
    metavar="MESSAGE",
    help="The file as this message left it: #12, line:292, a uuid or its start, `start` or `end`.",
)
@click.option("--before", is_flag=True, help="With --at: the file as the row found it.")
@click.option("--diff", is_flag=True, help="What changed from --at (default: the start) to --to.")
@click.option("--to", metavar="MESSAGE", help="With --diff: the later row (default: the end).")
@click.option("--raw", is_flag=True, help="With --at: the bytes as they are, not made safe for a terminal.")
@click.option(
    "--write", is_flag=True, help="With --at: put the file back on disk as it was, after a diff and a question."
)
@click.option("--output", metavar="FILE", help="With --write: another place than the file's own.")
@changing_options(NO_EFFECT)
def files(
    run: CommandRun,
    session: str,
    path: str | None,
    at: str | None,
    before: bool,
    diff: bool,
    to: str | None,
    raw: bool,
    write: bool,
    output: str | None,
    dry_run: bool,
    yes: bool,
    force: bool,
) -> None:
    """Files that SESSION touched; with PATH its versions, with --at its content, with --diff what changed.

    Contents come from Claude Code's file checkpoints and from the results of its edits. What the shell or you changed
    shows only from the next checkpoint on.
    """
    if path is None and at is not None and not diff:
        raise click.UsageError("--at needs a PATH, or --diff.")
    if write and (path is None or at is None or diff):
        raise click.UsageError("--write needs a PATH and --at MESSAGE.")
    if output == "":  # an unset shell variable, not the file's own path
        raise click.UsageError("--output needs the name of a file.")
    found = run.library.session(session)
    with found:
        touched = found.files()
        if write:
            _restore(run, found, touched.content(path or "", at or "", before=before), output, dry_run=dry_run, yes=yes)
        elif diff:
            _show_diff(run, found, touched, path, at or START, to or END, before)
        elif path is None:
            _list_files(run, found, touched)
        elif at is None:
            _list_versions(run, found, touched, path)
        else:
            _show_content(run, touched.content(path, at, before=before), raw)


def _restore(
    run: CommandRun, session: Session, found: FileContent, output: str | None, *, dry_run: bool, yes: bool
) -> None:
    """Restore the file at its own path (or `output`), after showing its diff and asking."""
    with run.changes.restore_file(session, found.path, found.state, output=output) as plan:
        if run.is_text:
            for line in plan.result["diff"].splitlines():
                run.print(line)
        if not dry_run:
            target = plan.result["target"]
            confirm(f"{target} would be changed", yes=yes, question=f"Put {target} back as it was?")
        carry_out(run, plan, dry_run=dry_run, yes=True)


def _list_files(run: CommandRun, session: Session, touched: TouchedFiles) -> None:
    rows = [plain(file) for file in touched.rows]
    run.rows(
        rows,
        used_columns(rows, FILE_COLUMNS),
        empty="this session touched no files",
        total=len(rows),
        session_id=session.id,
    )
    if not rows:
        raise click.exceptions.Exit(1)


def _list_versions(run: CommandRun, session: Session, touched: TouchedFiles, path: str) -> None:
    rows = [plain(version) for version in touched.versions(path)]
    run.rows(rows, used_columns(rows, VERSION_COLUMNS), path=touched.find(path), total=len(rows), session_id=session.id)


def _show_content(run: CommandRun, found: FileContent, raw: bool) -> None:
    if not run.is_text:
        run.value(found.as_dict())
    elif found.content is not None and raw:
        sys.stdout.flush()
        sys.stdout.buffer.write(found.content)
        sys.stdout.buffer.flush()
    elif found.content is not None:
        run.print(found.content.decode("utf-8", "replace").removesuffix("\n"))
    if run.is_text and found.note is not None:
        run.say(f"not certain: {found.note}")
    if found.content is None:
        if run.is_text:
            run.say(f"{found.path}: {'its content is lost' if found.is_lost else 'no such file then'}")
        raise click.exceptions.Exit(1)


def _show_diff(
    run: CommandRun, session: Session, touched: TouchedFiles, path: str | None, start: str, end: str, before: bool
) -> None:
    rows = []
    for item in touched.differences(path, start, end, before=before):
        if item.lost is not None:
            run.say(f"{item.path}: {item.lost}")
        text = "".join(f"{line}\n" for line in item.diff)
        rows.append({"path": item.path, "from": item.start, "to": item.end, "certain": item.certain, "diff": text})
    changed = [row for row in rows if row["diff"]]
    if not run.is_text:
        run.rows(rows, total=len(rows), changed=len(changed), session_id=session.id)
    else:
        for row in changed:
            _print_diff(run, str(row["diff"]))
    if not changed:
        run.say("nothing changed")
        raise click.exceptions.Exit(1)


def _print_diff(run: CommandRun, diff: str) -> None:
    colors = {"+": "green", "-": "red", "@": "cyan"}
    for line in diff.removesuffix("\n").split("\n"):
        run.print_styled(run.style(line, fg=colors.get(line[:1])))
