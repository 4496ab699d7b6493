"""Describe what Claude Code of a given version writes: the facts that the builders turn into bytes.

Each property names one change of the format and holds the version since which it was seen. Between two measured
versions, the older one's behaviour is assumed to last until the newer one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

SubagentPlace = Literal["inside", "beside", "below"]
"""Where subagents are stored: in the main file, beside it, or in `<session>/subagents/`."""

TodoNaming = Literal["session", "session-agent", "none"]


def version_key(version: str) -> tuple[int, ...]:
    """Return the numbers of a version for comparing; a part that is not a number counts as 0."""
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


@dataclass(frozen=True)
class Dialect:
    """The format that one version of Claude Code writes."""

    version: str
    key: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", version_key(self.version))

    def since(self, version: str) -> bool:
        return self.key >= version_key(version)

    def until(self, version: str) -> bool:
        return self.key <= version_key(version)

    @property
    def whole_messages(self) -> bool:
        """Return whether there is one line per API message, with `costUSD` and `durationMs`, and no `requestId`."""
        return self.until("1.0.0")

    @property
    def git_branch(self) -> bool:
        return self.since("1.0.60")

    @property
    def true_usage(self) -> bool:
        """Return whether every line has the final `output_tokens` and `stop_reason`, not the stream's placeholders."""
        return self.whole_messages or self.since("2.1.98")

    @property
    def envelope_last(self) -> bool:
        """Return whether `userType`, `cwd`, `sessionId`, `version` come after the message, not before it."""
        return self.since("2.1.80")

    @property
    def entrypoint(self) -> bool:
        return self.since("2.1.80")

    @property
    def prompt_id(self) -> bool:
        return self.since("2.1.80")

    @property
    def permission_mode(self) -> bool:
        return self.since("2.1.22")

    @property
    def prompt_source(self) -> bool:
        return self.since("2.1.197")

    @property
    def effort(self) -> bool:
        return self.since("2.1.250")

    @property
    def turn_position(self) -> bool:
        """Return whether prompts have `turnPosition` and `turnOrigin`, and answers `requestRef`, `madeBy` and the like."""
        return self.since("2.1.325")

    @property
    def source_tool_uuid(self) -> bool:
        return self.since("2.0.77")

    @property
    def slug(self) -> bool:
        """Return whether a compaction or plan gives the lines after it the plan's name."""
        return self.since("2.0.77")

    @property
    def progress_rows(self) -> bool:
        return self.since("2.1.0") and self.until("2.1.50")

    @property
    def attachment_rows(self) -> bool:
        return self.since("2.1.80")

    @property
    def rendered_attachments(self) -> bool:
        return self.since("2.1.325")

    @property
    def last_prompt(self) -> bool:
        return self.since("2.1.70")

    @property
    def checkpoint(self) -> bool:
        """Return whether `last-prompt` names the leaf of the active branch."""
        return self.since("2.1.150")

    @property
    def preserved_segment(self) -> bool:
        return self.since("2.1.70")

    @property
    def preserved_messages(self) -> bool:
        return self.since("2.1.230")

    @property
    def permission_decision(self) -> bool:
        return self.since("2.1.325")

    @property
    def request_session(self) -> bool:
        """Return whether answers copied into another session name their original session: `requestSessionId`."""
        return self.since("2.1.326")

    @property
    def summary_titles(self) -> bool:
        return self.until("1.0.128")

    @property
    def file_history_delta(self) -> bool:
        return self.since("2.1.200")

    @property
    def subagent_tool(self) -> str:
        return "Agent" if self.since("2.1.70") else "Task"

    @property
    def subagent_place(self) -> SubagentPlace:
        if self.until("2.0.27"):
            return "inside"
        return "beside" if self.until("2.1.0") else "below"

    @property
    def subagent_id_length(self) -> int:
        return 17 if self.since("2.1.50") else 7

    @property
    def subagent_meta(self) -> bool:
        return self.since("2.1.70")

    @property
    def todo_naming(self) -> TodoNaming:
        if self.until("1.0.0"):
            return "session"
        return "session-agent" if self.until("2.1.69") else "none"

    @property
    def global_config_name(self) -> str:
        return "config.json" if self.until("1.0.0") else ".claude.json"

    @property
    def default_model(self) -> str:
        for since, model in _MODELS:
            if self.since(since):
                return model
        return "claude-3-7-sonnet-20250219"


_MODELS = (
    ("2.1.200", "claude-opus-5"),
    ("2.1.30", "claude-opus-4-6"),
    ("2.0.50", "claude-opus-4-5-20251101"),
    ("2.0.0", "claude-sonnet-4-5-20250929"),
    ("1.0.0", "claude-sonnet-4-20250514"),
)
