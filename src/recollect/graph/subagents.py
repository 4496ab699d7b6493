"""Find the subagents of a session, in every layout, and link each to the call that started it, at any depth.

The layouts by age: rows with `isSidechain` inside the main file (to 2.0.26), a file beside it (2.0.28 - 2.1.8), a file in
``<session>/subagents/`` (since 2.1.9, with a meta file since 2.1.70). A meta file names the call (`toolUseId`) and the subagent
that made the call (`parentAgentId`). Before 2.1.70 the result of the call, or progress rows, name the subagent. In the oldest
files the call can be recognised only by its prompt.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from .rows import Row

SUBAGENT_TOOLS = frozenset({"Task", "Agent"})


class Subagent(Struct):
    subagent_id: str
    layout: str
    """"inside", "beside", "subagents", or "mentioned" (known only from a result or progress rows)."""
    rows: list[Row]
    file: int = 0
    tool_use_id: str | None = None
    parent_subagent: str | None = None
    """The subagent whose call started this one; None where the main conversation did."""
    kind: str | None = None
    description: str | None = None
    workflow: str | None = None
    linked_by: str | None = None
    """How the call was found: "meta", "result", "progress", "prompt", "order"."""
    depth: int = 1
    children: list[str] = []

    @property
    def first_time(self) -> float | None:
        return next((row.time for row in self.rows if row.time is not None), None)

    @property
    def last_time(self) -> float | None:
        return next((row.time for row in reversed(self.rows) if row.time is not None), None)


class Links(Struct):
    """The links between calls and subagents that the rows of a session state."""

    by_result: dict[str, tuple[str, str | None]]
    """From results: subagent id -> (call id, subagent that made the call)."""
    by_progress: dict[str, tuple[str, str | None]]
    """From progress rows: subagent id -> (call id, subagent that made the call)."""
    calls: list[tuple[str, Row, str | None]]
    """Calls of subagent tools: (call id, row, subagent that made the call)."""


def inside_subagents(rows: list[Row]) -> list[Subagent]:
    """Return the subagents whose rows stand in the main file, grouped by `agentId` or, without one, by their root row."""
    subagents: dict[str, Subagent] = {}
    root_of: dict[str, str] = {}
    for row in rows:
        if row.side is not True or row.type == "progress":
            continue
        if row.subagent_id:
            name = row.subagent_id
        else:
            above = root_of.get(row.parent) if row.parent else None
            name = above or f"sidechain-{(row.uuid or str(row.line))[:8]}"
        if row.uuid is not None:
            root_of[row.uuid] = name
        subagents.setdefault(name, Subagent(name, "inside", [])).rows.append(row)
    return list(subagents.values())


def collect_links(groups: list[tuple[str | None, list[Row]]]) -> Links:
    """Collect the links that rows state. `groups` holds (subagent that wrote the rows or None, rows)."""
    links = Links({}, {}, [])
    for owner, rows in groups:
        for row in rows:
            if not row.tool_uses and row.result_subagent is None:
                continue
            writer = owner if owner is not None else (row.subagent_id if row.sidechain else None)
            for ident, name in row.tool_uses:
                if name in SUBAGENT_TOOLS:
                    links.calls.append((ident, row, writer))
            if row.result_subagent is not None:
                if row.type == "progress":
                    if row.source_tool_use:
                        links.by_progress.setdefault(row.result_subagent, (row.source_tool_use, writer))
                elif row.tool_results:
                    links.by_result.setdefault(row.result_subagent, (row.tool_results[0], writer))
    return links


def hang_subagents(subagents: list[Subagent], links: Links, prompts: Callable[[Row], str | None]) -> list[Subagent]:
    """Link each subagent to its call. `prompts` returns the text of a prompt row, or the prompt in the call of a call's row."""
    used: set[str] = set()
    for subagent in subagents:
        if subagent.tool_use_id is None:
            for how, table in (("result", links.by_result), ("progress", links.by_progress)):
                if subagent.subagent_id in table:
                    subagent.tool_use_id, writer = table[subagent.subagent_id]
                    subagent.parent_subagent = subagent.parent_subagent or writer
                    subagent.linked_by = how
                    break
        else:
            subagent.linked_by = "meta"
        if subagent.tool_use_id:
            used.add(subagent.tool_use_id)
    owner = {ident: writer for ident, _, writer in links.calls}
    loose = [subagent for subagent in subagents if subagent.tool_use_id is None and subagent.rows]
    if loose:
        _match_by_prompt(loose, [call for call in links.calls if call[0] not in used], prompts)
    for subagent in subagents:
        if subagent.parent_subagent is None and subagent.tool_use_id is not None:
            subagent.parent_subagent = owner.get(subagent.tool_use_id)
        if subagent.parent_subagent == subagent.subagent_id:
            subagent.parent_subagent = None
    _nest(subagents)
    return subagents


def _match_by_prompt(
    subagents: list[Subagent], calls: list[tuple[str, Row, str | None]], prompts: Callable[[Row], str | None]
) -> None:
    waiting: dict[str, list[tuple[str, Row, str | None]]] = {}
    for call in calls:
        words = prompts(call[1])
        if words is not None:
            waiting.setdefault(words.strip(), []).append(call)
    left = {call[0] for call in calls}
    for subagent in subagents:
        words = prompts(subagent.rows[0])
        same = waiting.get(words.strip()) if words else None
        if same:
            ident, _, writer = same.pop(0)
            subagent.tool_use_id, subagent.parent_subagent, subagent.linked_by = ident, writer, "prompt"
            left.discard(ident)
    for subagent in subagents:
        if subagent.tool_use_id is not None or subagent.layout != "inside":
            continue
        before = [c for c in calls if c[0] in left and c[1].index < subagent.rows[0].index and not c[1].sidechain]
        if before:  # no prompt matches: take the last call before the subagent that is not linked to another one
            ident, _, writer = before[-1]
            subagent.tool_use_id, subagent.parent_subagent, subagent.linked_by = ident, writer, "order"
            left.discard(ident)


def _nest(subagents: list[Subagent]) -> None:
    by_id = {subagent.subagent_id: subagent for subagent in subagents}
    for subagent in subagents:
        subagent.children = []
    for subagent in subagents:
        parent = by_id.get(subagent.parent_subagent or "")
        if parent is not None:
            parent.children.append(subagent.subagent_id)
        seen = {subagent.subagent_id}
        depth, step = 1, parent
        while step is not None and step.subagent_id not in seen:
            seen.add(step.subagent_id)
            depth += 1
            step = by_id.get(step.parent_subagent or "")
        subagent.depth = depth
