"""A tool call in one line: what it was asked to do."""

from __future__ import annotations

from typing import Any

from ..library.wording import argument_line as _line


def call_line(name: str, arguments: Any, width: int = 100) -> str:
    """``Bash  ls -la``, ``Read  src/app.py``"""
    return f"{name}  {argument_line(arguments, width)}".rstrip()


def argument_line(arguments: Any, width: int = 100) -> str:
    return _line(arguments, width)
