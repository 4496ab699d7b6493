"""Select and order the rows that are sent to the model, as Claude Code 2.1.326 cleans up a conversation before a request.

Lines of one response are joined, with its calls last; each result must follow the call that it answers, and is sent once. Calls
that were never answered are left out, unless the conversation stopped at them (for those Claude Code makes up a result).
Thinking without text or a call in the same response is left out, and so are API errors that Claude Code wrote itself.
"""

from __future__ import annotations

from typing import Final

from .rows import SPOKEN, Row

_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})


_ONLY_RESULT: Final = ("tool_result",)
_ONLY_TEXT: Final = ("text",)


def rows_sent(chain: list[Row], *, as_197: bool = False) -> list[Row]:
    """Return the user and assistant rows whose content is sent to the model, in the order of the request.

    `as_197` applies the rules of Claude Code 2.1.197, which drops calls at which the conversation stopped (2.1.326 makes up
    results for them) and results that stand above their call.
    """
    rows = [row for row in chain if row.type in SPOKEN and not (row.is_api_error and is_dropped_error(row))]
    if _is_plain_talk(rows):
        return rows
    rows = _without_empty_thoughts(_without_unanswered(rows, [] if as_197 else chain))
    sent: list[Row] = []
    known_calls: set[str] = set()
    open_calls: set[str] = set()
    for message in _messages(rows if as_197 else _calls_before_results(rows)):
        first = message[0]
        if first.block_types == _ONLY_TEXT and len(message) == 1:  # a shortcut for most messages: nothing to reorder
            sent.append(first)
            if open_calls:
                open_calls = set()
            continue
        if first.type == "assistant":
            rows_here, open_calls = _assistant_rows(message, known_calls)
            sent.extend(rows_here)
        else:
            sent.extend(_user_rows(message, open_calls))
            open_calls = set()
    return sent


def _is_plain_talk(rows: list[Row]) -> bool:
    """Return whether the rows are sent as they stand: nothing but text, and no response of more than one line."""
    if any(row.block_types != _ONLY_TEXT for row in rows):
        return False
    responses = [row.message_id for row in rows if row.message_id and row.type == "assistant"]
    return len(set(responses)) == len(responses)


def is_dropped_error(row: Row) -> bool:
    """Return whether the row is an API error that Claude Code wrote itself; the flag on a real model's row is ignored."""
    return row.is_api_error and row.type == "assistant" and (row.model is None or row.model == "<synthetic>")


def _without_unanswered(rows: list[Row], chain: list[Row]) -> list[Row]:
    if not any(row.tool_uses for row in rows):
        return rows
    answered = {ident for row in rows if row.tool_results for ident in row.tool_results}
    trailing = _end_of_conversation(chain)
    return [
        row
        for row in rows
        if not row.tool_uses or row.index in trailing or any(ident in answered for ident, _ in row.tool_uses)
    ]


def _end_of_conversation(chain: list[Row]) -> set[int]:
    """Return the indexes of the last turn's rows where the conversation stopped at a call or a result; else nothing."""
    last = next((row for row in reversed(chain) if row.type in SPOKEN), None)
    if last is None or not (last.tool_uses or last.tool_results):
        return set()
    found: set[int] = set()
    for row in reversed(chain):
        if row.type == "user" and "tool_result" not in row.block_types:
            break
        found.add(row.index)
    return found


def _calls_before_results(rows: list[Row]) -> list[Row]:
    """Swap each result that stands directly above its own call with that call."""
    if not any(row.tool_results for row in rows):
        return rows
    ordered = list(rows)
    made: set[str] = set()
    for place in range(len(ordered) - 1):
        result = ordered[place]
        if result.tool_results:
            below = {ident for ident, _ in ordered[place + 1].tool_uses}
            if below.intersection(result.tool_results) and not made.intersection(result.tool_results):
                ordered[place], ordered[place + 1] = ordered[place + 1], result
        for ident, _ in ordered[place].tool_uses:
            made.add(ident)
    return ordered


def _without_empty_thoughts(rows: list[Row]) -> list[Row]:
    thoughts = {
        row.index
        for row in rows
        if (kinds := row.block_types)
        and kinds[0] in _THOUGHTS
        and row.type == "assistant"
        and _THOUGHTS.issuperset(kinds)
    }
    if not thoughts:
        return rows
    spoken = {row.message_id for row in rows if row.type == "assistant" and row.index not in thoughts}
    return [row for row in rows if row.index not in thoughts or (row.message_id and row.message_id in spoken)]


def _messages(rows: list[Row]) -> list[list[Row]]:
    """Group rows into the messages of the request, with all lines of a response at the place of its first line.

    A line with calls joins its response wherever it stands; a line without calls joins only if nothing but results and lines
    of other responses stands in between.
    """
    messages: list[list[Row]] = []
    with_calls: dict[str, list[Row]] = {}
    joinable: dict[str, list[Row]] = {}  # responses that only results and other responses follow so far
    user: list[Row] | None = None  # the last message, if it is a user message
    for row in rows:
        if row.type == "assistant":
            ident = row.message_id or ""
            joined = (with_calls.get(ident) if row.tool_uses else None) or joinable.get(ident)
            if joined is not None:
                joined.append(row)
            else:
                user, joined = None, [row]
                messages.append(joined)
                if ident:
                    joinable[ident] = joined
            if row.tool_uses and ident:
                with_calls.setdefault(ident, joined)
            continue
        if joinable and not row.tool_results:
            joinable.clear()
        if user is not None:
            user.append(row)
        else:
            user = [row]
            messages.append(user)
    return messages


def _assistant_rows(message: list[Row], known: set[str]) -> tuple[list[Row], set[str]]:
    """Return the rows of a response, and the ids of its calls that wait for a result.

    Rows without calls come first. Rows whose calls were all sent before are left out.
    """
    made: set[str] = set()
    words: list[Row] = []
    calls: list[Row] = []
    for row in message:
        if not row.tool_uses:
            words.append(row)
            continue
        fresh = [ident for ident, _ in row.tool_uses if ident not in known]
        if not fresh and all(kind == "tool_use" for kind in row.block_types):
            continue
        known.update(fresh)
        made.update(fresh)
        calls.append(row)
    return words + calls, made


def _user_rows(message: list[Row], open_calls: set[str]) -> list[Row]:
    """Return the rows of a user message, results first. A result without an open call is not sent."""
    results: list[Row] = []
    words: list[Row] = []
    waiting = set(open_calls)
    for row in message:
        if not row.tool_results:
            if row.block_types != _ONLY_RESULT:
                words.append(row)
            continue
        fits = [ident for ident in row.tool_results if ident in waiting]
        if fits:
            waiting.difference_update(fits)
            results.append(row)
        elif any(kind != "tool_result" for kind in row.block_types) or not row.block_types:
            words.append(row)
    return results + words
