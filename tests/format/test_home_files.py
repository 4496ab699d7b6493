from __future__ import annotations

import pytest

from recollect.format.home_files import FileKind, kind_of_file

SESSION = "6f2d0c1e-1111-4222-8333-444455556666"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (f"projects/-w/{SESSION}.jsonl", FileKind.TRANSCRIPT),
        ("projects/-w/agent-a753668.jsonl", FileKind.SUBAGENT_TRANSCRIPT),
        (f"projects/-w/{SESSION}/subagents/agent-a1.jsonl", FileKind.SUBAGENT_TRANSCRIPT),
        (f"projects/-w/{SESSION}/subagents/agent-a1.meta.json", FileKind.SUBAGENT_META),
        (f"projects/-w/{SESSION}/subagents/workflows/run/agent-a1.jsonl", FileKind.SUBAGENT_TRANSCRIPT),
        (f"projects/-w/{SESSION}/tool-results/b1.txt", FileKind.TOOL_RESULT),
        (f"projects/-w/{SESSION}/custom-title.json", FileKind.CUSTOM_TITLE),
        (f"projects/-w/{SESSION}/resume-head.jsonl", FileKind.RESUME_HEAD),
        ("projects/-w/memory/MEMORY.md", FileKind.MEMORY),
        ("projects/-w/sessions-index.json", FileKind.SESSIONS_INDEX),
        ("projects/-w/notes.txt", FileKind.UNKNOWN),
        (f"todos/{SESSION}.json", FileKind.TODOS),
        (f"tasks/{SESSION}/1.json", FileKind.TASK),
        ("plans/a.md", FileKind.PLAN),
        ("history.jsonl", FileKind.HISTORY),
        (f"file-history/{SESSION}/0123456789abcdef@v1", FileKind.FILE_BACKUP),
        ("sessions/77.json", FileKind.RUNNING_SESSION),
        ("sessions/77.abc.key", FileKind.SECRET),
        (".credentials.json", FileKind.SECRET),
        ("settings.local.json", FileKind.SETTINGS),
        (".claude.json", FileKind.CLIENT_CONFIG),
        (".claude.json.backup", FileKind.CONFIG_BACKUP),
        ("backups/.claude.json.backup.1772442000000", FileKind.CONFIG_BACKUP),
        ("skills/x/SKILL.md", FileKind.DEFINITION),
        ("statsig/statsig.stable_id.1", FileKind.STATSIG),
        ("telemetry/x", FileKind.CLIENT_STATE),
        ("what/is/this", FileKind.UNKNOWN),
        ("what-is-this", FileKind.UNKNOWN),
    ],
)
def test_kinds(path: str, kind: FileKind) -> None:
    assert kind_of_file(path.split("/")) is kind


def test_no_path() -> None:
    assert kind_of_file([]) is FileKind.UNKNOWN
