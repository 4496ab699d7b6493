"""Move a project: rename its folder below `projects/` after the new path, and update every place that names the old one.

    change, result = plan_move(journal, home, "/old/app", "/new/app")
    with change:
        change.commit()

What follows: the project's sessions with subagents, long outputs, titles and memory; those of its sub-directories and
worktrees; `relocated` and `worktree-state` lines at the end of each session (its time stays, so `--continue` picks what it
picked); paths inside transcripts that must be right to work (see path_references.py); `history.jsonl`; the projects of
`.claude.json`; plugins installed for the project; backups in `file-history/`. Todos, tasks, plans, logs and pastes are
named by session and stay. Nothing is ever overwritten. The project's own folder is not touched: move it yourself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..errors import NotFound, RecollectError, Refused
from ..format.encode import encode_line
from ..format.file_history import parse_backup_name
from ..format.json_edit import apply_edits
from ..format.path_text import project_key
from ..journal.changes import Change, Journal
from ..journal.guard import refuse_if_busy
from ..store.home import Home, list_inside, read_inside
from ..store.layout import TOOL_RESULTS, backups_folder
from ..store.liveness import refuse_shared_file, refuse_work_in
from ..store.path_map import PathMap, path_map
from ..store.project_folders import MovingFolder, MovingSession, Owned, owned_folders, survey
from .config_paths import INDEX, config_problem, history_edits, moved_config, plugin_edits, project_paths
from .move_steps import MovingChange, MovingIndexes, Placing, has_files
from .path_references import Context, readable, relocated, scan_transcript, subagent_meta_edits, with_edits

_READ_BY_PEOPLE = ("settings.json", "settings.local.json", "CLAUDE.md")


@dataclass
class MoveResult:
    """What a move does, in numbers and names."""

    pairs: list[tuple[str, str]] = field(default_factory=list)
    folders: list[tuple[str, str]] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    transcripts_edited: int = 0
    paths_edited: int = 0
    backups_renamed: int = 0
    history_lines: int = 0
    config_projects: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def plan_move(
    journal: Journal,
    home: Home,
    old: str,
    new: str,
    *,
    maps: Sequence[tuple[str, str]] = (),
    merge: bool = False,
    force: bool = False,
) -> tuple[Change, MoveResult]:
    """Plan to move the project at `old`, and all below it, to `new`.

    `maps` are further pairs of paths, for a home that came from another machine. Raises Refused if something is in the
    way, and StoreBusy if a session is open.
    """
    paths = path_map([(old, new), *maps])
    title = f"Move {old} to {new}" + (f" (and {len(maps)} more paths)" if maps else "")
    return build_move(journal, home, "move", title, paths, merge=merge, force=force)


def build_move(
    journal: Journal,
    home: Home,
    name: str,
    title: str,
    paths: PathMap,
    *,
    merge: bool = False,
    force: bool = False,
    owned: dict[str, Owned] | None = None,
    name_for: Callable[[str], str] = project_key,
) -> tuple[Change, MoveResult]:
    """Plan a move with the choices that `plan_split` makes: which sessions move, and the names of their folders."""
    change = MovingChange(journal, home, name, title)
    try:
        planner = _Planner(change, journal, paths, merge, force)
        planner.plan(owned_folders(home) if owned is None else owned, name_for)
    except BaseException:
        change.__exit__()
        raise
    return change, planner.result


class _Planner:
    def __init__(self, change: MovingChange, journal: Journal, paths: PathMap, merge: bool, force: bool) -> None:
        self.change = change
        self.home = change.home
        self.journal = journal
        self.paths = paths
        self.merge = merge
        self.force = force
        self.placing = Placing(change, project_key(paths.olds[0]).strip("-")[-40:] or "elsewhere")
        self.indexes = MovingIndexes(self.placing, paths)
        self.result = MoveResult(pairs=list(paths.pairs))
        self._outputs: dict[tuple[str, str], Path] = {}
        """Long outputs in the folders that move, by session and name: where they will be."""
        self._dropped: set[Path] = set()
        self._followed: set[Path] = set()
        self._backups_seen: set[Path] = set()
        self._staying: set[str] = set()
        """Ids of sessions that have a copy which stays where it is."""

    def plan(self, owned: dict[str, Owned], name_for: Callable[[str], str]) -> None:
        config = self._read(self.home.config_file)
        moving = survey(self.home, owned, self.paths, project_paths(config or b""), name_for)
        leaving = [session for folder in moving for session in folder.sessions]
        self._refuse_running(leaving)
        places = {session.file.path for session in leaving}
        known = [session.file for folder in owned.values() for session in folder.sessions]
        self._staying = {file.session_id for file in known if file.path not in places}
        _refuse_taking_turns(moving)
        for folder in moving:
            self._move_folder(folder)
        self.indexes.write()
        self.placing.refuse_clashes("cannot merge")
        for folder in moving:
            self._note_outputs(folder)
        for folder in moving:
            for session in folder.sessions:
                self._follow(session)
        self._move_history()
        self._move_config(config)
        self._move_plugins()
        if not self.change.steps:
            raise NotFound(
                f"nothing in {self.home.root} is about {', '.join(self.paths.olds)}",
                hint="`recollect list` shows the project of every session", slug="no-such-project",
            )  # fmt: skip
        self.result.notes += [f"{path} keeps its place beside another one" for path in self.placing.renamed]
        if any("/.claude/worktrees/" in (session.project or "") for folder in moving for session in folder.sessions):
            self.result.notes.append(
                "git worktrees hold absolute paths too: run `git worktree repair` in the new folder"
            )
        self._note_mentions()

    # --- what forbids it ----------------------------------------------------------------------------------------------

    def _refuse_running(self, sessions: list[MovingSession]) -> None:
        for session in sessions:
            refuse_if_busy(self.home, session.session_id, session.file.path, self.journal, rewrite=True)
        refuse_work_in(self.home, self.paths.is_change)

    # --- folders ------------------------------------------------------------------------------------------------------

    def _move_folder(self, folder: MovingFolder) -> None:
        self.result.sessions += [session.session_id for session in folder.sessions]
        source, target = folder.source, folder.target
        if source == target:
            there_already = next(
                (item.new_project for item in folder.sessions if item.new_project in folder.stay), None
            )
            if there_already is not None and not self.merge:
                raise Refused(
                    f"{source.name} holds sessions of {there_already} already",
                    hint="use --merge to put the sessions of both together", slug="exists",
                )  # fmt: skip
            self.indexes.along(folder)
            return
        self.result.folders.append((source.name, target.name))
        if folder.stay:
            shown = ", ".join(folder.stay)
            self.result.notes.append(f"{source.name} also holds sessions of {shown}: they stay, memory is copied")
        _refuse_strange_target(source, target)
        there = self.placing.existing(target)
        if there is None and folder.whole:
            self.placing.put(source, target)
            self.indexes.along(folder)
            return
        if there is not None and has_files(there) and not self.merge:
            in_the_way = f"{target} exists already and is not empty"
            if there != target:
                in_the_way = f"{there.name} and {source.name} would both become {target.name}"
            raise Refused(in_the_way, hint="use --merge to put the sessions of both together", slug="exists")
        self.indexes.over(folder)
        if folder.whole:
            self.placing.put_content(source, target, skip=(INDEX,))
            self.change.remove_folder(source)
        else:
            self._move_sessions(folder)

    def _move_sessions(self, folder: MovingFolder) -> None:
        """Move some sessions out of a folder in which others stay."""
        for session in folder.sessions:
            name = session.session_id
            own = [path for path in list_inside(self.home, folder.source) if path.name.startswith(f"{name}.")]
            for path in [*own, session.file.session_folder, *session.beside]:
                if path.exists() or path.is_symlink():
                    self.placing.put(path, folder.target / path.name)
        memory = folder.source / "memory"
        for path in sorted(memory.rglob("*")) if memory.is_dir() and not memory.is_symlink() else []:
            if path.is_file() and not path.is_symlink():
                self.placing.copy(path, folder.target / path.relative_to(folder.source))

    # --- what is in the files -----------------------------------------------------------------------------------------

    def _follow(self, session: MovingSession) -> None:
        """Update the paths in the session's own files."""
        file = session.file
        names = frozenset(path.name for path in list_inside(self.home, self._backups(session)))
        folders = dict.fromkeys([*([session.project] if session.project else []), *session.folders])
        context = Context(self.paths, self._outputs, tuple(folders), names)
        for path in [file.path, *session.subagents]:
            self._follow_transcript(session, path, context)
        for path in session.subagents:
            meta = path.with_suffix(".meta.json")
            now, then = self.placing.place_of(meta)
            if then in self._followed:
                continue
            self._followed.add(then)
            data = self._read(now)
            edits = subagent_meta_edits(data, self.paths) if data is not None else []
            if data is not None and edits:
                self.result.paths_edited += len(edits)
                self.placing.rewrite(meta, [apply_edits(data, edits)])

    def _follow_transcript(self, session: MovingSession, path: Path, context: Context) -> None:
        now, then = self.placing.place_of(path)
        if then in self._followed:  # two copies of one file become one
            return
        self._followed.add(then)
        if not readable(self.home, now):
            self.result.notes.append(f"{path} cannot be read and is moved as it is")
            return
        scanned = scan_transcript(self.home, now, context)
        tail = b""
        if path == session.file.path and now.stat().st_size:
            if session.new_project is not None and session.new_project != session.project:
                tail += encode_line(relocated(session.session_id, session.new_project))
            if scanned.worktree is not None:
                tail += encode_line(scanned.worktree)
        if scanned.edits:
            self.result.transcripts_edited += 1
            self.result.paths_edited += len(scanned.edits)
            self.placing.rewrite(path, with_edits(self.home, now, scanned.edits, tail))
            self._drop_resume_head(session)
        elif tail:
            self.placing.append(path, tail)
        self._rename_backups(session, context, scanned.backups)

    def _drop_resume_head(self, session: MovingSession) -> None:
        """Remove Claude Code's cache for a quick resume, which holds byte offsets; it is made again."""
        path = session.file.session_folder / "resume-head.jsonl"
        if path not in self._dropped and self.placing.place_of(path)[0].exists():
            self._dropped.add(path)
            self.placing.remove(path)

    def _rename_backups(self, session: MovingSession, context: Context, hashes: dict[str, str]) -> None:
        folder = self._backups(session)
        for name in sorted(context.backups):
            parsed = parse_backup_name(name)
            if parsed is None or parsed.path_hash not in hashes or folder / name in self._backups_seen:
                continue  # several files of a session may name the same backup
            self._backups_seen.add(folder / name)
            target = folder / f"{hashes[parsed.path_hash]}@v{parsed.version}"
            if session.session_id in self._staying:  # a copy of the session goes on naming it as it is
                self.placing.copy(folder / name, target)
            else:
                self.change.move(folder / name, target)
            self.result.backups_renamed += 1

    def _backups(self, session: MovingSession) -> Path:
        return backups_folder(self.home.root, session.session_id)

    def _note_outputs(self, folder: MovingFolder) -> None:
        for place in (folder.target, folder.source):
            for results in sorted(place.glob(f"*/{TOOL_RESULTS}")):
                for path in list_inside(self.home, results):
                    self._outputs[(results.parent.name, path.name)] = self.placing.place_of(path)[1]

    # --- what is in the home ------------------------------------------------------------------------------------------

    def _move_history(self) -> None:
        path = self.home.root / "history.jsonl"
        if not path.is_file():
            return
        try:
            edits, left = history_edits(self.home, path, self.paths)
        except (RecollectError, OSError) as problem:
            self.result.notes.append(f"history.jsonl is left as it is: {problem}")
            return
        if left:
            lines = "one damaged line keeps" if left == 1 else f"{left} damaged lines keep"
            self.result.notes.append(f"history.jsonl: {lines} the old path")
        if edits:
            refuse_shared_file(self.home, path, force=self.force)
            self.result.history_lines = len(edits)
            self.change.write(path, with_edits(self.home, path, edits), replace=True)

    def _move_config(self, data: bytes | None) -> None:
        if data is None or all(old == new for old, new in self.paths.pairs):
            return
        problem = config_problem(data)
        if problem is not None:
            self.result.notes.append(f"{self.home.config_file} is left as it is: {problem}")
            return
        changed = moved_config(data, self.paths)
        if changed is None:
            return
        refuse_shared_file(self.home, self.home.config_file, force=self.force)
        self.result.config_projects = list(changed.renamed)
        self.result.notes += [
            f"{self.home.config_file.name}: two entries of {key} become one" for key in changed.merged
        ]
        self.change.write(self.home.config_file, [changed.data], replace=True)

    def _move_plugins(self) -> None:
        path = self.home.root / "plugins" / "installed_plugins.json"
        data = self._read(path)
        edits = plugin_edits(data, self.paths) if data is not None else []
        if data is not None and edits:
            self.result.paths_edited += len(edits)
            self.change.write(path, [apply_edits(data, edits)], replace=True)

    def _note_mentions(self) -> None:
        """Note the files written by people that name the old path. They are listed, not changed."""
        for name in _READ_BY_PEOPLE:
            data = self._read(self.home.root / name)
            if data is not None and any(old.encode("utf-8", "surrogatepass") in data for old in self.paths.olds):
                self.result.notes.append(f"{name} names the old path; it is yours to change")

    def _read(self, path: Path) -> bytes | None:
        if not path.exists():
            return None
        try:
            return read_inside(self.home, path)
        except (RecollectError, OSError) as problem:
            self.result.notes.append(f"{path} is left as it is: {problem}")
            return None


def _refuse_taking_turns(moving: list[MovingFolder]) -> None:
    """Raise Refused if a path is both the source and the target of moves: each step would have to wait for another."""
    leaving = {folder.source for folder in moving if folder.whole and folder.source != folder.target}
    for folder in moving:
        if folder.target in leaving and folder.target != folder.source:
            raise Refused(
                f"{folder.source.name} would move to the place that {folder.target.name} leaves in the same move",
                hint="move it to a path of which there is nothing first, and from there to the one you want",
                slug="taking-turns",
            )  # fmt: skip


def _refuse_strange_target(source: Path, target: Path) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise Refused(f"{target} is not a folder of sessions", slug="exists")
    if target.exists() and target.samefile(source):
        raise Refused(
            f"this file system takes {source.name} and {target.name} for the same name",
            hint="move to another path first, and from there to the one you want", slug="same-name",
        )  # fmt: skip
