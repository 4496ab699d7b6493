"""Recollect keeps every conversation you had with your coding agent, and lets you use it.

    import recollect

    library = recollect.open()                  # or recollect.open("/path/to/.claude")
    for summary in library.sessions():
        print(summary.session_id, summary.title)
    session = library.session("last")
    for message in session.messages(limit=20):
        print(message.role, message.text)

Reading never changes anything. Names are imported when they are first used, so `import recollect` is fast.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself would take a third of the time that `recollect --help` has
if TYPE_CHECKING:
    import os
    from typing import Any

    from .errors import (
        DamagedData as DamagedData,
    )
    from .errors import (
        NotFound as NotFound,
    )
    from .errors import (
        QueryError as QueryError,
    )
    from .errors import (
        RecollectError as RecollectError,
    )
    from .errors import (
        Refused as Refused,
    )
    from .errors import (
        StoreBusy as StoreBusy,
    )
    from .errors import (
        Unavailable as Unavailable,
    )
    from .format.line import Damage as Damage
    from .format.line import RawLine as RawLine
    from .graph.messages import MessageView as MessageView
    from .graph.session import Conversation as Conversation
    from .graph.thread import Thread as Thread
    from .library.bookmarks import Bookmark as Bookmark
    from .library.library import Library as Library
    from .library.library import Project as Project
    from .library.plan import Committed as Committed
    from .library.plan import Plan as Plan
    from .library.provider import ChatMessage as ChatMessage
    from .library.provider import ClaudeStorageProvider as ClaudeStorageProvider
    from .library.reading import Reading as Reading
    from .library.redaction import redact_text as redact_text
    from .library.repository import LibrarySessionRepository as LibrarySessionRepository
    from .library.repository import SessionFilter as SessionFilter
    from .library.repository import SessionRepository as SessionRepository
    from .library.session import Session as Session
    from .library.shapes import BranchShape as BranchShape
    from .library.shapes import SubagentShape as SubagentShape
    from .library.shapes import ToolCallShape as ToolCallShape
    from .library.side_files import PlanDocument as PlanDocument
    from .library.side_files import TodoItem as TodoItem
    from .library.side_files import TypedPrompt as TypedPrompt
    from .library.touched_files import TouchedFiles as TouchedFiles
    from .library.watching import BudgetReached as BudgetReached
    from .library.watching import Compacted as Compacted
    from .library.watching import EntryAdded as EntryAdded
    from .library.watching import LineDamaged as LineDamaged
    from .library.watching import MessageAdded as MessageAdded
    from .library.watching import SessionEnded as SessionEnded
    from .library.watching import SessionEvent as SessionEvent
    from .library.watching import SessionStarted as SessionStarted
    from .library.watching import SubagentStarted as SubagentStarted
    from .library.watching import TitleChanged as TitleChanged
    from .library.watching import ToolFinished as ToolFinished
    from .library.watching import ToolStarted as ToolStarted
    from .library.watching import Watching as Watching
    from .secrets.redact import Redacted as Redacted
    from .secrets.redact import Redaction as Redaction
    from .secrets.redact import Redactor as Redactor
    from .store.home import Home as Home
    from .store.summary import SessionSummary as SessionSummary
    from .stores.folder import FolderSessionStore as FolderSessionStore
    from .stores.memory import MemorySessionStore as MemorySessionStore
    from .stores.sqlite import SqliteSessionStore as SqliteSessionStore

__version__ = "0.2.0"

_HOMES_OF_NAMES = {
    "DamagedData": "errors",
    "NotFound": "errors",
    "QueryError": "errors",
    "RecollectError": "errors",
    "Refused": "errors",
    "StoreBusy": "errors",
    "Unavailable": "errors",
    "Damage": "format.line",
    "RawLine": "format.line",
    "Conversation": "graph.session",
    "Thread": "graph.thread",
    "Library": "library.library",
    "LibrarySessionRepository": "library.repository",
    "Project": "library.library",
    "ChatMessage": "library.provider",
    "ClaudeStorageProvider": "library.provider",
    "FolderSessionStore": "stores.folder",
    "MemorySessionStore": "stores.memory",
    "SqliteSessionStore": "stores.sqlite",
    "SessionFilter": "library.repository",
    "SessionRepository": "library.repository",
    "MessageView": "graph.messages",
    "Session": "library.session",
    "SessionEvent": "library.watching",
    "Watching": "library.watching",
    "Bookmark": "library.bookmarks",
    "Committed": "library.plan",
    "Plan": "library.plan",
    "PlanDocument": "library.side_files",
    "Reading": "library.reading",
    "Redacted": "secrets.redact",
    "Redaction": "secrets.redact",
    "Redactor": "secrets.redact",
    "redact_text": "library.redaction",
    "TodoItem": "library.side_files",
    "TouchedFiles": "library.touched_files",
    "TypedPrompt": "library.side_files",
    "ToolCallShape": "library.shapes",
    "BranchShape": "library.shapes",
    "SubagentShape": "library.shapes",
    "BudgetReached": "library.watching",
    "Compacted": "library.watching",
    "EntryAdded": "library.watching",
    "LineDamaged": "library.watching",
    "MessageAdded": "library.watching",
    "SessionEnded": "library.watching",
    "SessionStarted": "library.watching",
    "SubagentStarted": "library.watching",
    "TitleChanged": "library.watching",
    "ToolFinished": "library.watching",
    "ToolStarted": "library.watching",
    "Home": "store.home",
    "SessionSummary": "store.summary",
}

__all__ = ["__version__", "open", *_HOMES_OF_NAMES]


def open(home: str | os.PathLike[str] | None = None) -> Library:
    """Open a Claude home, or without an argument the usual ones (CLAUDE_CONFIG_DIR, ~/.claude, ~/.config/claude)."""
    from .library.library import open_library

    return open_library([] if home is None else [home])


def __getattr__(name: str) -> Any:
    if name in _HOMES_OF_NAMES:
        import importlib

        return getattr(importlib.import_module(f".{_HOMES_OF_NAMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
