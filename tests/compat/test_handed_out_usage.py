"""The fake API hands out known counts, the real client writes, and our totals are what was handed out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.compat import clients
from tests.compat.handed_out import OURS, SESSION, hand_out

from recollect.analysis.api_calls import ApiCall
from recollect.analysis.cost import Counts
from recollect.library.library import Library
from recollect.library.usage import Ledger
from recollect.store.home import Home

pytestmark = [pytest.mark.compat, pytest.mark.timeout(900)]


def as_counts(usage: dict[str, Any]) -> Counts:
    parts, server = usage["cache_creation"], usage.get("server_tool_use") or {}
    thought = usage.get("output_tokens_details") or {}
    return Counts(
        usage["input_tokens"], usage["output_tokens"], parts["ephemeral_5m_input_tokens"], parts["ephemeral_1h_input_tokens"],
        usage["cache_read_input_tokens"], thought.get("thinking_tokens", 0), server.get("web_search_requests", 0),
    )  # fmt: skip


def counted(out: Path, version: str) -> tuple[dict[str, Counts], dict[str, ApiCall], Ledger]:
    handed = {ident: as_counts(usage) for ident, usage in hand_out(out, version).items()}
    answers = {ident: counts for ident, counts in handed.items() if counts.input >= OURS}
    ledger = Library([Home(out / "config")], own_folder=lambda kind: out / kind).ledger("UTC")
    found = {item.message_id: item for item in ledger.calls()}
    ours = {ident: counts for ident, counts in answers.items() if ident in found}
    assert sorted(counts.input for counts in ours.values()) == [OURS + number for number in range(1, 9)]
    assert set(found) <= set(handed)
    # 1.0.128 shows prompts to a small model first, which gets the same answer here, and writes none of that down.
    assert version == "1.0.128" or set(answers) == set(ours)
    return ours, found, ledger


def total(items: dict[str, Counts]) -> Counts:
    return Counts(*map(sum, zip(*items.values(), strict=True)))


@pytest.mark.parametrize("version", [clients.NEWEST, *clients.BETWEEN])
def test_to_the_last_token(version: str, tmp_path: Path) -> None:
    """Since 2.1.98 the final output is written; how much of it was thought, only by the newest one."""
    ours, found, ledger = counted(tmp_path, version)
    tells_thinking = version == clients.NEWEST
    wanted = ours if tells_thinking else {ident: counts._replace(thinking=0) for ident, counts in ours.items()}
    assert {ident: found[ident].counts for ident in ours} == wanted
    assert sum(counts.thinking for counts in wanted.values()) == (101 + 55 + 77 if tells_thinking else 0)
    assert not any(item.lower_bound or item.odd for item in found.values())
    everything = {ident: item.counts for ident, item in found.items()}
    assert ledger.usage("day").totals.counts == ledger.usage("session").totals.counts == total(everything)
    assert ledger.usage("subagent").totals.calls == len(found)
    assert sum(item.copies - 1 for item in found.values()) == 5  # what the fork repeats
    calls = {group.key: group.totals.calls for group in ledger.usage("session").groups}
    assert calls.pop(SESSION) == 7 and list(calls.values()) == [1]  # booked on the original, not on the fork
    states = {item.session_id: item for item in ledger.comparisons()}
    if version == clients.NEWEST:
        assert len(states) == 2 and states[SESSION].same_tokens  # the client's own count
        assert states[SESSION].theirs.thinking == states[SESSION].ours.thinking
    else:
        assert states == {}


@pytest.mark.parametrize("version", clients.OLDER)
def test_older_clients_are_lower_bounds(version: str, tmp_path: Path) -> None:
    ours, found, ledger = counted(tmp_path, version)
    for ident, handed in ours.items():
        mine = found[ident].counts
        assert mine._replace(output=0, thinking=0) == handed._replace(
            output=0, thinking=0, web_searches=mine.web_searches
        )
        assert mine.web_searches in (0, handed.web_searches)
        assert mine.output <= handed.output and mine.thinking <= handed.thinking
        assert found[ident].lower_bound == (found[ident].stop_reason is None)
        assert mine.output == handed.output or found[ident].lower_bound
    assert ledger.usage("day").totals.lower_bounds > 0
