"""Run the prompt of `recollect sql`: statements end with `;`, Tab completes tables and columns, the history is saved.

Line editing is the standard library's `readline`, if the system has it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ..environment import own_folder
from ..errors import RecollectError
from ..library.own_list import replace_own_file
from ..library.questions import SavedQueries, column_names
from . import sql_asking, streams
from .command_run import Column, CommandRun, report

HISTORY: Final = "sql-history"
MOST_REMEMBERED: Final = 1000
HELP: Final = """\
A question is one SELECT and ends with ;    Ctrl-C stops it, Ctrl-D leaves.
.tables [NAME]   the tables, or the columns of one
.saved           queries that were kept
.save NAME       keep the last query
.run NAME        ask a kept one
.help  .quit"""
KEYWORDS: Final = (
    "SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "BY", "ALL", "ORDER", "LIMIT", "OFFSET", "HAVING", "QUALIFY", "JOIN", "LEFT",
    "USING", "ON", "AS", "WITH", "UNION", "AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "ILIKE", "BETWEEN", "CASE", "WHEN",
    "THEN", "ELSE", "END", "ASC", "DESC", "DESCRIBE", "SUMMARIZE", "count", "sum", "avg", "min", "max", "median", "date_trunc",
    "strftime",
)  # fmt: skip
_LEAVE: Final = (".quit", ".exit", ".q")


class Prompt:
    """One session of the prompt. `read` reads a line: `input`, which uses readline."""

    def __init__(self, run: CommandRun, kept: SavedQueries, read: Callable[[str], str] = input) -> None:
        self.run = run
        self.kept = kept
        self.read = read
        self.last: str | None = None
        self.history = own_folder("data") / HISTORY

    def converse(self) -> None:
        editor = self._start_editing()
        self.run.say("SQL over your sessions. A question ends with ;   .help helps, Ctrl-D leaves.")
        try:
            while (statement := self._statement(editor)) not in (None, *_LEAVE):
                self._carry_out(statement or "")
        finally:
            if editor is not None:
                self._keep_history(editor)

    def _statement(self, editor: Any) -> str | None:
        """Read lines up to a `;`, or a command of the prompt; None at the end."""
        lines: list[str] = []
        while True:
            try:
                line = self.read("  ...> " if lines else "sql> ")
            except EOFError:
                self.run.say("")
                return None
            except KeyboardInterrupt:
                self.run.say("^C")
                lines = []
                continue
            if not lines and not line.strip():
                continue
            lines.append(line)
            text = "\n".join(lines).strip()
            if text.startswith(".") or text.endswith(";"):
                if editor is not None:
                    editor.add_history(" ".join(text.split("\n")) if "--" not in text else lines[-1])
                return text

    def _carry_out(self, statement: str) -> None:
        try:
            if statement.startswith("."):
                self._command(statement)
            else:
                self._ask(statement.rstrip(";").strip())
        except RecollectError as problem:
            report(problem, self.run)
        except KeyboardInterrupt:
            self.run.say("stopped")

    def _ask(self, query: str) -> None:
        self.last = query
        answer = sql_asking.ask(self.run, query)
        sql_asking.show(self.run, answer)
        if answer.rows:
            self.run.say(f"{len(answer.rows):,} rows, {answer.seconds:.2f} s")

    def _command(self, text: str) -> None:
        name, _, argument = text.rstrip(";").partition(" ")
        argument = argument.strip()
        if name == ".tables":
            sql_asking.show_tables(self.run, argument.split())
        elif name == ".saved":
            rows = [{"name": item.name, "sql": item.sql} for item in self.kept.all()]
            self.run.rows(rows, (Column("name"), Column("sql", stretch=True)), empty="no query is saved")
        elif name == ".save" and argument:
            if self.last is None:
                self.run.say("ask something first")
            else:
                self.run.say(f"saved: {self.kept.save(argument, self.last)}")
        elif name == ".run" and argument:
            self._ask(self.kept.get(argument).sql)
        else:
            self.run.say(HELP)

    def _start_editing(self) -> Any:
        """Set up readline with our completion and history; None if there is no readline or no terminal."""
        if not streams.stdin_is_terminal():
            return None
        try:
            import readline
        except ImportError:  # not on Windows: its console has a history of its own
            return None
        readline.set_auto_history(False)
        readline.clear_history()
        for line in _lines(self.history)[-MOST_REMEMBERED:]:
            readline.add_history(line)
        readline.set_completer_delims(" \t\n,()=<>+-*/;'\"")
        readline.set_completer(Completer())
        is_libedit = "libedit" in (readline.__doc__ or "")
        readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")
        return readline

    def _keep_history(self, editor: Any) -> None:
        count = editor.get_current_history_length()
        first = max(count - MOST_REMEMBERED, 0)
        lines = [editor.get_history_item(number + 1) or "" for number in range(first, count)]
        try:
            replace_own_file(self.history, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        except OSError as problem:
            self.run.say(f"the history was not kept: {problem.strerror or problem}")


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []


class Completer:
    """Completes for readline, which calls it with the beginning of a word and 0, 1, 2, ... until it returns None."""

    def __init__(self) -> None:
        self._found: list[str] = []

    def __call__(self, word: str, state: int) -> str | None:
        if state == 0:
            self._found = completions(word)
        return self._found[state] if state < len(self._found) else None


def completions(word: str) -> list[str]:
    """Return the tables, columns and keywords that begin with a word; after `table.` the columns of that table."""
    known = column_names()
    table, dot, start = word.rpartition(".")
    if dot and table:
        columns = known.get(table.lower(), sorted({column for each in known.values() for column in each}))
        return [f"{table}.{column}" for column in columns if column.startswith(start.lower())]
    if word.startswith("."):
        return [name for name in (".tables", ".saved", ".save", ".run", ".help", ".quit") if name.startswith(word)]
    columns = sorted({column for each in known.values() for column in each} - set(known))
    low = word.lower()
    matched = [name for name in (*known, *columns) if name.startswith(low)]
    return matched + [key for key in KEYWORDS if key.lower().startswith(low) and key.lower() not in matched]
