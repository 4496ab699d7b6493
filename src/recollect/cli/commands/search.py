"""`recollect search`: find anything that was said or seen.

JSON: rows of {session_id, title, project, home, path, modified, hit_count, hits}, best first, with total (entries that fit),
exact (false where total is a lower bound), more, mode, notes, excluded (the parts of the query that
leave something out, as typed), advice, and facets where asked for. A hit is {line, uuid, role,
subagent_id, time, score, snippet, marks, command}; marks are [start, end] places in the snippet; command shows the conversation
from there on.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from ...export.search_text import found_data, found_text, session_data, summary_line
from ..command_run import CommandRun, command, indexing_bar

_GUARD = "\x00"


class QueryCommand(click.Command):
    """Reads arguments with a single minus as words of the query (`-h` is the help unless a word comes before it)."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with_value = {
            name for item in self.params if isinstance(item, click.Option) and not item.is_flag for name in item.opts
        }
        guarded = []
        has_word = is_value = False
        for word in args:
            is_query = not is_value and not word.startswith("--")
            if is_query and len(word) > 1 and word[0] == "-" and (word != "-h" or has_word):
                word = _GUARD + word
            guarded.append(word)
            has_word = has_word or is_query
            is_value = not is_value and word in with_value
        return super().parse_args(ctx, guarded)


def joined_words(words: Sequence[str]) -> str:
    """Return the query as one text."""
    return " ".join(word.removeprefix(_GUARD) for word in words)


@command(
    "search",
    cls=QueryCommand,
    epilog="""
    recollect search connection refused
    recollect search '"connection refused" -timeout project:myapp after:7d'
    recollect search 'getUserName OR user_name' tool:Edit --sort date
    recollect search deploy* role:user --facets
    recollect search --substring '->items[' --where project:myapp
    recollect search --regex 'E[0-9]{4}' --limit 3 --json
    """,
)
@click.argument("query", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--sort",
    type=click.Choice(["relevance", "date"]),
    default="relevance",
    show_default=True,
    help="Best first (newer counts for more), or newest first.",
)
@click.option(
    "--limit", type=click.IntRange(min=1, max=10_000), default=10, show_default=True, help="Sessions at most."
)
@click.option(
    "--offset", type=click.IntRange(min=0, max=100_000), default=0, metavar="N", help="Leave out the first N."
)
@click.option(
    "--hits",
    type=click.IntRange(min=1, max=1_000),
    default=3,
    show_default=True,
    help="Matches of each session at most.",
)
@click.option("--facets", is_flag=True, help="Count the matches by project, tool, model and month.")
@click.option("--substring", is_flag=True, help="Slow: these very characters, inside of words too.")
@click.option("--regex", is_flag=True, help="Slow: a regular expression.")
@click.option("--everything", is_flag=True, help="Slow: prompt snapshots, request logs and all else in the files too.")
@click.option("--where", default="", metavar="FILTERS", help="Filters, for --substring and --regex or any query.")
def search(
    run: CommandRun,
    query: tuple[str, ...],
    sort: str,
    limit: int,
    offset: int,
    hits: int,
    facets: bool,
    substring: bool,
    regex: bool,
    everything: bool,
    where: str,
) -> None:
    """Find anything that was said or seen, in milliseconds.

    \b
    All words must be there, in any order.  "in quotes"  side by side     begin*  words that begin so
    -word  not this      this OR that      (a OR b) c   grouped
    An option of one or two letters behind a word (git commit -m) is text; NOT m leaves it out.
    Filters: project: session: role: tool: model: file: branch: before: after:
             status:(live|abandoned|subagent|precompact)  has:(code|image|error|thinking)
    """
    if substring and regex:
        raise click.UsageError("--substring and --regex exclude each other")
    slow = substring or regex or everything
    mode = "regex" if regex else "substring" if substring else "words"
    if slow and facets:
        raise click.UsageError("--facets counts what the word index knows; the slow searches go around it")
    if slow:
        from ...library.searching import why_slow

        run.say(why_slow(mode, everything) or "")
    with indexing_bar("Reading") as progress:
        found = run.library.search(
            joined_words(query), mode=mode, everything=everything, where=where, sort=sort, limit=limit,
            offset=offset, hits_per_session=hits, facets=facets, progress=progress,
        )  # fmt: skip
    for note in found.notes[1:] if slow else found.notes:  # why it takes a while was printed before
        run.say(note)
    if run.format == "json":
        run.value(found_data(found, run.homes))
    elif run.format == "jsonl":
        for item in found.sessions:
            run.value(session_data(item, run.homes))
    else:
        for line in found_text(found, run.colored, run.homes):
            run.print_styled(line)
    if run.is_text and found.sessions:
        run.say(summary_line(found, offset))
    if not found.sessions:
        for line in ("nothing found", *found.advice) if not (offset and found.total) else ("no more",):
            run.say(line)
        raise click.exceptions.Exit(1)
