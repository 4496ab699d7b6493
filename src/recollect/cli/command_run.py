"""Make commands, and provide each run with what all commands share: common options, the library, and output.

A command is made with `@command("name", ...)`; its first argument is the `CommandRun` of this run:

    @command("plans", epilog="Examples: ...")
    def plans(run: CommandRun) -> None:
        rows = [...]
        run.rows(rows, columns=(...), total=len(rows))     # table, {"rows": [...], ...} or JSON lines

`--json` prints one object, lists under `rows` with totals beside them; `--jsonl` prints one row a line.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from ..errors import RecollectError
from ..export.table import Column as Column
from ..export.table import table_lines
from ..export.terminal_text import safe, safe_line
from .streams import OutputFailed, discard_output

if TYPE_CHECKING:
    from ..library.changes import Changes
    from ..library.library import Library


Row = Mapping[str, Any]
_AT_ONCE = 1 << 16
"""How many characters of a long answer are written together."""
T = TypeVar("T")


@dataclass
class CommandRun:
    """One run of a command: its common options, its library, and how it answers."""

    homes: list[str] = field(default_factory=list)
    format: str = "text"
    color: bool | None = None
    lock_seconds: float = 10.0
    may_change: bool = False
    """Whether this run changes something: then it goes on even if its output cannot be written."""
    unwritten: OutputFailed | None = None
    """Why the output about a change could not be written; the change itself was made."""
    _library: Library | None = None

    @property
    def library(self) -> Library:
        if self._library is None:
            from ..library.library import open_library

            self._library = open_library(self.homes)
            self._library.tell = self.say
        return self._library

    @property
    def changes(self) -> Changes:
        """Return the changes of the library, and note that this run is about to change something."""
        self.may_change = True
        found = self.library.changes
        found.journal.lock_seconds = self.lock_seconds
        return found

    def forget_library(self) -> None:
        """Open the library again at the next use, because `homes` was changed."""
        self._library = None

    @property
    def is_text(self) -> bool:
        return self.format == "text"

    def say(self, text: str) -> None:
        """Print a remark to stderr, where it does not mix with data."""
        self._echo(safe(text), err=True)

    def advise_on_project(self, project: str | None) -> None:
        """Print a remark if no session is of the requested project, with the names of similar projects."""
        advice = None if project is None else self.library.project_advice(project)
        if advice is not None:
            self.say(advice)

    def print(self, text: str = "") -> None:
        """Print a line of text as data."""
        self._echo(safe(text))

    def _echo(self, text: str, *, err: bool = False, color: bool | None = None, nl: bool = True) -> None:
        with self._unread(err):
            click.echo(text, err=err, color=color, nl=nl)

    @contextlib.contextmanager
    def _unread(self, err: bool = False) -> Iterator[None]:
        """Let a failure to write output (`| head -1`, a full disk) end a command that only reads, not one that changes."""
        try:
            yield
        except (BrokenPipeError, OutputFailed) as problem:
            if not self.may_change:
                raise
            if isinstance(problem, OutputFailed):
                self.unwritten = problem
            discard_output(err)

    def style(self, text: str, **styles: Any) -> str:
        """Make a text safe for the terminal and colour it; without colours it stays plain."""
        cleaned = safe(text)
        return click.style(cleaned, **styles) if self.colored else cleaned

    def print_styled(self, text: str) -> None:
        """Print a text whose parts already went through `style` or `safe`."""
        self._echo(text, color=self.colored)

    @property
    def colored(self) -> bool:
        if self.color is not None:
            return self.color
        return colors_wanted()

    def value(self, value: Mapping[str, Any]) -> None:
        """Print one object, for `--json` and `--jsonl` alike."""
        self._echo(_dumps(value, indent=2 if self.format == "json" else None))

    def rows(
        self, rows: Iterable[Row], columns: Sequence[Column] = (), *, empty: str = "nothing found", **totals: Any
    ) -> None:
        """Print a list: as a table, as one object with `rows` and totals, or as one row on each line."""
        if self.format == "jsonl":
            for row in rows:
                self._echo(_dumps(_data(row)))
            return
        if self.format == "json":
            self._stream_object(rows, totals)
        elif not self.table(rows, columns):
            self.say(empty)

    def _stream_object(self, rows: Iterable[Row], totals: Mapping[str, Any]) -> None:
        """Print one object with all rows as they come, so that only a few rows are in memory."""
        waiting, size, first = ['{\n  "rows": ['], 0, True
        for row in rows:
            text = _dumps(_data(row), indent=2).replace("\n", "\n    ")  # strings in JSON have no line feed
            waiting.append(f"{'' if first else ','}\n    {text}")
            first, size = False, size + len(text)
            if size > _AT_ONCE:
                self._echo("".join(waiting), nl=False)
                waiting, size = [], 0
        end = "".join(
            f",\n  {_dumps(key)}: " + _dumps(value, indent=2).replace("\n", "\n  ") for key, value in totals.items()
        )
        waiting.append(("]" if first else "\n  ]") + end + "\n}")
        self._echo("".join(waiting))

    def table(self, rows: Iterable[Row], columns: Sequence[Column]) -> int:
        """Print a table, every cell made safe first. Returns the number of rows; without rows nothing is printed."""
        import shutil

        on_terminal = sys.stdout.isatty()
        room = shutil.get_terminal_size().columns if on_terminal else 200
        found = table_lines(rows, columns, room, fill=on_terminal)
        if found is None:
            return 0
        header = click.style(found.header, bold=True) if self.colored else found.header
        self._write_lines(itertools.chain([header], found.lines))
        return found.count

    def _write_lines(self, lines: Iterable[str]) -> None:
        with self._unread():
            try:
                sys.stdout.writelines(f"{line}\n" for line in lines)
                sys.stdout.flush()
            except BrokenPipeError:
                raise ReaderGone from None  # click would end the program


class ReaderGone(BrokenPipeError):
    """Nobody reads the output any more. Has no errno: because of one, click would end the program with 1."""


def _data(row: Row) -> Row:
    """Return a row without the part that only the table shows."""
    return {key: value for key, value in row.items() if key != "shown"} if "shown" in row else row


_LONG_JSON: Final = 10_000


def _dumps(value: Any, indent: int | None = None) -> str:
    """Write JSON in ASCII: lone surrogates survive, and no byte of it can control a terminal."""
    text = json.dumps(value, default=_plain)
    if indent is None:
        return text
    if len(text) < _LONG_JSON:
        return json.dumps(value, indent=indent, default=_plain)
    from msgspec.json import format as indented  # faster, in C; not worth its import for less

    return indented(text, indent=indent)


def _plain(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


def _shared_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --home, --json, --jsonl and --no-color, which are accepted before and after the name of the command."""

    def remember(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
        def callback(context: click.Context, _: click.Parameter, value: Any) -> None:
            if value is None or value is False or value == ():
                return
            run = context.ensure_object(CommandRun)
            if name == "home":
                run.homes.extend(value)
            elif name == "color":
                run.color = False
            else:
                run.format = name

        return callback

    for option in (
        click.option("--no-color", is_flag=True, expose_value=False, callback=remember("color"), help="No colours (NO_COLOR=1)."),
        click.option("--jsonl", is_flag=True, expose_value=False, callback=remember("jsonl"), help="One JSON row a line."),
        click.option("--json", is_flag=True, expose_value=False, callback=remember("json"), help="One JSON object."),
        click.option(
            "--home", multiple=True, metavar="DIR", expose_value=False, callback=remember("home"),
            help="A Claude home (the folder with projects/). May be given several times.",
        ),
    ):  # fmt: skip
        function = option(function)
    return function


def command(
    name: str, *, epilog: str = "", hidden: bool = False, cls: type[click.Command] = click.Command
) -> Callable[[Callable[..., Any]], click.Command]:
    """Turn a function into a command whose first argument is its `CommandRun`. `epilog` holds examples, one on each line."""

    def wrap(function: Callable[..., Any]) -> click.Command:
        def invoke(*args: Any, **kwargs: Any) -> Any:
            context = click.get_current_context()
            try:
                return function(context.ensure_object(CommandRun), *args, **kwargs)
            except BrokenPipeError as problem:
                raise ReaderGone from problem

        update_wrapper(invoke, function)
        lines = [line.strip() for line in epilog.strip().splitlines()]
        examples = "\b\nExamples:\n" + "\n".join("  " + line for line in lines) if lines else None
        return click.command(name, cls=cls, epilog=examples, hidden=hidden)(_shared_options(invoke))

    return wrap


shared_options = _shared_options


def report(error: RecollectError, run: CommandRun) -> None:
    """Print an error to stderr: a sentence, the nearest names, a hint. As JSON if JSON was requested."""
    nearest = list(getattr(error, "nearest", ()))
    if not run.is_text:
        data: dict[str, Any] = {"slug": error.slug, "message": error.message, "hint": error.hint, "nearest": nearest}
        if getattr(error, "place", None) is not None:
            data["place"] = error.place  # type: ignore[attr-defined]
        click.echo(_dumps({"error": data}), err=True)
        return
    click.echo(f"recollect: {safe(error.message)} [{error.slug}]", err=True)
    for name in nearest:
        click.echo(f"  {safe_line(name)}", err=True)
    if error.hint:
        click.echo(f"hint: {safe(error.hint)}", err=True)


def complete_session(context: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete a session id in the shell; nothing if the homes cannot be read."""
    from ..library.library import open_library

    try:
        library = open_library(context.ensure_object(CommandRun).homes)
    except RecollectError:
        return []
    return [file.session_id for file in library.files() if file.session_id.startswith(incomplete)][:200]


def session_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument SESSION: an id, the start of one, a title, `last` or `current`."""
    return click.argument("session", shell_complete=complete_session)(function)


def colors_wanted() -> bool:
    """Return whether stdout is a terminal with colours, and NO_COLOR is not set (no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def used_columns(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> list[Column]:
    """Return the columns that are not empty in some row."""
    return [column for column in columns if any(row.get(column.key) not in (None, "", [], False) for row in rows)]


def library_of_vault(run: CommandRun) -> Library:
    """Open the library of homes that need not exist any more."""
    from ..library.library import open_library

    library = open_library(run.homes, lost=True)
    library.tell = run.say
    library.changes.journal.lock_seconds = run.lock_seconds
    return library


PATIENCE = 0.5
"""Seconds before a bar appears: a shorter wait does not need one."""


@contextlib.contextmanager
def indexing_bar(words: str) -> Iterator[Callable[[int, int], None] | None]:
    """Yield the function for `Library.index(progress=...)`; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(words), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    begun = time.monotonic()
    task = None

    def progress(done: int, total: int) -> None:
        nonlocal task
        if task is None:
            if time.monotonic() - begun < PATIENCE:
                return
            bar.start()
            task = bar.add_task(words, total=total)
        bar.update(task, completed=done, total=total)

    try:
        yield progress
    finally:
        bar.stop()
