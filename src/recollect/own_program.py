"""Start this installation of Recollect again as a child process, without code from the current folder.

`python -m` puts the current folder first on `sys.path`: the `re.py` of a cloned repository would replace Python's own. So
every child gets an isolated interpreter (`-I`: no current folder, no PYTHON* variables, no user site) and the folders in which
this process found its own code.
"""

from __future__ import annotations

import os
import sys

_CHILD = "import sys,json;sys.path[:]=json.loads(sys.argv.pop(1));from {module} import main;main()"
_AGAIN = "import sys;sys.path[:0]={folders};from recollect.cli.entry import run;run()"
_LOOK = "import json,sys,importlib.util as u;s=u.find_spec('recollect');print(json.dumps([sys.path,s and s.origin]))"


def code_folders() -> list[str]:
    """List the folders of `sys.path` without the current one, unless Recollect or Python is installed in it."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        current = os.path.realpath(os.getcwd())
    except OSError:  # the folder was deleted: nothing can be imported from there
        current = ""
    found: list[str] = []
    for folder in [*sys.path, own]:
        if not isinstance(folder, str) or folder in found:
            continue
        is_current = not os.path.isabs(folder) or os.path.realpath(folder) == current
        if not is_current or _is_installation(folder, own):
            found.append(folder)
    return found


def _is_installation(folder: str, own: str) -> bool:
    site = sys.modules.get("site")
    folders = [own, os.path.dirname(os.__file__)]
    if site is not None:
        folders += [*site.getsitepackages(), site.getusersitepackages()]
    return os.path.isabs(folder) and os.path.realpath(folder) in map(os.path.realpath, folders)


def leave_out_current_folder() -> None:
    """Import nothing more from the current folder in this process."""
    sys.path[:] = code_folders()


def child_command(module: str) -> list[str]:
    """Return the command that runs `main()` of a module of Recollect in an isolated process."""
    import json

    return [sys.executable, "-I", "-S", "-c", _CHILD.format(module=module), json.dumps(code_folders())]


def own_command() -> list[str]:
    """Return the command that starts this installation of Recollect from any folder, whatever PATH and PYTHONPATH are."""
    import json
    import subprocess

    asked = subprocess.run([sys.executable, "-I", "-c", _LOOK], capture_output=True, check=False)
    isolated, origin = json.loads(asked.stdout) if asked.returncode == 0 else ([], None)
    if origin is not None and os.path.realpath(os.path.dirname(origin)) == os.path.dirname(os.path.realpath(__file__)):
        return [sys.executable, "-I", "-m", "recollect"]
    missing = [folder for folder in code_folders() if folder not in isolated]
    return [sys.executable, "-I", "-c", _AGAIN.format(folders=ascii(missing))]
