"""Define rules and findings: what can be wrong, how bad it is, what Claude Code does then, and what helps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

ERROR: Final = "error"
"""Claude Code loses part of the conversation, finds none, or every further turn fails."""
WARNING: Final = "warning"
"""Some version of Claude Code, or somebody else, will stumble over it; or something is left over."""
INFO: Final = "info"
"""Worth knowing; healthy sessions have it too."""
SEVERITIES: Final = (ERROR, WARNING, INFO)


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that can be wrong."""

    code: str
    severity: str
    title: str
    """What is wrong."""
    client: str
    """What Claude Code does because of it."""
    remedy: str
    fix: str | None = None
    """The fix of `recollect repair` that helps."""
    fold: bool = False
    """Many places of a session become one finding that counts them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that was broken, and where. Lines count from 1, offsets from the start of the file."""

    rule: Rule
    path: Path
    detail: str = ""
    line: int | None = None
    offset: int | None = None
    length: int | None = None
    uuid: str | None = None
    session_id: str | None = None
    subagent_id: str | None = None
    count: int = 1
    milder: str | None = None
    """A severity in place of the rule's, where Claude Code copes with this case."""

    @property
    def code(self) -> str:
        return self.rule.code

    @property
    def severity(self) -> str:
        return self.milder or self.rule.severity

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain data: the fields that `--json` and `/api/v1` give."""
        return {
            "code": self.code,
            "severity": self.severity,
            "session_id": self.session_id,
            "subagent_id": self.subagent_id,
            "path": str(self.path),
            "line": self.line,
            "offset": self.offset,
            "length": self.length,
            "uuid": self.uuid,
            "detail": self.detail,
            "count": self.count,
            "title": self.rule.title,
            "client": self.rule.client,
            "remedy": self.rule.remedy,
            "fix": self.rule.fix,
        }


def fold(findings: Iterable[Finding]) -> list[Finding]:
    """Combine the findings of each folding rule into one: the first place, and how many there are."""
    kept: list[Finding] = []
    place: dict[tuple[str, str, Path], int] = {}
    for item in findings:
        if not item.rule.fold:
            kept.append(item)
            continue
        key = (item.code, item.severity, item.path)
        known = place.get(key)
        if known is None:
            place[key] = len(kept)
            kept.append(item)
        else:
            kept[known] = replace(kept[known], count=kept[known].count + item.count)
    return kept


def worst(findings: Iterable[Finding]) -> str | None:
    """Return the worst severity of some findings; None if there are none."""
    found = {item.severity for item in findings}
    return next((severity for severity in SEVERITIES if severity in found), None)
