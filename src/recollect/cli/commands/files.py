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

import base64
import sys
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.changing import NO_EFFECT, changing_options
from recollect.cli.command_run import Column, CommandRun, command, session_argument
from recollect.cli.moments import iso, local
from recollect.cli.plain import used_columns
from recollect.cli.restoring import restore_file
from recollect.errors import NotFound
from recollect.library.messages import FORMS, message_uuid
from recollect.store.file_contents import FileState, ReadBackup, first_state, last_state, state_at, unified_diff
from recollect.store.file_versions import SessionFiles, TouchedFile, collect_file_versions
from recollect.store.session_files import backup_reader, file_backups

if TYPE_CHECKING:
    from recollect.library.session import Session

START, END = "start", "end"
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

    Contents come from the client's file checkpoints and from the results of its edits. What the shell or you changed
    shows only from the next checkpoint on.
    """
    if path is None and at is not None and not diff:
        raise click.UsageError("--at needs a PATH, or --diff.")
    if write and (path is None or at is None or diff):
        raise click.UsageError("--write needs a PATH and --at MESSAGE.")
    if output == "":  # a variable of the shell that was never set: not the file's own place
        raise click.UsageError("--output needs the name of a file.")
    question = _Question(run.library.session(session), path)
    if write:
        (file,) = question.load_texts()
        state = question.state(file, at or "", before)
        restore_file(run, question.session, file.path, state, output, dry_run=dry_run, yes=yes)
    elif diff:
        _show_diff(run, question, at, to, before)
    elif path is None:
        _list_files(run, question)
    elif at is None:
        _list_versions(run, question)
    else:
        _show_content(run, question, at, before, raw)


class _Question:
    """The files of a session, and the one that was asked for. Texts of edits are held only for what is shown."""

    def __init__(self, session: Session, path: str | None) -> None:
        self.session = session
        self._on_disk = file_backups(session.home, session.id)
        self._wanted: set[str] | None = None
        self.found = self._collect()
        if path is not None:
            self._wanted = {self._choose(path).path}
        self.read_backup: ReadBackup = backup_reader(session.home, session.id)

    def _collect(self) -> SessionFiles:
        wanted = self._wanted or frozenset[str]()
        return collect_file_versions(
            self.session.entries(),
            subagents=(self.session.entries(subagent.subagent_id) for subagent in self.session.file.subagents),
            backups_on_disk=self._on_disk,
            keep_texts=wanted.__contains__,
        )

    def _choose(self, path: str) -> TouchedFile:
        matching = self.found.matching(path)
        if len(matching) == 1:
            return matching[0]
        names = [file.path for file in matching] or sorted(self.found.files, key=lambda name: path not in name)
        problem = "may be any of several files" if matching else "is not a file that this session touched"
        slug = "ambiguous-file" if matching else "no-such-file"
        raise NotFound(f"{path!r} {problem}", slug=slug, nearest=tuple(names[:10]))

    @property
    def files(self) -> list[TouchedFile]:
        wanted = self._wanted
        return [file for name, file in self.found.files.items() if wanted is None or name in wanted]

    def load_texts(self) -> list[TouchedFile]:
        """The files that are asked for, with the texts of their edits: the second time through the transcript."""
        self._wanted = {file.path for file in self.files}
        self.found = self._collect()
        return self.files

    def row_uuid(self, message: str) -> str:
        """The full uuid of a row."""
        found = message if message in self.found.places else message_uuid(self.session, message)
        if found not in self.found.places:
            raise NotFound(
                f"no row {message!r} in this session",
                slug="no-such-message",
                hint=f"name it by {FORMS}, `start` or `end`",
            )
        return found

    def full_name(self, message: str) -> str:
        return message if message in (START, END) else self.row_uuid(message)

    def state(self, file: TouchedFile, message: str, before: bool) -> FileState:
        if message == START:
            return first_state(file, self.read_backup)
        if message == END:
            return last_state(file, self.read_backup)
        place = self.found.places[self.row_uuid(message)]
        return state_at(file, place, "before" if before else "after", self.read_backup)


def _list_files(run: CommandRun, question: _Question) -> None:
    rows = [
        {
            "path": file.path,
            "versions": len(file.versions),
            "edits": file.edits,
            "lines_added": file.lines_added,
            "lines_removed": file.lines_removed,
            "created": file.created,
            "deleted": file.deleted,
            "first": iso(file.versions[0].time),
            "last": iso(file.versions[-1].time),
        }
        for file in question.files
    ]
    run.rows(
        rows,
        used_columns(rows, FILE_COLUMNS),
        empty="this session touched no files",
        total=len(rows),
        session_id=question.session.id,
    )
    if not rows:
        raise click.exceptions.Exit(1)


def _list_versions(run: CommandRun, question: _Question) -> None:
    (file,) = question.files
    rows = [
        {
            "number": number,
            "kind": version.kind,
            "message_uuid": version.message_uuid,
            "time": iso(version.time),
            "version": version.version,
            "backup": version.backup,
            "on_disk": version.on_disk,
            "absent": version.absent,
            "lines_added": version.lines_added,
            "lines_removed": version.lines_removed,
        }
        for number, version in enumerate(file.versions, start=1)
    ]
    run.rows(
        rows,
        used_columns(rows, VERSION_COLUMNS),
        path=file.path,
        total=len(rows),
        session_id=question.session.id,
    )


def _show_content(run: CommandRun, question: _Question, at: str, before: bool, raw: bool) -> None:
    (file,) = question.load_texts()
    state = question.state(file, at, before)
    if not run.is_text:
        run.value({"path": file.path, "at": question.full_name(at), **_state_row(state)})
    elif state.content is not None and raw:
        sys.stdout.flush()
        sys.stdout.buffer.write(state.content)
        sys.stdout.buffer.flush()
    elif state.content is not None:
        run.print(state.content.decode("utf-8", "replace").removesuffix("\n"))
    if run.is_text and state.note is not None:
        run.say(f"not certain: {state.note}")
    if state.content is None:
        if run.is_text:
            run.say(f"{file.path}: no such file then" if state.exists is False else f"{file.path}: its content is lost")
        raise click.exceptions.Exit(1)


def _state_row(state: FileState) -> dict[str, Any]:
    encoding: str | None = None
    content: str | None = None
    if state.content is not None:
        try:
            encoding, content = "utf-8", state.content.decode("utf-8")
        except UnicodeDecodeError:
            encoding, content = "base64", base64.b64encode(state.content).decode("ascii")
    return {
        "exists": state.exists,
        "certain": state.certain,
        "source": state.source,
        "note": state.note,
        "message_uuid": state.message_uuid,
        "encoding": encoding,
        "content": content,
    }


def _show_diff(run: CommandRun, question: _Question, at: str | None, to: str | None, before: bool) -> None:
    start, end = question.full_name(at or START), question.full_name(to or END)
    rows = []
    for file in question.load_texts():
        old, new = question.state(file, start, before), question.state(file, end, False)
        lines = [] if _lost(old) or _lost(new) else unified_diff(old.content, new.content, file.path, (start, end))
        if _lost(old) or _lost(new):
            run.say(f"{file.path}: {(old if _lost(old) else new).note or 'its content is lost'}")
        rows.append(
            {
                "path": file.path,
                "from": start,
                "to": end,
                "certain": old.certain and new.certain,
                "diff": "".join(f"{line}\n" for line in lines),
            }
        )
    changed = [row for row in rows if row["diff"]]
    if not run.is_text:
        run.rows(rows, total=len(rows), changed=len(changed), session_id=question.session.id)
    else:
        for row in changed:
            _print_diff(run, str(row["diff"]))
    if not changed:
        run.say("nothing changed")
        raise click.exceptions.Exit(1)


def _lost(state: FileState) -> bool:
    return state.content is None and state.exists is not False


def _print_diff(run: CommandRun, diff: str) -> None:
    colors = {"+": "green", "-": "red", "@": "cyan"}
    for line in diff.removesuffix("\n").split("\n"):
        run.print_styled(run.style(line, fg=colors.get(line[:1])))
