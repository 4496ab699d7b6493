"""Write lines without a uuid: titles, checkpoints, queue, costs, file history."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from recollect.testing.identifiers import NIL_UUID, milliseconds, timestamp
from recollect.testing.rowwriter import FOLLOWING, Entry, Parent, RowWriter


def backup_name(path: str, version: int) -> str:
    """Return the name of a file-history backup: 16 hexadecimal digits of the SHA-256 of the absolute path."""
    return f"{hashlib.sha256(path.encode()).hexdigest()[:16]}@v{version}"


class StateLines(RowWriter):
    """Writes the state lines of a transcript. They never change the chain of parents."""

    def state(self, type: str, **fields: Any) -> None:
        """Write any state line: `type` first, `sessionId` last, as Claude Code writes them."""
        self._emit({"type": type, **fields, "sessionId": self.session_id})

    def last_prompt(
        self, text: str | None = None, *, leaf: Parent = FOLLOWING, explicit: bool = False, **fields: Any
    ) -> None:
        """Write the checkpoint of the active branch. Since 2.1.150 it names the leaf; a given leaf is always written."""
        entry: Entry = {}
        if text is not None:
            entry["lastPrompt"] = text
        if leaf is None or isinstance(leaf, str):
            entry["leafUuid"] = leaf
        elif self.dialect.checkpoint:
            entry["leafUuid"] = self.head
        if explicit:
            entry["explicit"] = True
        self.state("last-prompt", **entry, **fields)

    def withdraw_checkpoint(self) -> None:
        self.last_prompt(leaf=NIL_UUID, explicit=True)

    def title(self, text: str, *, ai: bool = False) -> None:
        """Write a title given by the user (`custom-title`) or made by Claude Code (`ai-title`)."""
        if ai:
            self.state("ai-title", aiTitle=text)
        else:
            self.state("custom-title", customTitle=text)

    def summary_title(self, text: str, leaf: str | None = None, *, first: bool = False) -> None:
        """Write the title line of versions up to 1.0.128: no session id, no time; `first` puts it at the head of the file."""
        entry: Entry = {"type": "summary", "summary": text, "leafUuid": leaf or self.head}
        if first:
            self._items.insert(0, entry)
        else:
            self._emit(entry)

    def queue(self, operation: str, content: str | list[dict[str, Any]] | None = None) -> None:
        entry: Entry = {"type": "queue-operation", "operation": operation, "timestamp": timestamp(self.now)}
        if content is not None:
            entry["content"] = content
        self._emit({**entry, "sessionId": self.session_id})

    def cost_state(
        self,
        *,
        total_cost: float,
        models: Mapping[str, Mapping[str, Any]],
        lines_added: int = 0,
        lines_removed: int = 0,
        unknown_model: bool = False,
    ) -> None:
        """Write the cumulative cost, since 2.1.325; `models` holds `inputTokens`, `outputTokens`, `costUSD` ... per model."""
        counters = (
            "inputTokens outputTokens thinkingTokens cacheReadInputTokens cacheCreationInputTokens "
            "cacheCreationEphemeral5mInputTokens cacheCreationEphemeral1hInputTokens webSearchRequests"
        )
        zeros = dict.fromkeys(counters.split(), 0)
        elapsed = milliseconds(self.now) - milliseconds(self.start)
        self.state(
            "cost-state",
            totalCostUSD=total_cost,
            totalAPIDuration=elapsed // 2,
            totalAPIDurationWithoutRetries=elapsed // 2,
            totalToolDuration=elapsed // 10,
            totalLinesAdded=lines_added,
            totalLinesRemoved=lines_removed,
            totalDuration=elapsed,
            startTime=milliseconds(self.start),
            modelUsage={name: zeros | {"costUSD": 0.0} | dict(usage) for name, usage in models.items()},
            hasUnknownModelCost=unknown_model,
        )

    def tools_used(self, tools: Sequence[str]) -> None:
        self.state("tools-used", tools=list(tools))

    def file_history_snapshot(
        self, message_uuid: str, files: Mapping[str, int | None] | None = None, *, update: bool = False
    ) -> None:
        """Write which backups belong to a prompt: absolute path to version, None if the file did not exist."""
        snapshot = {
            "messageId": message_uuid,
            "trackedFileBackups": {
                self._tracking_path(path): self._backup(path, version, 1) for path, version in (files or {}).items()
            },
            "timestamp": timestamp(self.now),
        }
        entry = {"type": "file-history-snapshot", "messageId": message_uuid, "snapshot": snapshot}
        self._emit({**entry, "isSnapshotUpdate": update})

    def file_history_delta(
        self, message_uuid: str, snapshot_message_uuid: str, path: str, version: int | None, *, number: int = 1
    ) -> None:
        """Write one more backup, since 2.1.200. `version` None: the file did not exist, and `number` is recorded."""
        backup = self._backup(path, version, number)
        backup["realParentDir"] = str(PurePosixPath(path).parent)
        self._emit(
            {
                "type": "file-history-delta",
                "messageId": message_uuid,
                "snapshotMessageId": snapshot_message_uuid,
                "trackingPath": self._tracking_path(path),
                "backup": backup,
                "timestamp": timestamp(self.now),
            }
        )

    def _backup(self, path: str, version: int | None, number: int) -> Entry:
        return {
            "backupFileName": None if version is None else backup_name(path, version),
            "version": number if version is None else version,
            "backupTime": timestamp(self.now),
        }

    def _tracking_path(self, path: str) -> str:
        """Return the path relative to the working directory if the file is inside it."""
        return path.removeprefix(self.cwd.rstrip("/") + "/")
