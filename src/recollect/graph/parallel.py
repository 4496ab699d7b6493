"""Put parallel calls and their results back into the chain, in file order, as Claude Code 2.1.326 does.

Parallel calls fan out: each result hangs on the line of its own call, so a walk along the parents (which gives the chain)
passes only one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from .client_state import ClientState
from .leaf import belongs_to_response, is_trailer
from .rows import Row


class _Span(NamedTuple):
    """A part of the chain (start and end exclusive) into which the `recovered` rows are merged by their place in the file.

    `anchored` holds rows that go directly behind a row of the chain, by the uuid of that row.
    """

    start: int
    end: int
    recovered: list[Row]
    anchored: dict[str, list[Row]]


def put_back(state: ClientState, chain: list[Row], seen: set[str]) -> list[Row]:
    """Return the chain with the parallel rows in it. `seen` holds the uuids of the chain; those of added rows are added."""
    if len(seen) >= len(state.rows):
        return chain
    responses = {row.message_id for row in chain if row.type == "assistant"}
    responses.discard(None)
    if not responses:
        return chain
    unseen = [row for uuid, row in state.rows.items() if uuid not in seen]
    loose = [row for row in unseen if _may_belong(row, responses)]
    return _Recovery(state, chain, seen, unseen, loose).run() if loose else chain


def _may_belong(row: Row, responses: set[str | None]) -> bool:
    """Return whether a row off the chain could belong to a response in it. Most conversations have few such rows or none."""
    if row.type == "assistant":
        return row.message_id in responses
    return row.type != "user" or row.is_meta or "tool_result" in row.block_types


class _Recovery:
    def __init__(
        self, state: ClientState, chain: list[Row], seen: set[str], unseen: list[Row], loose: list[Row]
    ) -> None:
        self.state = state
        self.chain = chain
        self.seen = seen
        self.groups: dict[str, list[Row]] = {}
        self.results: dict[str, list[Row]] = {}
        self.children: dict[str, list[Row]] = {}
        self.in_chain: dict[str | None, int] = {}
        """The place in the chain of each line of the responses in `groups`, by uuid."""
        self.order = dict(zip(state.rows, range(len(state.rows)), strict=True))
        self.moved: dict[str, float] = {}
        self._responses: dict[str, frozenset[str | None]] = {}
        self._index(unseen, loose)

    def _index(self, unseen: list[Row], loose: list[Row]) -> None:
        """Collect the responses to which a loose row may belong, with their results; all others stay as they are."""
        rows, parents = self.state.rows, self.state.parents
        for row in unseen:
            parent = parents[row.uuid or ""]
            if parent:
                self.children.setdefault(parent, []).append(row)
        touched: set[str | None] = set()
        for row in loose:
            touched |= self._responses_of(row)
        touched.discard(None)
        for row in self.answers_of_model:
            if row.message_id in touched:
                self.groups.setdefault(row.message_id or "", []).append(row)
        groups, changed = self.groups, parents.changed
        self.in_chain = {
            row.uuid: place
            for place, row in enumerate(self.chain)
            if row.message_id in groups and row.type == "assistant"
        }
        members = {row.uuid or "" for group in groups.values() for row in group}
        calls = {ident for group in groups.values() for row in group for ident, _ in row.tool_uses}
        for answer in [
            row
            for row in rows.values()
            if row.type == "user"
            and "tool_result" in row.block_types
            and (
                row.parent in members
                or row.source_assistant in members
                or not calls.isdisjoint(row.tool_results)
                or (row.uuid or "") in changed
            )
        ]:
            for target in self._targets(answer):
                if target in members:
                    self.results.setdefault(target, []).append(answer)

    @cached_property
    def answers_of_model(self) -> list[Row]:
        return [row for row in self.state.rows.values() if row.type == "assistant"]

    @cached_property
    def callers(self) -> dict[str, Row | None]:
        """The row that made each call, by call id; None where two responses use the same id."""
        callers = [row for row in self.answers_of_model if row.tool_uses and row.message_id]
        calls = [(ident, row) for row in callers for ident, _ in row.tool_uses]
        found: dict[str, Row | None] = dict(calls)
        if len(found) < len(calls):
            found.clear()
            for ident, row in calls:
                known = found.get(ident, row)
                found[ident] = row if known is not None and known.message_id == row.message_id else None
        return found

    def _responses_of(self, row: Row) -> frozenset[str | None]:
        """Return the ids of the responses to which a loose row may belong: the closest one above it.

        Only results and accompanying rows may stand between the row and the response.
        """
        path: list[str] = []
        found: frozenset[str | None] = frozenset()
        step: Row | None = row
        while step is not None:
            uuid = step.uuid or ""
            if uuid in self._responses:
                found = self._responses[uuid]
                break
            if step.type == "assistant":
                found = frozenset((step.message_id,))
                break
            if step is not row and not ("tool_result" in step.block_types or is_trailer(step)):
                break
            self._responses[uuid] = frozenset()  # stops the walk if the parents form a circle
            path.append(uuid)
            if "tool_result" in step.block_types:
                callers = [self.state.rows.get(target) for target in self._targets(step)]
                found = frozenset(caller.message_id for caller in callers if caller is not None)
                break
            step = self.state.rows.get(self.state.parents[uuid] or "")
        for uuid in path:
            self._responses[uuid] = found
        return found

    @cached_property
    def chain_answers(self) -> set[str]:
        """Ids of the calls that are answered in the chain."""
        return {ident for row in self.chain if row.tool_results for ident in row.tool_results}

    def _targets(self, answer: Row) -> list[str]:
        """Return the uuids of the rows whose calls a result may answer.

        These are its parent, the row that it names (`sourceToolAssistantUUID`) and the row that made the call with its id.
        """
        parent = self.state.parents[answer.uuid or ""]
        targets: dict[str, None] = {parent: None} if parent else {}
        if not _answers_calls_of(self.state.rows.get(parent or ""), answer):
            named = answer.source_assistant
            if named and named != parent and named in self.state.rows and _same_side(answer, self.state.rows[named]):
                targets[named] = None
            for ident in answer.tool_results:
                caller = self.callers.get(ident)
                if caller is not None and caller.uuid != parent and _same_side(answer, caller):
                    targets[caller.uuid or ""] = None
        return list(targets)

    def place(self, row: Row) -> float:
        return self.moved.get(row.uuid or "", self.order[row.uuid or ""])

    def run(self) -> list[Row]:
        spans: list[_Span] = []
        done: set[str] = set()
        for place in self.in_chain.values():
            row = self.chain[place]
            ident = row.message_id
            if not ident or ident in done:
                continue
            done.add(ident)
            span = self._span(row, ident)
            if span is not None:
                spans.append(span)
        return self._merge(spans) if spans else self.chain

    def _span(self, row: Row, ident: str) -> _Span | None:
        group = self.groups.get(ident, [row])
        members = {item.uuid for item in group}
        lost = [item for item in group if (item.uuid or "") not in self.seen]
        answers = self._answers(group, members)
        recovered = [*lost, *answers]
        if not recovered and not any(item.tool_uses for item in group):
            return None
        self.seen.update(item.uuid or "" for item in recovered)
        start = self.in_chain[row.uuid]
        end = start + 1
        for item in group:
            place = self.in_chain.get(item.uuid)
            if place is not None and place >= end:
                end = place + 1
        while end < len(self.chain) and belongs_to_response(self.chain[end], ident):
            end += 1
        anchored: dict[str, list[Row]] = {}
        if any(item.tool_uses for item in group):
            self._take_trailers(group, members, recovered, self.chain[start + 1 : end], anchored)
        if not recovered and not anchored:
            return None
        recovered.sort(key=lambda item: (self.place(item), self.order[item.uuid or ""]))
        return _Span(start, end, recovered, anchored)

    def _answers(self, group: list[Row], members: set[str | None]) -> list[Row]:
        own: list[Row] = []
        foreign: list[Row] = []
        looked: set[str] = set()
        parents = self.state.parents
        for item in group:
            for answer in self.results.get(item.uuid or "", ()):
                uuid = answer.uuid or ""
                if uuid in self.seen or uuid in looked:
                    continue
                looked.add(uuid)
                (own if parents[uuid] in members else foreign).append(answer)
        if foreign:
            known = set(self.chain_answers)
            for answer in own:
                known.update(answer.tool_results)
            foreign.sort(key=lambda item: (self.place(item), self.order[item.uuid or ""]))
            behind = max(self.order[item.uuid or ""] for item in group)
            for answer in foreign:
                if not any(
                    ident not in known and (caller := self.callers.get(ident)) is not None and caller.uuid in members
                    for ident in answer.tool_results
                ):
                    continue
                known.update(answer.tool_results)
                self.moved[answer.uuid or ""] = max(self.order[answer.uuid or ""], behind + 0.5)
                own.append(answer)
        return own

    def _take_trailers(
        self,
        group: list[Row],
        members: set[str | None],
        recovered: list[Row],
        between: list[Row],
        anchored: dict[str, list[Row]],
    ) -> None:
        """Add the rows that accompany these calls and results: attachments, system rows and meta rows.

        Only unbranched sequences of such rows are added.
        """
        hosts = list(group)
        known = set(members)
        for item in group:
            for answer in self.results.get(item.uuid or "", ()):
                if answer.uuid in self.seen and answer.uuid not in known:
                    known.add(answer.uuid)
                    hosts.append(answer)
        for host in hosts:
            self._trailers_of(host, recovered.append)
        for row in between:
            if is_trailer(row):
                found: list[Row] = []
                self._trailers_of(row, found.append)
                if found:
                    anchored[row.uuid or ""] = found

    def _trailers_of(self, host: Row, take: Callable[[Row], None]) -> None:
        moved = self.moved.get(host.uuid or "")
        for child in self.children.get(host.uuid or "", ()):
            for row in self._tail(child, host):
                self.seen.add(row.uuid or "")
                take(row)
                if moved is not None:
                    self.moved[row.uuid or ""] = max(self.order[row.uuid or ""], moved)

    def _tail(self, child: Row, host: Row) -> list[Row]:
        tail: list[Row] = []
        step: Row | None = child
        while step is not None:
            if (step.uuid or "") in self.seen or step.side != host.side or not is_trailer(step):
                return []
            tail.append(step)
            below = [item for item in self.children.get(step.uuid or "", ()) if (item.uuid or "") not in self.seen]
            if len(below) > 1 or len(tail) > len(self.order):
                return []
            step = below[0] if below else None
        return tail

    def _merge(self, spans: list[_Span]) -> list[Row]:
        spans.sort(key=lambda span: span.start)
        joined: list[_Span] = []
        for span in spans:
            if joined and span.start < joined[-1].end:
                before = joined.pop()
                rows = sorted(
                    [*before.recovered, *span.recovered],
                    key=lambda item: (self.place(item), self.order[item.uuid or ""]),
                )
                anchored = dict(before.anchored)
                for uuid, found in span.anchored.items():
                    anchored[uuid] = [*anchored.get(uuid, ()), *found]
                span = _Span(before.start, max(before.end, span.end), rows, anchored)
            joined.append(span)
        result: list[Row] = []
        position = 0
        for span in joined:
            result.extend(self.chain[position : span.start + 1])
            waiting = iter(span.recovered)
            following = next(waiting, None)
            for row in self.chain[span.start + 1 : span.end]:
                place = self.order[row.uuid or ""]
                while following is not None and self.place(following) < place:
                    result.append(following)
                    following = next(waiting, None)
                result.append(row)
                result.extend(span.anchored.get(row.uuid or "", ()))
            while following is not None:
                result.append(following)
                following = next(waiting, None)
            position = span.end
        result.extend(self.chain[position:])
        return result


def _answers_calls_of(above: Row | None, answer: Row) -> bool:
    """Return whether all results on a row answer calls of the row above it."""
    results = answer.tool_results
    if above is None or not results:
        return False
    calls = above.tool_uses
    if len(results) == 1 and len(calls) == 1:  # nearly always
        return results[0] == calls[0][0]
    own = {ident for ident, _ in calls}
    return all(ident in own for ident in results)


def _same_side(one: Row, other: Row) -> bool:
    return one.sidechain == other.sidechain and one.subagent_id == other.subagent_id
