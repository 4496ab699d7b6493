"""Ids, signatures and pictures are left alone; what a tool was given or said is not."""

from __future__ import annotations

import pytest

from recollect.secrets.untouched import is_untouched

PICTURE = "iVBORw0KGgoAAAANSUhEUgAA" * 20


@pytest.mark.parametrize(
    ("pointer", "text"),
    [
        ("/uuid", "x"),
        ("/message/id", "msg_01"),
        ("/message/content/0/id", "toolu_01"),
        ("/message/content/0/tool_use_id", "toolu_01"),
        ("/message/content/0/signature", "EqQB"),
        ("/sourceToolAssistantUUID", "x"),
        ("/message/content/0/source/data", PICTURE),
        ("/message/content/0/source/data", PICTURE + "=\n"),
        ("/message/content/0/data", PICTURE),
        ("/toolUseResult/file/base64", PICTURE),
        ("/toolUseResult/0/data", "data:image/png;base64," + PICTURE),
        ("/toolUseResult/agentId", "a123"),
    ],
)
def test_untouched(pointer: str, text: str) -> None:
    assert is_untouched(pointer, text)


@pytest.mark.parametrize(
    ("pointer", "text"),
    [
        ("", "text"),
        ("/message/content", "text"),
        ("/message/content/0/input/id", "sk-something"),
        ("/message/content/0/input/model", "a text"),
        ("/toolUseResult/version", "a text"),
        ("/toolUseResult/structuredContent/type", "a text"),
        ("/message/content/0/source/data", "A document of plain text. " * 20),
        ("/message/content/0/source/data", PICTURE + " and words"),
        ("/message/content/0/input/data", "short"),
        ("/cwd", "/home/ada"),
    ],
)
def test_searched(pointer: str, text: str) -> None:
    assert not is_untouched(pointer, text)
