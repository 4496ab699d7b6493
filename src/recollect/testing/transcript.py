"""Build one transcript, with its subagents, as Claude Code of a given version writes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from recollect.testing.identifiers import subagent_id, uuid_from
from recollect.testing.rowwriter import FOLLOWING, Entry, Parent, RowWriter
from recollect.testing.toolcalls import ToolCall

from .conversation import Conversation

ForkStyle = Literal["fork-session", "branch", "sdk"]

_NO_MODEL_SEES = frozenset({"system", "attachment", "progress"})


class TranscriptBuilder(Conversation):
    """Builds a session's main file. Rows follow one another unless `parent` is given; `thread` is what a resume would send."""

    def _begin(self) -> None:
        super()._begin()
        self.subagents: list[SubagentBuilder] = []

    # -- other rows ---------------------------------------------------------------------------------------------------
    def system(self, subtype: str, content: str | None = None, *, parent: Parent = FOLLOWING, **fields: Any) -> str:
        uuid = self.new_uuid()
        body: Entry = {"type": "system", "subtype": subtype}
        if content is not None:
            body["content"] = content
        body |= fields
        body |= {"timestamp": self._tick(), "uuid": uuid}
        return self._row(body, uuid=uuid, parent=parent)

    def turn_duration(self, duration_ms: int = 4200) -> str:
        extra: Entry = {"messageCount": len(self._rows)} if self.dialect.since("2.1.200") else {}
        return self.system("turn_duration", durationMs=duration_ms, isMeta=False, **extra)

    def attachment(self, kind: str, *, rendered: str | None = None, parent: Parent = FOLLOWING, **fields: Any) -> str:
        """Write what Claude Code adds to a prompt. Since 2.1.325 the row also has the text that the model sees."""
        uuid = self.new_uuid()
        body: Entry = {"attachment": {"type": kind, **fields}, "type": "attachment", "uuid": uuid}
        body["timestamp"] = self._tick(0.01)
        if rendered is not None and self.dialect.rendered_attachments:
            body |= {"rendered": [{"content": rendered}], "renderedRole": "user"}
        return self._row(body, uuid=uuid, parent=parent)

    def progress(
        self,
        kind: str,
        *,
        tool_use_id: str,
        parent_tool_use_id: str | None = None,
        parent: Parent = FOLLOWING,
        **data: Any,
    ) -> str:
        """Write a progress row (2.1.0 to 2.1.42): part of the parent chain, but not a message."""
        uuid = self.new_uuid()
        body: Entry = {"type": "progress", "data": {"type": kind, **data}}
        body |= {"parentToolUseID": parent_tool_use_id or tool_use_id, "toolUseID": tool_use_id}
        body |= {"timestamp": self._tick(1.0), "uuid": uuid}
        return self._row(body, uuid=uuid, parent=parent)

    # -- history ------------------------------------------------------------------------------------------------------
    def compact(
        self,
        trigger: Literal["auto", "manual"] = "auto",
        summary: str = "This session is continued from an earlier conversation. So far: nothing of note.",
        *,
        preserved: Sequence[str] = (),
        pre_tokens: int = 155_000,
    ) -> str:
        """Write a boundary and the summary below it; returns the summary's uuid.

        Rows named in `preserved` stay part of the conversation: Claude Code makes them children of the summary again.
        """
        if self.dialect.slug and self.slug is None:
            self.slug = "patient-reading-otter"
        last, boundary, anchor = self.head, self.new_uuid(), self.new_uuid()
        metadata: Entry = {"trigger": trigger, "preTokens": pre_tokens}
        if preserved and self.dialect.preserved_segment:
            metadata["preservedSegment"] = {"headUuid": preserved[0], "anchorUuid": anchor, "tailUuid": preserved[-1]}
        if preserved and self.dialect.preserved_messages:
            metadata["preservedMessages"] = {
                "anchorUuid": anchor,
                "uuids": list(preserved),
                "allUuids": list(preserved),
            }
        if self.dialect.preserved_messages:
            dropped = pre_tokens - 9_000
            metadata |= {"durationMs": 21_000, "postTokens": 9_000, "cumulativeDroppedTokens": dropped}
        body: Entry = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
        body |= {"isMeta": False, "timestamp": self._tick(), "uuid": boundary, "level": "info"}
        body["compactMetadata"] = metadata
        self._row(body, uuid=boundary, parent=None, head_fields={"logicalParentUuid": last})
        body = {"type": "user", "message": {"role": "user", "content": summary}}
        body |= {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
        body |= {"uuid": anchor, "timestamp": self._tick(0.01)}
        if self.dialect.turn_position:
            body["turnPosition"] = {"promptIndex": max(self._prompts - 1, 0), "turnIndex": 0}
        fields = self._prompt_id_field() if self.dialect.since("2.1.150") else {}
        self._row(body, uuid=anchor, head_fields=fields)
        if "preservedSegment" in metadata:
            self._preserved[anchor] = list(preserved)
        return anchor

    def rewind(self, to: str | None) -> None:
        """Go back to row `to` (None: the start), the parent of the next row. What was written stays in the file.

        Versions with checkpoints withdraw theirs by a checkpoint that names no row.
        """
        if self.dialect.checkpoint:
            self.withdraw_checkpoint()
        self.head = to

    def fork_copy(self, source: RowWriter, up_to: str | None = None, *, style: ForkStyle = "fork-session") -> None:
        """Copy the rows of another session up to and including `up_to`, and continue from there.

        `fork-session` (also how 0.2.126 and 1.0.0 resume) and `branch` keep the uuids, `sdk` gives new ones; the latter two
        write `forkedFrom`.
        """
        renamed: dict[str, str] = {}
        groups: dict[int, list[str]] = {}
        group_of = source._group_of if isinstance(source, Conversation) else {}
        for entry in source.entries:
            uuid = entry.get("uuid")
            if not isinstance(uuid, str) or entry.get("isSidechain"):
                continue
            new = uuid_from(self.session_id, "fork", uuid) if style == "sdk" else uuid
            renamed[uuid] = new
            parent = entry["parentUuid"]
            copied = entry | {"uuid": new, "sessionId": self.session_id, "parentUuid": renamed.get(parent, parent)}
            if self.dialect.request_session and entry["type"] == "assistant" and style != "sdk":
                copied.setdefault("requestSessionId", source.session_id)
            if style != "fork-session":
                copied["forkedFrom"] = {"sessionId": source.session_id, "messageUuid": uuid}
            self._rows[new] = self._emit(copied)
            self.head = new
            if uuid in group_of:
                self._group_of[new] = groups.setdefault(id(group_of[uuid]), [])
                self._group_of[new].append(new)
            if uuid == up_to:
                break
        self.now = max(self.now, source.now)

    # -- what a resume would send -------------------------------------------------------------------------------------
    @property
    def thread(self) -> list[str]:
        """Return the user and assistant rows from the start, or the last compaction, to the head, in the order they are sent.

        Derived from what was built, not from reading the lines back; checkpoints given by hand are not considered.
        """
        chain: list[str] = []
        current = self.head
        while current is not None:
            chain.append(current)
            current = self._rows[current]["parentUuid"]
        sent: dict[str, None] = {}
        for uuid in reversed(chain):
            members = [uuid, *self._preserved.get(uuid, ())]
            for member in self._group_of.get(uuid, members):
                if self._is_sent(self._rows[member]):
                    sent[member] = None
        return list(sent)

    @staticmethod
    def _is_sent(entry: Entry) -> bool:
        return entry["type"] not in _NO_MODEL_SEES and not entry.get("isApiErrorMessage")

    # -- subagents ---------------------------------------------------------------------------------------------------
    def subagent(
        self,
        prompt: str,
        *,
        description: str = "Look into it",
        subagent_type: str = "general-purpose",
        workflow: str | None = None,
        text: str | None = None,
    ) -> SubagentBuilder:
        """Start a subagent by a tool call; continue with the returned builder and end it with its `finish`."""
        arguments = {"description": description, "prompt": prompt, "subagent_type": subagent_type}
        before = len(self.calls)
        self.assistant(text, tools=[ToolCall(self.dialect.subagent_tool, arguments)])
        return SubagentBuilder(self, list(self.calls)[before], prompt, description, subagent_type, workflow)

    def all_subagents(self) -> Iterator[SubagentBuilder]:
        """Yield the subagents of this transcript and their subagents, in the order of their start."""
        for subagent in self.subagents:
            yield subagent
            yield from subagent.all_subagents()


class SubagentBuilder(TranscriptBuilder):
    """Builds the transcript of a subagent. Up to 2.0.27 its lines go into the main file."""

    def __init__(
        self,
        parent: TranscriptBuilder,
        tool_use_id: str,
        prompt: str,
        description: str,
        subagent_type: str,
        workflow: str | None = None,
    ) -> None:
        super().__init__(
            parent.session_id,
            parent.cwd,
            parent.version,
            parent.git_branch,
            parent.now,
            step=parent.step,
            entrypoint=parent.entrypoint,
            slug=parent.slug,
            model=parent.model,
            subagent_id=subagent_id(parent.dialect.subagent_id_length, tool_use_id),
            sink=parent._items if parent.dialect.subagent_place == "inside" else None,
        )
        self.parent_builder = parent
        self.tool_use_id = tool_use_id
        self.prompt = prompt
        self.description = description
        self.subagent_type = subagent_type
        self.workflow = workflow
        self.depth: int = parent.depth + 1 if isinstance(parent, SubagentBuilder) else 1
        self.report: str | None = None
        parent.subagents.append(self)
        self.wait(0.5)
        self.user(prompt)

    def user(
        self, content: str | list[dict[str, Any]], *, meta: bool = False, parent: Parent = FOLLOWING, **extra: Any
    ) -> str:
        uuid = super().user(content, meta=meta, parent=parent, **extra)
        # A subagent's lines have the id of the prompt that the user typed.
        self.prompt_id = self.parent_builder.prompt_id
        if "promptId" in self.entry(uuid):
            self.entry(uuid)["promptId"] = self.prompt_id
        return uuid

    def finish(self, report: str | None = None) -> str:
        """Answer the call that started this subagent; returns the row's uuid in the starting transcript.

        `report` is written as the subagent's last message first, unless it is None.
        """
        if report is not None:
            self.assistant(report)
        self.report = report or ""
        parent = self.parent_builder
        parent.now = max(parent.now, self.now)
        blocks: list[Entry] = [{"type": "text", "text": self.report}]
        structured: Entry = {}
        if self.dialect.subagent_place != "inside":
            structured = {"status": "completed", "prompt": self.prompt, "agentId": self.subagent_id}
        structured |= {
            "content": [dict(block) for block in blocks],
            "totalDurationMs": int((self.now - self.start).total_seconds() * 1000),
            "totalTokens": 9_000 + 400 * self._responses,
            "totalToolUseCount": len(self.calls),
            "usage": {"input_tokens": 5, "output_tokens": 80},
        }
        return parent.tool_result(self.tool_use_id, blocks, tool_use_result=structured)

    def meta(self) -> Entry:
        """Return the content of `agent-<id>.meta.json` for the version."""
        meta: Entry = {"agentType": self.subagent_type, "description": self.description}
        if self.dialect.since("2.1.150"):
            meta["toolUseId"] = self.tool_use_id
        if self.dialect.since("2.1.197"):
            meta["spawnDepth"] = self.depth
        if self.dialect.since("2.1.325"):
            meta |= {"isBuiltIn": True, "requestShape": "standard", "requestNonInteractive": False}
            meta["finished"] = self.report is not None
            if isinstance(self.parent_builder, SubagentBuilder):
                meta["parentAgentId"] = self.parent_builder.subagent_id
        return meta
