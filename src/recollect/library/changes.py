"""Plan every change that Recollect can make to a home, one method each: `library.changes`.

A method reads the home, refuses what cannot be done, and returns a `Plan`; nothing is written before `plan.commit()`. A
session is given as a `Session`, or as people name one: an id, the start of one, a title, `last`.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DamagedData, NotFound, Refused
from ..export.formatting import plural
from ..format.encode import check_message, check_text
from ..format.versions import parse_version
from ..journal.changes import Change, Journal, Record
from ..store.home import Home
from ..store.layout import is_session_id
from ..store.path_map import is_windows_path, parse_pair
from ..store.scan import SessionFile, refuse_taken_id
from .locate import home_with, message_uuid
from .plan import (
    Committed,
    Plan,
    came_along,
    deleted,
    fork_data,
    moved,
    repair_data,
    restored,
    share_words,
    undo_command,
    what_older_versions_need,
)
from .project_paths import refuse_missing_folder
from .session import Session
from .writing import session_writer

if TYPE_CHECKING:
    from ..edit.append import SessionWriter
    from ..secrets.mask import Progress as MaskProgress
    from ..secrets.values import SecretValue
    from ..store.file_contents import FileState as FileState
    from ..vault.vault import Vault
    from .library import Library
    from .masking import MaskPlan
    from .pruning import PruneRules
    from .restoring import RestoreRequest


class Changes:
    """Plans changes to a library's homes, lists the changes in the journal, and undoes them."""

    def __init__(self, library: Library, journal: Journal) -> None:
        self.library = library
        self.journal = journal

    # --- one session --------------------------------------------------------------------------------------------------

    def rename(self, session: str | Session, title: str, *, force: bool = False) -> Plan:
        """Give a session a title, which Claude Code shows too. The file keeps its modification time."""
        from ..edit.state_lines import plan_rename, title_words

        found = self.session(session)
        words = title_words(title)
        change = plan_rename(self.journal, found.file, title, force=force)
        result = {"session_id": found.id, "title": words}
        return Plan(change, result, f"{found.id} is now called {words!r}", session_id=found.id)

    def tag(self, session: str | Session, text: str | None, *, force: bool = False) -> Plan:
        """Tag a session, or remove its tag (None). A session has one tag."""
        from ..edit.state_lines import plan_tag

        found = self.session(session)
        change = plan_tag(self.journal, found.file, text, force=force)
        words = None if text is None else " ".join(text.split())
        said = f"{found.id} has no tag now" if words is None else f"{found.id} is tagged {words!r}"
        return Plan(change, {"session_id": found.id, "tag": words}, said, session_id=found.id)

    def archive(self, session: str | Session, *, title: str | None = None, force: bool = False) -> Plan:
        """Mark a session as archived with a tag, and give it a last title if one is given."""
        from ..edit.state_lines import ARCHIVED, plan_archive

        found = self.session(session)
        change = plan_archive(self.journal, found.file, title, force=force)
        result = {"session_id": found.id, "tag": ARCHIVED, "title": title}
        return Plan(change, result, f"{found.id} is archived", session_id=found.id)

    def unarchive(self, session: str | Session, *, title: str | None = None, force: bool = False) -> Plan:
        """Remove the archive mark of a session: the tag it had before becomes its tag again."""
        from ..edit.state_lines import plan_unarchive

        found = self.session(session)
        change, tag = plan_unarchive(self.journal, found.file, title, force=force)
        result = {"session_id": found.id, "tag": tag, "title": title}
        return Plan(change, result, f"{found.id} is no longer archived", session_id=found.id)

    def rewind(self, session: str | Session, message: str, *, force: bool = False) -> Plan:
        """Make a session continue from a message at the next resume. What came after the message stays as a branch."""
        from ..edit.state_lines import plan_rewind

        found = self.session(session)
        change, leaf = plan_rewind(self.journal, found.file, message_uuid(found, message), force=force)
        result = {"session_id": found.id, "leaf": leaf, "was": found.thread.leaf}
        note = "Claude Code before 2.1.70 (2.0.77, for example) ignores a rewind; `recollect fork --at` serves it, too"
        return Plan(change, result, f"{found.id} now goes on from {leaf}", [note], found.id)

    def fork(
        self,
        session: str | Session,
        *,
        at: str | None = None,
        branch: int | None = None,
        title: str | None = None,
        keep_uuids: bool = False,
        with_subagents: bool = True,
        with_tool_results: bool = True,
        with_file_history: bool = True,
    ) -> Plan:
        """Make a new session from a conversation: all of it, up to a message (`at`), or one of its branches.

        The original session is only read, so it may be in use. `result["session_id"]` is the id of the new session.
        """
        from ..edit.fork import plan_fork

        if at is not None and branch is not None:
            raise Refused("give a message or a branch, not both", slug="bad-fork")
        found = self._named(session)
        # A whole uuid is looked for while the fork is planned, so that the session is read once.
        end = at if at is None or is_session_id(at) else message_uuid(found, at)
        change, result = plan_fork(
            self.journal, found.file, at=end, branch=branch, keep_uuids=keep_uuids, title=title, with_subagents=with_subagents,
            with_tool_results=with_tool_results, with_file_history=with_file_history,
        )  # fmt: skip
        said = f"{result.title!r}: {result.messages:,} messages{came_along(result)}"
        return Plan(change, fork_data(result), said, session_id=result.session_id)

    def append(
        self, session: str | Session, role: str, text: str, *, model: str | None = None, force: bool = False
    ) -> Plan:
        """Append a message that Claude Code resumes with. `result["uuid"]` is the message's uuid once it is written."""
        found = self.session(session)
        check_text(text)
        check_message(text)
        return _AppendPlan(found, self.journal, role, text, model, force)

    def new(self, project: str, *, title: str | None = None, session_id: str | None = None) -> Plan:
        """Create an empty session in a project's folder. Claude Code can resume it once it has a message."""
        from ..edit.append import plan_new_session
        from ..edit.state_lines import title_words

        ident = str(uuid.uuid4()) if session_id is None else session_id
        for home in self.library.homes:
            refuse_taken_id(home, ident)
        words = None if title is None else title_words(title)
        cwd = path_as_it_will_be(project)
        refuse_missing_folder(cwd)
        change, path = plan_new_session(self.journal, self.library.homes[0], cwd, ident, title=words)
        note = "it is empty: `recollect append` gives it the first message, with which Claude Code resumes it"
        return Plan(change, {"session_id": ident, "path": str(path), "project": cwd}, ident, [note], ident)

    def repair(self, session: str | Session | SessionFile, *, rules: Sequence[str] = (), fork: bool = False) -> Plan:
        """Repair a session with the fewest changes after which Claude Code resumes with everything that is readable.

        A plan without steps means that nothing has to be repaired. With `fork`, a repaired copy is made.
        """
        from ..edit.repair.plan import plan_repair

        file = session if isinstance(session, SessionFile) else self.session(session).file
        change, result = plan_repair(self.journal, file, rules=rules, fork=fork)
        data = repair_data(result)
        said = f"{result.session_id}: {share_words(result.before)} -> {share_words(result.after)}"
        if not result.changes_something:
            change.__exit__()
            nothing = f"{result.session_id}: nothing to repair ({share_words(result.before)})"
            return Plan(None, data, nothing, what_older_versions_need(result), result.session_id)
        return Plan(change, data, said, session_id=result.fork or result.session_id, destructive=not fork)

    def sessions_to_repair(
        self, session: str | None = None, *, project: str | None = None, rules: Sequence[str] = ()
    ) -> Iterator[SessionFile]:
        """Find the sessions to plan a repair for: one with its copies in other project folders, else every damaged one.

        A path to a transcript means that file alone. Of a project, or of all sessions, only those are returned in which a
        check finds something that a repair could fix: a check is much cheaper than planning a repair.
        """
        from .checking import copies_to_repair, files_of, needs_repair

        if session is not None:
            yield from self._copies_of(session)
            return
        files = files_of(self.library, None, project)
        copies = copies_to_repair(files)
        yield from (file for file in files if file.path in copies or needs_repair(file, rules))

    def _copies_of(self, reference: str) -> list[SessionFile]:
        found = self.session(reference).file
        if reference.endswith(".jsonl"):
            return [found]
        same = [
            file for file in self.library.files() if file.session_id == found.session_id and file.home == found.home
        ]
        return [found, *(file for file in same if file.path != found.path)]

    def repair_home_files(self, home: Home, *, force: bool = False) -> Plan:
        """Repair the files that belong to no session: the global config, and Claude Code's own lists of sessions."""
        from ..edit.repair.home_files import plan_home_repair

        scan = next(scan for each, scan in self.library.scans if each is home)
        change, result = plan_home_repair(self.journal, home, scan, force=force)
        data = {"home": str(home.root), "done": result.done, "left": result.left}
        if not change.describe():
            change.__exit__()
            return Plan(None, data, f"{home.root}: nothing to repair")
        return Plan(change, data, "; ".join(result.done), destructive=True)

    def migrate(self, session: str | Session | SessionFile, *, to: str) -> Plan:
        """Convert a session to the layout of a newer Claude Code, version `to`. No steps: nothing to convert."""
        from ..edit.migrate import plan_migrate

        file = session if isinstance(session, SessionFile) else self.session(session).file
        change, result = plan_migrate(self.journal, file, to=to)
        taken = [{"name": item.name, "description": item.description, "places": item.places} for item in result.steps]
        data = {"session_id": result.session_id, "path": str(result.path), "steps_taken": taken}
        if not result.changes_something:
            change.__exit__()
            return Plan(None, data, f"{result.session_id}: nothing to convert", session_id=result.session_id)
        said = f"{result.session_id}: {plural(len(taken), 'step')}"
        return Plan(change, data, said, session_id=result.session_id, destructive=True)

    # --- to-do lists and tasks ----------------------------------------------------------------------------------------

    def todo(
        self,
        session: str | Session,
        action: str,
        what: str,
        status: str | None = None,
        *,
        subagent: str | None = None,
        kind: str | None = None,
        force: bool = False,
    ) -> Plan:
        """Add an item (`what` is its text), set the state of item number `what`, or remove that item.

        `kind` is todos or tasks; by default the one that the session's version of Claude Code uses.
        """
        from ..edit.todo_changes import TASKS_SINCE

        found = self.session(session)
        if subagent is not None:
            _refuse_unknown_subagent(found, subagent)
        version = parse_version(found.summary.version)
        chosen = kind or ("tasks" if (version or TASKS_SINCE) >= TASKS_SINCE and subagent is None else "todos")
        if chosen == "tasks":
            change, ident, warnings = self._task(found, action, what, status, force)
        else:
            change, ident, warnings = self._todo(found, action, what, status, subagent, force)
        result = {"session_id": found.id, "kind": chosen, "id": ident, "status": status, "warnings": warnings}
        return Plan(change, result, f"{change.title}: done", warnings, found.id)

    def _task(
        self, found: Session, action: str, what: str, status: str | None, force: bool
    ) -> tuple[Change, str, list[str]]:
        from ..edit.todo_changes import plan_add_task, plan_remove_task, plan_set_task

        if action == "add":
            change, ident = plan_add_task(self.journal, found.home, found.id, what, force=force)
            return change, ident, []
        if action == "set":
            change, warnings = plan_set_task(self.journal, found.home, found.id, what, status or "", force=force)
        else:
            change, warnings = plan_remove_task(self.journal, found.home, found.id, what, force=force)
        return change, what, warnings

    def _todo(
        self, found: Session, action: str, what: str, status: str | None, subagent: str | None, force: bool
    ) -> tuple[Change, str, list[str]]:
        from ..edit.todo_changes import plan_save_todos, read_todos

        version = found.summary.version
        items = read_todos(found.home, found.id, subagent, version)
        if action == "add":
            items.append({"content": what, "status": "pending", "activeForm": what})
            ident = str(len(items))
        else:
            place = int(what) - 1 if what.isascii() and what.isdigit() and len(what) <= 18 else -1
            if not 0 <= place < len(items):
                raise NotFound(f"the list has no item {what[:40]}", hint=f"it has {len(items)}", slug="no-such-task")
            ident = what
            if action == "set":
                items[place] = {**items[place], "status": status}
            else:
                del items[place]
        change, warnings = plan_save_todos(
            self.journal, found.home, found.id, items, subagent_id=subagent, version=version, force=force
        )
        return change, ident, warnings

    def save_todos(
        self,
        session_id: str,
        items: Sequence[Mapping[str, Any]],
        *,
        subagent: str | None = None,
        version: str | None = None,
        force: bool = False,
    ) -> Plan:
        """Replace the whole to-do list of a session or of one of its subagents."""
        from ..edit.todo_changes import plan_save_todos

        home = home_with(self.library, session_id, hint=_WHICH_HOME) or self.library.homes[0]
        change, warnings = plan_save_todos(
            self.journal, home, session_id, items, subagent_id=subagent, version=version, force=force
        )
        result = {"session_id": session_id, "kind": "todos", "warnings": warnings}
        return Plan(change, result, f"{change.title}: done", warnings, session_id)

    # --- several sessions, projects, homes ----------------------------------------------------------------------------

    def delete(self, sessions: Sequence[str | Session]) -> Plan:
        """Move sessions with everything that belongs to them to the trash, from which `undo` restores them."""
        from ..edit.delete import plan_delete

        files = {str(found.path): found for found in (self.session(name).file for name in sessions)}
        homes = {file.home.real_root: file.home for file in files.values()}
        if len(homes) > 1:
            raise Refused(
                "the sessions are in several homes", hint="delete those of each home at a time", slug="several-homes"
            )
        change, result = plan_delete(self.journal, next(iter(homes.values())), list(files.values()))
        return Plan(change, result.as_dict(), deleted(result.as_dict()), result.notes, destructive=True)

    def delete_project(self, path: str, *, force: bool = False) -> Plan:
        """Move a whole project to the trash: sessions at the path and below, prompts, settings, memory."""
        from ..edit.delete import plan_delete_project

        change, result = plan_delete_project(self.journal, self.only_home(), path_as_it_was(path), force=force)
        return Plan(change, result.as_dict(), deleted(result.as_dict()), result.notes, destructive=True)

    def move(
        self,
        old: str | None = None,
        new: str | None = None,
        *,
        maps: Sequence[str] = (),
        merge: bool = False,
        force: bool = False,
    ) -> Plan:
        """Move a project's sessions, memory, prompts and settings from one path to another.

        `maps` are further pairs `OLD=NEW`, for a home that came from another machine.
        """
        from ..edit.move import plan_move

        pairs = [parse_pair(text) for text in maps]
        if old is not None and new is not None:
            pairs.insert(0, (path_as_it_was(old), path_as_it_will_be(new)))
        if not pairs:
            raise Refused("name the old path and the new one", slug="bad-path")
        change, result = plan_move(self.journal, self.only_home(), *pairs[0], maps=pairs[1:], merge=merge, force=force)
        return Plan(change, result.as_dict(), moved(result, "moved"), result.notes, destructive=True)

    def split(
        self,
        folder: str,
        *,
        project: str,
        to: str | None = None,
        name: str | None = None,
        merge: bool = False,
        force: bool = False,
    ) -> Plan:
        """Separate a project's sessions from a folder below `projects/` that two projects share."""
        from ..edit.split import plan_split

        change, result = plan_split(
            self.journal, self.only_home(), folder, project=os.path.expanduser(project),
            to=None if to is None else path_as_it_will_be(to), name=name, merge=merge, force=force,
        )  # fmt: skip
        return Plan(change, result.as_dict(), moved(result, "split off"), result.notes, destructive=True)

    def shared_folders(self) -> list[dict[str, Any]]:
        """List the folders below `projects/` that hold the sessions of several projects, one row for each project."""
        from ..store.project_folders import owned_folders

        return [
            {"folder": key, "project": path, "sessions": sum(item.project == path for item in owned.sessions)}
            for key, owned in owned_folders(self.only_home()).items()
            if len(owned.projects) > 1
            for path in owned.projects
        ]

    def restore(self, wanted: RestoreRequest) -> Plan:
        """Restore sessions from the vault, byte for byte. Newer files that are already there stay."""
        from .restoring import plan_restoring

        change, result = plan_restoring(self.library, self.journal, wanted)
        ident = result.sessions[0] if len(result.sessions) == 1 else None
        if not result.files:
            change.__exit__()
            present = f"{plural(result.same, 'file')} there already, as kept"
            why = "newer files are there" if result.left and not result.same else present
            return Plan(None, result.as_dict(), f"nothing to restore: {why}", result.notes, ident)
        return Plan(
            change, result.as_dict(), f"restored {restored(result.as_dict())}", result.notes, ident,
            destructive=change.takes_away,
        )  # fmt: skip

    def unbundle(self, source: str | os.PathLike[str], *, maps: Sequence[str] = (), limit: int | None = None) -> Plan:
        """Unpack the sessions of a bundle into the home. The bundle is checked while it is unpacked.

        `maps` are pairs `OLD=NEW` of project paths that differ here; more than `limit` unpacked bytes are refused.
        """
        from ..vault.bundle import BundleLimits
        from .bundling import Unbundling

        limits = BundleLimits() if limit is None else replace(BundleLimits(), bytes=limit)
        home = self.only_home()
        place = Path(os.path.abspath(os.path.expanduser(source)))
        unpacked = Unbundling(self.journal, place, limits)
        with contextlib.ExitStack() as cleaning:
            cleaning.enter_context(unpacked)
            change, result = unpacked.plan(home, [parse_pair(text) for text in maps])
            left = cleaning.pop_all()
        if not result.files:
            change.__exit__()
            left.close()
            nothing = f"nothing to do: {plural(result.same, 'file')} there already"
            return Plan(None, result.as_dict(), nothing, result.notes)
        return Plan(
            change, result.as_dict(), f"unbundled {restored(result.as_dict())}", result.notes,
            destructive=change.takes_away, when_dropped=left.close,
        )  # fmt: skip

    def prune(self, rules: PruneRules) -> Plan:
        """Remove sessions from the home that match the rules and that the vault has, to free space."""
        from .pruning import plan_prune

        home = self.only_home()
        change, result = plan_prune(self.library, home, self.library.vault.existing(), self.journal, rules)
        if change is None:
            return Plan(None, result.as_dict(), "no session fits")
        change.title = f"Remove {plural(len(result.sessions), 'session')} from {home.root}"
        return Plan(
            change, result.as_dict(), f"removed {plural(len(result.sessions), 'session')}", destructive=True,
            after_commit=lambda record: self.journal.discard_backups(record, home),
        )  # fmt: skip

    def restore_file(self, session: Session, path: str, state: FileState, *, output: str | None = None) -> Plan:
        """Restore a file of a project to its content at a message, at its own path or at `output`.

        A state in which the file did not exist removes the file.
        """
        from ..store.file_contents import unified_diff

        target = Path(os.path.abspath(os.path.expanduser(path if output is None else output)))
        self._refuse_target(target)
        if state.content is None and state.exists is not False:
            raise DamagedData(
                f"what {path} held there is not known: {state.note or 'no backup'}", slug="unknown-content"
            )
        now = _bytes_of(target)
        if now == state.content:
            raise Refused(f"{target} is already as it was there", slug="nothing-to-do")
        change = self.journal.change(session.home, "restore-file", f"Restore {target} from session {session.id}")
        if state.content is None:
            change.remove(target, elsewhere=True)
        else:
            change.write(target, [state.content], replace=now is not None, elsewhere=True)
        lines = unified_diff(now, state.content, str(target), ("on disk", "as it was"))
        result = {
            "path": path, "target": str(target), "exists": state.content is not None, "certain": state.certain,
            "diff": "".join(f"{line}\n" for line in lines),
        }  # fmt: skip
        return Plan(change, result, f"{target} is as it was", session_id=session.id, destructive=True)

    def _refuse_target(self, target: Path) -> None:
        """Refuse a target that is not a file of a project, before it is read or shown."""
        from ..environment import home_candidates
        from ..store.home import existing_homes, is_secret, refuse_in_homes

        if is_secret(target):
            raise Refused(f"{target.name} holds secrets and is never touched", slug="secret")
        if target.is_symlink() or (target.exists() and not target.is_file()):
            raise Refused(f"{target} is not a regular file", slug="not-a-file")
        homes = [*self.library.homes, *existing_homes(home_candidates()[0])]
        refuse_in_homes(homes, target, hint="--output FILE puts it into another folder")

    def mask(
        self,
        values: Iterable[SecretValue],
        *,
        everywhere: bool = False,
        same_length: bool = False,
        settings: bool = False,
        progress: MaskProgress | None = None,
    ) -> MaskPlan:
        """Mask values for good: in the homes, and in the index, the vault, the journal and all else that Recollect has.

        `everywhere` masks them inside of words, too, `same_length` keeps the lengths, and `settings` includes settings and
        Claude Code's config. This cannot be undone.
        """
        from .masking import MaskPlan

        return MaskPlan(
            self.library, self.journal, values, everywhere=everywhere, same_length=same_length, settings=settings,
            progress=progress,
        )  # fmt: skip

    def mask_found(
        self,
        only: Collection[str] | None = None,
        *,
        kinds: Collection[str] = (),
        min_confidence: str = "likely",
        ignore: Collection[str] = (),
        personal: bool = False,
        progress: MaskProgress | None = None,
        **options: bool,
    ) -> MaskPlan:
        """Mask secrets that are found, for good: those with the fingerprints `only`, else all of these kinds.

        `options` are those of `mask`: `everywhere`, `same_length`, `settings`.
        """
        from .masking import found_values

        values = found_values(
            self.library, self.journal, only, kinds=kinds, min_confidence=min_confidence, ignore=ignore, personal=personal,
            progress=progress,
        )  # fmt: skip
        return self.mask(values, progress=progress, **options)

    # --- the journal --------------------------------------------------------------------------------------------------

    def records(self, *, all_homes: bool = False) -> list[Record]:
        """List the changes that Recollect made in these homes (or in all homes), newest first."""
        return self.journal.records(None if all_homes else self.library.homes)

    def undo(self, number: int | None = None) -> UndoPlan:
        """Undo a change byte for byte: the one of this number, or the newest that is not undone.

        Pruned sessions are restored from the vault. Planning raises nothing; `commit` (or `check`, for a dry run) refuses if
        the files were written to since.
        """
        return UndoPlan(self.journal, self.journal.record(number, self.library.homes), self.library.vault.store)

    # --- finding sessions and homes -----------------------------------------------------------------------------------

    def session(self, reference: str | Session) -> Session:
        """Find the session to change. Refuses one that is in several homes, unless its name says which is meant."""
        if isinstance(reference, Session):
            return reference
        found = self.library.session(reference)
        if reference.strip() not in ("last", "latest", "current") and not reference.endswith(".jsonl"):
            home_with(self.library, found.id, hint=_WHICH_HOME)
        return found

    def _named(self, reference: str | Session) -> Session:
        """Find the session to read; of several copies, the newest."""
        return reference if isinstance(reference, Session) else self.library.session(reference)

    def only_home(self) -> Home:
        """Return the library's only home. Raises Refused if there are several."""
        if len(self.library.homes) > 1:
            raise Refused("there are several homes", hint=_WHICH_HOME, slug="several-homes")
        return self.library.homes[0]


_WHICH_HOME = "name the one that is meant with --home DIR"


class _AppendPlan(Plan):
    """Appends one message. The line is made at commit, so that it follows the end that the conversation has then."""

    def __init__(
        self, session: Session, journal: Journal, role: str, text: str, model: str | None, force: bool
    ) -> None:
        self._session, self._journal, self._force = session, journal, force
        self._message = (role, text, model)
        with self._writer() as writer:
            line = writer.planned_line(role, text, model=model)
            title = f"Append a message of the {role} to {session.id}, below {writer.leaf or 'nothing'}"
            change = journal.change(session.home, "append", title)
            change.append(session.file.path, line)
            result = {
                "session_id": session.id, "role": role, "bytes": len(text.encode()), "parent": writer.leaf, "uuid": None,
            }  # fmt: skip
        super().__init__(change, result, session_id=session.id)

    def _writer(self) -> SessionWriter:
        return session_writer(self._session, self._journal, force=self._force)

    def commit(self) -> Committed:
        self.discard()
        role, text, model = self._message
        with self._writer() as writer:
            self.result["uuid"] = self.said = writer.append_message(role, text, model=model)
            self.result["parent"] = writer.hung_on
            record = writer.record
        if record is None:
            return Committed(None, self.title, [], self.result, None)
        steps = [action.describe() for action in record.actions]
        return Committed(record.number, record.title, steps, self.result, undo_command(record))


class UndoPlan(Plan):
    """Undoes one change of the journal."""

    def __init__(self, journal: Journal, record: Record, vault: Vault) -> None:
        self._journal, self._record, self._home, self._vault = journal, record, Home(Path(record.home)), vault
        self._steps = journal.describe_undo(record)
        result = {"number": record.number, "title": record.title, "home": record.home}
        super().__init__(None, result, f"undone: {record.number} {record.title}")

    @property
    def title(self) -> str:
        return self._record.title

    @property
    def steps(self) -> list[str]:
        return self._steps

    def check(self) -> None:
        """Raise the error that would keep the change from being undone now. Changes nothing."""
        self._undo(dry_run=True)

    def _undo(self, *, dry_run: bool) -> None:
        from .pruning import undo_change

        undo_change(self._journal, self._record, self._home, self._vault, dry_run=dry_run)

    def commit(self) -> Committed:
        self._undo(dry_run=False)
        return Committed(self._record.number, self._record.title, self._steps, self.result, None)

    def as_dict(self, done: Committed | None = None) -> dict[str, Any]:
        return {**self.result, "undone": done is not None, "dry_run": done is None, "steps": self._steps}


# --- paths as people type them ----------------------------------------------------------------------------------------


def path_as_it_was(path: str) -> str:
    """Return the absolute path of a project that may no longer exist: links are not followed."""
    return path if is_windows_path(path) else os.path.abspath(os.path.expanduser(_given(path)))


def path_as_it_will_be(path: str) -> str:
    """Return the path of a project as Claude Code will see it: with links resolved."""
    return path if is_windows_path(path) else os.path.realpath(os.path.expanduser(_given(path)))


def _given(path: str) -> str:
    if not path.strip():  # an empty path would become the current folder, which nobody meant
        raise Refused("a path must not be empty", slug="bad-path")
    return path


def _refuse_unknown_subagent(found: Session, subagent: str) -> None:
    """Raise NotFound for a subagent that the session does not have: nobody would ever see its list."""
    from ..store.side_files import todo_lists

    known = [item.subagent_id for item in found.conversation.subagents if item.subagent_id is not None]
    lists = [item.subagent_id for item in todo_lists(found.home, found.id) if item.subagent_id is not None]
    if subagent not in (found.id, *known, *lists):
        raise NotFound(
            f"session {found.id} has no subagent {subagent}", slug="no-such-subagent", nearest=tuple(dict.fromkeys(known)),
            hint="`recollect subagents SESSION` lists them",
        )  # fmt: skip


def _bytes_of(target: Path) -> bytes | None:
    try:
        return target.read_bytes()
    except FileNotFoundError:
        return None
