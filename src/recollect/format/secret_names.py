"""Recognise files with secrets by their names: one rule for reading, writing, keeping and bundling. Imports nothing."""

from __future__ import annotations


def is_secret_file_name(name: str) -> bool:
    """Return whether a file of this name (without its folder) holds tokens or keys: it is never opened, copied or shown."""
    lowered = name.lower()
    return lowered.endswith((".key", ".pem")) or lowered.startswith(".credentials")
