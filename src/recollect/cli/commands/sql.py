"""`recollect sql`: a question in SQL over all sessions.

JSON: rows of {one field per column of the answer}, with total, fields (of {name, type}) and cut (`rows` or `bytes` where a
limit left rows out, else null). Moments are ISO 8601 in UTC; decimals, NaN and Infinity are texts; intervals are seconds;
bytes are hexadecimal. With --tables: rows of {table, columns, meaning}, with a table's name {table, column, type, meaning}.
With --saved: rows of {name, sql}. With --parquet: {path, rows, fields, cut}.
"""

from __future__ import annotations

from pathlib import Path

import click

from ...errors import QueryError
from .. import streams
from ..command_run import Column, CommandRun, command


@command(
    "sql",
    epilog='recollect sql "SELECT project, count(*) AS sessions FROM sessions GROUP BY project ORDER BY sessions DESC"\n'
    'recollect sql "SELECT model, sum(output_tokens) FROM responses GROUP BY model" --csv\n'
    'recollect sql --save busy "SELECT time::DATE AS day, count(*) FROM prompts GROUP BY day"\n'
    "recollect sql --run busy --json\n"
    "recollect sql --tables messages\n"
    "recollect sql",
)
@click.argument("query", required=False)
@click.option(
    "--csv", "as_csv", is_flag=True, help="CSV; no cell begins with what a spreadsheet would take for a formula."
)
@click.option("--parquet", metavar="FILE", type=click.Path(path_type=Path), help="Write a Parquet file instead.")
@click.option("--save", metavar="NAME", help="Keep the query under a name, once it has been answered.")
@click.option("--run", "saved_name", metavar="NAME", help="The query that was kept under this name.")
@click.option("--saved", is_flag=True, help="List the queries that were kept.")
@click.option("--forget", metavar="NAME", help="Remove a query that was kept.")
@click.option("--tables", is_flag=True, help="List the tables; with a table's name in the place of QUERY, its columns.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A value for $NAME in the query.")
def sql(
    run: CommandRun,
    query: str | None,
    as_csv: bool,
    parquet: Path | None,
    save: str | None,
    saved_name: str | None,
    saved: bool,
    forget: str | None,
    tables: bool,
    settings: tuple[str, ...],
) -> None:
    """Ask in SQL: one SELECT over tables of everything that is in the homes. Without a query: a prompt.

    The query runs in a locked process of its own: it can read the tables and nothing else, and is stopped after 10 seconds,
    100,000 rows or 1 GB of memory. `-` reads the query from stdin.
    """
    from ...library.questions import SavedQueries
    from .. import sql_asking

    if tables:
        sql_asking.show_tables(run, [query] if query else [])
        return
    kept = SavedQueries()
    if saved:
        found = [{"name": item.name, "sql": item.sql} for item in kept.all()]
        run.rows(found, (Column("name"), Column("sql", stretch=True)), empty="no query is saved", total=len(found))
        if not found:
            raise click.exceptions.Exit(1)
        return
    if forget is not None:
        kept.remove(forget)
        run.say(f"{forget} is forgotten")
        return
    if saved_name is not None:
        if query is not None:
            raise click.UsageError("--run has a query of its own: leave QUERY out")
        query = kept.get(saved_name).sql
    elif query == "-" or (query is None and not streams.stdin_is_terminal()):
        query = streams.read_stdin()
    if query is None:
        from ..sql_prompt import Prompt

        Prompt(run, kept).converse()
        return
    if as_csv and not run.is_text:
        raise click.UsageError("--csv and --json are two forms: choose one")
    values = _values(settings)
    if parquet is not None:
        _write_parquet(run, query, values, parquet)
        count = 1
    else:
        answer = sql_asking.ask(run, query, values)
        count = len(answer.rows)
        if as_csv:
            sql_asking.print_csv(answer)
            sql_asking.say_cut(run, answer)
        else:
            sql_asking.show(run, answer)
    if save is not None:
        run.say(f"saved as {save}: {kept.save(save, query)}")
    if not count:
        raise click.exceptions.Exit(1)


def _values(settings: tuple[str, ...]) -> dict[str, str]:
    values = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.isidentifier():
            raise QueryError(
                f"{setting} is not NAME=VALUE", hint="for example: --set project=/home/ada/app", slug="bad-value"
            )
        values[name] = value
    return values


def _write_parquet(run: CommandRun, query: str, values: dict[str, str], target: Path) -> None:
    from ...export.sql_answer import answer_fields
    from .. import sql_asking

    answer = sql_asking.write_parquet(run, query, values, target)
    if run.is_text:
        run.say(f"wrote {target}: {answer.count:,} rows, {len(answer.columns)} columns")
    else:
        run.value(
            {"path": str(target), "rows": answer.count, "fields": answer_fields(answer), "cut": answer.cut or None}
        )
    sql_asking.say_cut(run, answer)
