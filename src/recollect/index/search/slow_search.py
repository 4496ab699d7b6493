"""Run a slow search: group the hits of a scan by session, until there are enough sessions."""

from __future__ import annotations

from collections.abc import Generator

from ...errors import QueryError
from ..catalogue.reading_back import EntryReader
from ..catalogue.vault_transcripts import KeptTranscripts
from .query_language import exclusions, mistake, parse
from .query_tree import All, Text, texts
from .results import Hit, SearchResults
from .scan_search import MODES, ScanHit, Substring, Words, all_strings, scan
from .session_rows import SessionRows
from .snippets import Tokenize

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

SAYS = {
    "substring": "--substring reads every text: this takes a while",
    "regex": "--regex reads every text: this takes a while",
    "everything": "--everything reads all files from end to end: this takes a while",
}


def find_slowly(
    db: apsw.Connection,
    home_ids: list[int],
    query: str,
    *,
    mode: str,
    everything: bool = False,
    where: str = "",
    limit: int = 10,
    offset: int = 0,
    hits_per_session: int = 3,
    tokenize: Tokenize,
    kept: KeptTranscripts | None = None,
    silence: float | None = None,
) -> SearchResults:
    """Search by reading every text. Raises QueryError.

    `mode` is substring, regex, or everything (the words of a query in all that the files hold).
    """
    if mode not in MODES:
        raise QueryError(f"there is no mode {mode!r}", hint=f"one of {', '.join(MODES)}", slug="bad-query")
    rows = SessionRows(db, home_ids)
    groups: dict[tuple[int, str], list[ScanHit]] = {}
    total = 0
    enough = False
    with EntryReader(rows.place_of, kept.reader(db) if kept is not None else None) as reader:
        hits = _hits(db, home_ids, query, mode, everything, where, tokenize, reader, silence, kept)
        for hit in hits:
            file = rows.our_files([hit.file_id])[hit.file_id]
            key = (file.home_id, file.session_id)
            if key not in groups and len(groups) > offset + limit:
                enough = True
                break
            groups.setdefault(key, []).append(hit)
            total += 1
        hits.close()
    shown = list(groups.items())[offset : offset + limit]
    texts_with_filters = (where, query) if mode == "everything" else (where,)
    told = [exclusions(parse(text), text) for text in texts_with_filters]
    return SearchResults(
        rows.described(
            [(key, [_hit(item, rows) for item in group[:hits_per_session]], len(group)) for key, group in shown]
        ),
        total,
        exact=not enough,
        more=len(groups) > offset + limit,
        mode=mode,
        notes=(SAYS["everything" if everything else mode], *(note for _, notes in told for note in notes)),
        excluded=tuple(part for parts, _ in told for part in parts),
        advice=() if total else _advice(mode, everything, where),
    )


def _hits(
    db: apsw.Connection,
    home_ids: list[int],
    query: str,
    mode: str,
    everything: bool,
    where: str,
    tokenize: Tokenize,
    reader: EntryReader,
    silence: float | None,
    kept: KeptTranscripts | None,
) -> Generator[ScanHit, None, None]:
    narrowed = parse(where)
    _only_filters(where, narrowed)
    if mode == "regex":
        from .scan_child import SILENCE, scan_by_regex

        yield from scan_by_regex(
            db.filename, home_ids, where, query, everything=everything, silence=silence or SILENCE,
            vault=kept.folder if kept is not None else None,
        )  # fmt: skip
        return
    from ..words.entry_words import searched_text

    if mode == "substring":
        text_of = all_strings if everything else searched_text
        yield from scan(db, home_ids, narrowed, Substring(query), reader, text_of)
        return
    tree = parse(query)
    if not tree.parts:
        raise QueryError(
            "the query is empty", hint="for example: recollect search --everything CLAUDE.md", slug="bad-query"
        )
    combined = All((*tree.parts, *narrowed.parts))
    yield from scan(db, home_ids, combined, Words(combined, tokenize), reader, all_strings)


def _only_filters(where: str, tree: All) -> None:
    for part in texts(tree):
        if isinstance(part, Text):
            example = "for example: --where 'project:app after:7d'"
            raise mistake(where, part.start, "only filters can stand here", example, part.end)


def _hit(item: ScanHit, rows: SessionRows) -> Hit:
    when = None if item.time is None else item.time / 1_000_000
    return Hit(
        item.entry_id, item.file_id, item.line, item.offset, item.length, item.uuid, item.role, item.subagent_id, when, 0.0,
        item.snippet, in_subagent_file=rows.our_files([item.file_id])[item.file_id].is_subagent,
    )  # fmt: skip


def _advice(mode: str, everything: bool, where: str) -> tuple[str, ...]:
    lines = []
    if where:
        lines.append(f"only what fits {where} was looked at")
    if mode != "everything" and not everything:
        lines.append("--everything looks at prompt snapshots and request logs too")
    return tuple(lines)
