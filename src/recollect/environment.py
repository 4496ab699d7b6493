"""The one place, besides the faces, that looks at the environment: where homes and our own folders are.

Homes: what the caller names, else CLAUDE_CONFIG_DIR (several may be given, separated by commas), else ``~/.claude`` and
``~/.config/claude``. Our own folders: RECOLLECT_CONFIG_DIR, RECOLLECT_DATA_DIR, RECOLLECT_CACHE_DIR, else the platform's.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path


def home_candidates(
    named: Sequence[str | os.PathLike[str]] = (), environ: Mapping[str, str] | None = None
) -> tuple[list[Path], bool]:
    """Folders to look at, and whether the user named them (then each must be a home)."""
    env = os.environ if environ is None else environ
    if named:
        return [_expand(os.fspath(item)) for item in named], True
    listed = [part.strip() for part in env.get("CLAUDE_CONFIG_DIR", "").split(",") if part.strip()]
    if listed:
        return [_expand(part) for part in listed], True
    user = Path.home()
    return [user / ".claude", user / ".config" / "claude"], False


def own_folder(kind: str, environ: Mapping[str, str] | None = None) -> Path:
    """Recollect's own folder for "config", "data" or "cache"."""
    env = os.environ if environ is None else environ
    named = env.get(f"RECOLLECT_{kind.upper()}_DIR")
    if named:
        return _expand(named)
    import platformdirs

    folders = {
        "config": platformdirs.user_config_path,
        "data": platformdirs.user_data_path,
        "cache": platformdirs.user_cache_path,
    }
    return folders[kind]("recollect", appauthor=False)


def _expand(text: str) -> Path:
    return Path(text).expanduser().absolute()
