"""Sub-agents: in every layout, hung on the call that started them, at any depth.

By age: rows with `isSidechain` inside the main file (to 2.0.26), a file beside it (2.0.28 - 2.1.8), a file in
``<session>/subagents/`` (since 2.1.9, with a meta file since 2.1.70). A meta file names the call (`toolUseId`) and the agent
that made it (`parentAgentId`); before that the result of the call, or progress rows, name the agent; and in the oldest files
only the prompt tells which call it was.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from .rows import Row

AGENT_TOOLS = frozenset({"Task", "Agent"})


class Agent(Struct):
    agent_id: str
    layout: str
    """"inside", "beside", "subagents", or "mentioned" (known only from a result or progress rows)."""
    rows: list[Row]
    file: int = 0
    tool_use_id: str | None = None
    parent_agent: str | None = None
    """The agent whose call started it; None for the main conversation."""
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
    """What the rows of a session say about who started which agent."""

    by_result: dict[str, tuple[str, str | None]]
    """agent -> (call id, agent that made the call)"""
    by_progress: dict[str, tuple[str, str | None]]
    calls: list[tuple[str, Row, str | None]]
    """Calls of agent tools: (call id, row, agent that made it)."""


def inside_agents(rows: list[Row]) -> list[Agent]:
    """Sub-agents whose rows stand in the main file: by their id, or by their root where there is none."""
    agents: dict[str, Agent] = {}
    root_of: dict[str, str] = {}
    for row in rows:
        if row.side is not True or row.type == "progress":
            continue
        if row.agent_id:
            name = row.agent_id
        else:
            above = root_of.get(row.parent) if row.parent else None
            name = above or f"sidechain-{(row.uuid or str(row.line))[:8]}"
        if row.uuid is not None:
            root_of[row.uuid] = name
        agents.setdefault(name, Agent(name, "inside", [])).rows.append(row)
    return list(agents.values())


def collect_links(groups: list[tuple[str | None, list[Row]]]) -> Links:
    """Links found in rows, given as (agent that wrote them or None, rows)."""
    links = Links({}, {}, [])
    for owner, rows in groups:
        for row in rows:
            if not row.tool_uses and row.result_agent is None:
                continue
            writer = owner if owner is not None else (row.agent_id if row.sidechain else None)
            for ident, name in row.tool_uses:
                if name in AGENT_TOOLS:
                    links.calls.append((ident, row, writer))
            if row.result_agent is not None:
                if row.type == "progress":
                    if row.source_tool_use:
                        links.by_progress.setdefault(row.result_agent, (row.source_tool_use, writer))
                elif row.tool_results:
                    links.by_result.setdefault(row.result_agent, (row.tool_results[0], writer))
    return links


def hang_agents(agents: list[Agent], links: Links, prompts: Callable[[Row], str | None]) -> list[Agent]:
    """Link each agent to its call. `prompts` gives the words of a prompt row, or the prompt that a call's row passes on."""
    used: set[str] = set()
    for agent in agents:
        if agent.tool_use_id is None:
            for how, table in (("result", links.by_result), ("progress", links.by_progress)):
                if agent.agent_id in table:
                    agent.tool_use_id, writer = table[agent.agent_id]
                    agent.parent_agent = agent.parent_agent or writer
                    agent.linked_by = how
                    break
        else:
            agent.linked_by = "meta"
        if agent.tool_use_id:
            used.add(agent.tool_use_id)
    owner = {ident: writer for ident, _, writer in links.calls}
    loose = [agent for agent in agents if agent.tool_use_id is None and agent.rows]
    if loose:
        _match_by_prompt(loose, [call for call in links.calls if call[0] not in used], prompts)
    for agent in agents:
        if agent.parent_agent is None and agent.tool_use_id is not None:
            agent.parent_agent = owner.get(agent.tool_use_id)
        if agent.parent_agent == agent.agent_id:
            agent.parent_agent = None
    _nest(agents)
    return agents


def _match_by_prompt(
    agents: list[Agent], calls: list[tuple[str, Row, str | None]], prompts: Callable[[Row], str | None]
) -> None:
    waiting: dict[str, list[tuple[str, Row, str | None]]] = {}
    for call in calls:
        words = prompts(call[1])
        if words is not None:
            waiting.setdefault(words.strip(), []).append(call)
    left = {call[0] for call in calls}
    for agent in agents:
        words = prompts(agent.rows[0])
        same = waiting.get(words.strip()) if words else None
        if same:
            ident, _, writer = same.pop(0)
            agent.tool_use_id, agent.parent_agent, agent.linked_by = ident, writer, "prompt"
            left.discard(ident)
    for agent in agents:
        if agent.tool_use_id is not None or agent.layout != "inside":
            continue
        before = [c for c in calls if c[0] in left and c[1].index < agent.rows[0].index and not c[1].sidechain]
        if before:  # no words to go by: the last call before it that nothing else answers for
            ident, _, writer = before[-1]
            agent.tool_use_id, agent.parent_agent, agent.linked_by = ident, writer, "order"
            left.discard(ident)


def _nest(agents: list[Agent]) -> None:
    by_id = {agent.agent_id: agent for agent in agents}
    for agent in agents:
        agent.children = []
    for agent in agents:
        parent = by_id.get(agent.parent_agent or "")
        if parent is not None:
            parent.children.append(agent.agent_id)
        seen = {agent.agent_id}
        depth, step = 1, parent
        while step is not None and step.agent_id not in seen:
            seen.add(step.agent_id)
            depth += 1
            step = by_id.get(step.parent_agent or "")
        agent.depth = depth
