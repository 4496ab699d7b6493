"""List the top-level fields of each entry type that Claude Code up to 2.1.326 writes.

A field that is not listed is kept like any other; the list only serves to report new fields (`recollect doctor --deep`).
Measured on captures of Claude Code 0.2.126 to 2.1.326 and on real transcripts.
"""

from __future__ import annotations

from typing import Final

#: Fields that every row may have.
_ROW: Final = frozenset(
    {
        "agentId", "agentName", "cwd", "entrypoint", "forkedFrom", "gitBranch", "isMeta", "isSidechain",
        "parentUuid", "promptId", "sessionId", "sessionKind", "session_id", "slug", "teamName", "timestamp",
        "type", "userType", "uuid", "version",
    }
)  # fmt: skip

_OWN: Final = {
    "agent-color": """
        agentColor sessionId type
    """,
    "agent-name": """
        agentName sessionId type
    """,
    "agent-setting": """
        agentSetting sessionId type
    """,
    "ai-title": """
        aiTitle sessionId type
    """,
    "api-request": """
        agentId base cacheControl id keep params querySource requestDigest sessionId shapeHash tail
        timestamp type version
    """,
    "api-request-blob": """
        agentId hash message sessionId type
    """,
    "api-request-shape": """
        agentId sessionId shape shapeHash timestamp type version
    """,
    "assistant": """
        advisorModel apiBlockIndex apiErrorIsTransient apiErrorStatus apiErrorType attributionAgent
        attributionMcpServer attributionMcpTool attributionPlugin attributionSkill costUSD durationMs
        effort error errorDetails failedResponseHadNoToolCall isAbortedMidStream isApiErrorMessage
        madeBy message model perTurnEffort promptCacheRequested requestId requestRef requestSessionId
        requestedModel serverClassifierRequest thinkingDisplay thinkingDurationMs toolInputStreamMs
    """,
    "atis-latch": """
        atis sessionId type
    """,
    "attachment": """
        attachment rendered renderedBesideToolResult renderedRole
    """,
    "bridge-session": """
        bridgeSessionId lastSequenceNum sessionId type
    """,
    "cost-state": """
        hasUnknownModelCost modelUsage sessionId startTime totalAPIDuration
        totalAPIDurationWithoutRetries totalCostUSD totalDuration totalLinesAdded totalLinesRemoved
        totalToolDuration type
    """,
    "custom-title": """
        customTitle sessionId type
    """,
    "file-history-delta": """
        backup messageId snapshotMessageId timestamp trackingPath type
    """,
    "file-history-snapshot": """
        isSnapshotUpdate messageId snapshot type
    """,
    "fork-context-ref": """
        agentId contextLength parentLastUuid parentSessionId type
    """,
    "last-prompt": """
        explicit lastPrompt leafUuid sessionId type
    """,
    "mode": """
        mode sessionId type
    """,
    "permission-mode": """
        permissionMode sessionId type
    """,
    "pr-link": """
        prNumber prRepository prUrl sessionId timestamp type
    """,
    "progress": """
        data parentToolUseID toolUseID
    """,
    "queue-operation": """
        content operation sessionId timestamp type
    """,
    "relocated": """
        relocatedCwd sessionId type
    """,
    "summary": """
        leafUuid summary type
    """,
    "system": """
        cause commandRun compactMetadata content contextUsage durationMs error hasOutput
        hookAdditionalContext hookCount hookErrors hookInfos level logicalParentUuid maxRetries
        messageCount microcompactMetadata pendingBackgroundAgentCount preventedContinuation retryAttempt
        retryInMs source stopReason subtype systemPayload toolUseID
    """,
    "tag": """
        sessionId tag type
    """,
    "tools-used": """
        sessionId tools type
    """,
    "user": """
        classifierMetaLines imagePasteIds interruptedMessageId isCompactSummary
        isVisibleInTranscriptOnly mcpCallNotReadOnly mcpMeta message origin permissionDecision
        permissionMode planContent promptSource queueSkipAttachments refusedMessageId sandboxed
        sourceToolAssistantUUID sourceToolUseID summarizedTurnPromptUuids systemPayload thinkingMetadata
        todos toolDenialKind toolEndsTurn toolUseResult turnCompanion turnOrigin turnPosition
    """,
    "worktree-state": """
        sessionId type worktreeSession
    """,
}

KNOWN_FIELDS: Final[dict[str, frozenset[str]]] = {
    kind: frozenset(names.split())
    | (_ROW if kind in ("user", "assistant", "system", "attachment", "progress") else frozenset())
    for kind, names in _OWN.items()
}
