"""Read the environment: where homes and our own folders are. Besides this module, only the faces read it.

Homes: what the caller names, else CLAUDE_CONFIG_DIR (several may be given, separated by commas), else ``~/.claude`` and
``~/.config/claude``. Our own folders: RECOLLECT_CONFIG_DIR, RECOLLECT_DATA_DIR, RECOLLECT_CACHE_DIR, else the platform's.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing and pathlib take a good part of the time that a search has
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_XDG = {
    "config": ("XDG_CONFIG_HOME", "~/.config"),
    "data": ("XDG_DATA_HOME", "~/.local/share"),
    "cache": ("XDG_CACHE_HOME", "~/.cache"),
}


def home_candidates(
    named: Sequence[str | os.PathLike[str]] = (), environ: Mapping[str, str] | None = None
) -> tuple[list[Path], bool]:
    """Return the folders that may be homes, and whether the user named them (then each must be a home)."""
    from pathlib import Path

    folders, are_named = home_folders(named, environ)
    return [Path(folder) for folder in folders], are_named


def home_folders(
    named: Sequence[str | os.PathLike[str]] = (), environ: Mapping[str, str] | None = None
) -> tuple[list[str], bool]:
    """Return what `home_candidates` does, as texts: importing pathlib would slow down the start."""
    env = os.environ if environ is None else environ
    if named:
        return [_expand(os.fspath(item)) for item in named], True
    listed = [part.strip() for part in env.get("CLAUDE_CONFIG_DIR", "").split(",") if part.strip()]
    if listed:
        return [_expand(part) for part in listed], True
    return [_expand("~/.claude"), _expand("~/.config/claude")], False


def own_folder(kind: str, environ: Mapping[str, str] | None = None) -> Path:
    """Return Recollect's own folder for "config", "data" or "cache"."""
    from pathlib import Path

    return Path(own_folder_name(kind, environ))


def own_folder_name(kind: str, environ: Mapping[str, str] | None = None) -> str:
    """Return the path of Recollect's own folder as text. Raises Refused if it lies inside a home."""
    folder = _own_folder_name(kind, environ)
    refuse_inside(folder, home_folders((), environ)[0])
    return folder


def refuse_inside(folder: str, homes: Sequence[str]) -> None:
    """Raise Refused if a folder of our own lies inside a home: Claude Code deletes there, and reading must not write."""
    real = os.path.realpath(folder)
    for home in homes:
        root = os.path.realpath(home)
        if (real == root or real.startswith(root + os.sep)) and os.path.isdir(root):
            from .errors import Refused

            raise Refused(
                f"Recollect's own folder {folder} lies inside of the Claude home {home}",
                hint="set RECOLLECT_DATA_DIR, RECOLLECT_CONFIG_DIR and RECOLLECT_CACHE_DIR to folders elsewhere",
                slug="own-folder-in-home",
            )


def _own_folder_name(kind: str, environ: Mapping[str, str] | None) -> str:
    env = os.environ if environ is None else environ
    named = env.get(f"RECOLLECT_{kind.upper()}_DIR")
    if named:
        return _expand(named)
    if sys.platform == "linux":  # the rule is short, importing it is not
        variable, usual = _XDG[kind]
        base = env.get(variable, "").strip()
        return os.path.join(base if os.path.isabs(base) else _expand(usual), "recollect")
    import platformdirs

    folders = {
        "config": platformdirs.user_config_dir,
        "data": platformdirs.user_data_dir,
        "cache": platformdirs.user_cache_dir,
    }
    return folders[kind]("recollect", appauthor=False)


def leave_out_current_folder() -> None:
    """Import no code and start no program from the current folder: it may be a cloned repository that nobody has read."""
    from .own_program import leave_out_current_folder as leave_out_its_code

    leave_out_its_code()
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(folder for folder in folders if os.path.isabs(folder))


def user_folder(kind: str | None = None, environ: Mapping[str, str] | None = None) -> Path:
    """Return the user's home folder; or with "config" or "data" the folder below it in which programs store that."""
    from pathlib import Path

    env = os.environ if environ is None else environ
    if kind is None:
        return Path(_expand("~"))
    variable, usual = _XDG[kind]
    return Path(env.get(variable) or _expand(usual))


def places_told(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what the environment says about our own folders, to pass it on to a program that a timer starts."""
    env = os.environ if environ is None else environ
    names = ("RECOLLECT_DATA_DIR", "RECOLLECT_CACHE_DIR", "RECOLLECT_CONFIG_DIR", "XDG_DATA_HOME", "XDG_CACHE_HOME")
    return {name: os.path.abspath(os.path.expanduser(env[name])) for name in names if env.get(name)}


def environment_in_english() -> dict[str, str]:
    """Return the environment for a program whose messages we parse."""
    return {**os.environ, "LC_ALL": "C"}


def current_session_id(environ: Mapping[str, str] | None = None) -> str | None:
    """Return the session in which Claude Code started this program; None outside of one."""
    env = os.environ if environ is None else environ
    return env.get("CLAUDE_CODE_SESSION_ID", "").strip() or None


def time_zone(environ: Mapping[str, str] | None = None) -> str | None:
    """Return the time zone that the user chose by name; None if it is the system's."""
    env = os.environ if environ is None else environ
    return env.get("TZ", "").removeprefix(":") or None


def machine_names(environ: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Return the names of this user and of this machine; empty where they are not known."""
    import socket

    env = os.environ if environ is None else environ
    user = next((env[name] for name in ("USER", "LOGNAME", "USERNAME") if env.get(name)), "")
    return user, socket.gethostname()


def font_folders(environ: Mapping[str, str] | None = None) -> list[Path]:
    """Return the folders in which this system has its fonts."""
    from pathlib import Path

    env = os.environ if environ is None else environ
    home = Path(_expand("~"))
    if sys.platform == "win32":
        local = env.get("LOCALAPPDATA")
        own = [Path(local) / "Microsoft" / "Windows" / "Fonts"] if local else []
        return [Path(env.get("SYSTEMROOT", r"C:\Windows")) / "Fonts", *own]
    if sys.platform == "darwin":
        return [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library" / "Fonts"]
    shared = [Path("/usr/share/fonts"), Path("/usr/local/share/fonts")]
    return [*shared, home / ".fonts", home / ".local" / "share" / "fonts"]


def _expand(text: str) -> str:
    expanded = os.path.expanduser(text)
    if os.path.isabs(expanded):
        return expanded
    try:
        return os.path.join(os.getcwd(), expanded)
    except FileNotFoundError:
        from .errors import NotFound

        raise NotFound(f"{text}: the current folder was deleted", slug="no-current-folder") from None
