"""Plan the repair of a session: in place, or as a fork that leaves the session as it is. Nothing is written before `commit`.

change, result = plan_repair(journal, file)
if result.changes_something:
    with change:
        change.commit()
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import uuid as uuids
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...check.rules import RULES
from ...errors import NotFound, Refused
from ...format.encode import custom_title, encode_line
from ...format.row_edit import set_members
from ...graph.thread import LIVE, PRECOMPACT, find_thread
from ...journal.changes import Change, Journal
from ...journal.guard import refuse_if_busy
from ...store.home import list_inside
from ...store.layout import is_session_id
from ...store.project_folders import copies_of_sessions
from ...store.scan import SessionFile, SubagentFile, scan_home
from ...store.summary import summarise
from ..fork import subagent_target
from .draft import Draft, Fragment
from .fixes import FIXES, Fix, fixes_for

NAME_FIX = "name"
SECOND_COPY = "give the copy in another project an id of its own"
ROUNDS = 6
"""How often all fixes are run at most, since one may reveal what another one repairs."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A fix that did something to a file, and at how many places."""

    fix: str
    words: str
    places: int
    path: Path


@dataclass(frozen=True, slots=True)
class Standing:
    """How much of a session a resume reaches."""

    found: bool
    share: float
    sent: int
    reached: frozenset[str]


@dataclass
class RepairResult:
    session_id: str
    path: Path
    target: Path
    before: Standing
    after: Standing
    fixes: list[Applied] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Fixes that were not made, since something would have been lost by them."""
    for_older: list[str] = field(default_factory=list)
    """Fixes that were not made, since Claude Code resumes the session whole: only older versions need them."""
    fragments: int = 0
    side_file: Path | None = None
    fork: str | None = None
    """The id of the new session, where the repair is made as a fork."""

    @property
    def changes_something(self) -> bool:
        return bool(self.fixes)


def plan_repair(
    journal: Journal,
    file: SessionFile,
    *,
    rules: Iterable[str] = (),
    fork: bool = False,
    new_id: str | None = None,
) -> tuple[Change, RepairResult]:
    """Plan the repair of a session and its subagents: everything that is wrong, or what the named rules find.

    Raises StoreBusy for a session in use, unless it is forked: then it is only read.
    """
    rules = tuple(rules)
    wanted = _wanted(rules)
    if fork and any(fix.writes_beside for fix in wanted):
        raise Refused(
            "what goes into other files cannot be done in a fork", slug="not-repairable",
            hint="leave --fork out; `recollect undo` takes the repair back",
        )  # fmt: skip
    if not fork:
        refuse_if_busy(file.home, file.session_id, file.path, journal, rewrite=True)
    with contextlib.ExitStack() as thrown_away_on_errors, contextlib.ExitStack() as opened:
        change = Change(journal, file.home, "repair", f"Repair {file.session_id}")
        thrown_away_on_errors.enter_context(change)
        change.rely_on(file.path, content=True)
        main = Draft.of(file.path, file.home)
        opened.callback(main.close)
        before, untouched = standing(main), main.state()
        result = RepairResult(file.session_id, file.path, file.path, before, before)
        asked = bool(rules)
        result.fixes, result.refused = apply_fixes(main, [fix for fix in wanted if fix.name != NAME_FIX])
        if not asked and gains_nothing(result.fixes, before, standing(main)):
            result.for_older, result.fixes = [item.fix for item in result.fixes], []
            main.restore(untouched)
        result.after = standing(main) if result.fixes else before
        second = not fork and _is_second_copy(file)
        renamed = not fork and (second or not file.client_lists) and any(fix.name == NAME_FIX for fix in wanted)
        subagents: list[tuple[SubagentFile, Draft, bool]] = []
        for subagent in () if renamed else file.subagents:  # under its new name the session is repaired like any other
            change.rely_on(subagent.path, content=True)
            draft = Draft.of(subagent.path, file.home)
            opened.callback(draft.close)
            was, as_read = standing(draft), draft.state()
            done, _ = apply_fixes(draft, [fix for fix in wanted if fix.for_subagents])
            if not asked and gains_nothing(done, was, standing(draft)):
                draft.restore(as_read)
                done = []
            result.fixes += done
            subagents.append((subagent, draft, bool(done)))
        if renamed:
            words = SECOND_COPY if second else "give the file a name that Claude Code finds"
            result.fixes.append(Applied(NAME_FIX, words, 1, file.path))
        if result.fixes:
            _write(change, file, main, subagents, result, fork=fork, new_id=new_id, renamed=renamed)
            data_folder = journal.folder.parent
            found = [
                (draft.path, item)
                for draft in (main, *(draft for _, draft, _ in subagents))
                for item in draft.fragments
            ]
            result.fragments = len(found)
            result.side_file = _keep_fragments(change, data_folder, file.session_id, found)
        thrown_away_on_errors.pop_all()
    return change, result


def _wanted(rules: tuple[str, ...]) -> list[Fix]:
    name_fix = Fix(NAME_FIX, "", lambda _: 0)
    if not rules:
        return [*usual_fixes(), name_fix]
    names: set[str] = set()
    for code in rules:
        rule = RULES.get(code)
        if rule is None:
            raise NotFound(f"there is no rule {code}", slug="no-such-rule", nearest=tuple(_repairable()))
        if rule.fix is None or rule.fix not in (*FIXES, NAME_FIX, "reach"):
            raise Refused(
                f"{code} is nothing that can be repaired in a session", hint=rule.remedy, slug="not-repairable"
            )
        names.update(
            ("lines", "one-line", "text", "identity", "links", "times") if rule.fix == "reach" else (rule.fix,)
        )
    return [*fixes_for(names), *([name_fix] if NAME_FIX in names else [])]


def usual_fixes() -> list[Fix]:
    """Return the fixes to run if no rule is named: all those that need no decision by the user."""
    return [fix for fix in FIXES.values() if not fix.on_request]


def gains_nothing(fixes: list[Applied], before: Standing, after: Standing) -> bool:
    """Whether some fixes serve older versions of Claude Code alone: the one of today resumes the session whole without them."""
    return all(FIXES[item.fix].for_older for item in fixes) and (before.found, before.reached) == (
        after.found,
        after.reached,
    )


def _repairable() -> list[str]:
    return [code for code, rule in RULES.items() if rule.fix in (*FIXES, NAME_FIX, "reach")]


def standing(draft: Draft) -> Standing:
    transcript = draft.transcript()
    thread = find_thread(transcript)
    reached = frozenset(
        row.uuid
        for row in transcript.rows
        if row.uuid and row.is_message and thread.placements[row.index].status in (LIVE, PRECOMPACT)
    )
    return Standing(thread.found, thread.reachable_share, len(thread.sent), reached)


def apply_fixes(draft: Draft, wanted: Iterable[Fix]) -> tuple[list[Applied], list[str]]:
    """Run the fixes one after the other until none finds anything, so that a second repair finds nothing either.

    A fix after which a resume would reach less than before is taken back.
    """
    fixes = list(wanted)
    untouched = draft.state()
    places: dict[str, int] = {}
    refused: list[str] = []
    for _ in range(ROUNDS):
        fixed, refused = _improve(draft, fixes)
        for name, number in fixed.items():
            places[name] = places.get(name, 0) + number
        if not fixed:
            break
    if not any(piece.entry is not None for piece in draft.pieces):
        draft.restore(untouched)  # nothing readable is left: the bytes stay for whoever knows more
        places.clear()
    done = [Applied(fix.name, fix.words, places[fix.name], draft.path) for fix in fixes if fix.name in places]
    return done, refused


def _improve(draft: Draft, fixes: list[Fix]) -> tuple[dict[str, int], list[str]]:
    """Run all fixes together; if that reveals rows that nothing connects, only those that are an improvement each."""
    before, was = draft.state(), standing(draft)
    places, refused = _work(draft, fixes, strict=False)
    if was.found and standing(draft).share < was.share:
        draft.restore(before)
        places, refused = _work(draft, fixes, strict=True)
    return places, refused


def _work(draft: Draft, fixes: list[Fix], *, strict: bool) -> tuple[dict[str, int], list[str]]:
    """Return how many places each fix repaired, and the fixes that were taken back in the last round."""
    places: dict[str, int] = {}
    refused: list[str] = []
    now = standing(draft)
    for _ in range(ROUNDS):
        worked = False
        refused = []  # what did harm before the others had worked may do good now
        for fix in fixes:
            state = draft.state()
            fixed = fix.apply(draft)
            if not fixed:
                draft.restore(state)
                continue
            then = standing(draft)
            if (_is_worse(then, now) and not fix.parts) or (strict and now.found and then.share < now.share):
                draft.restore(state)
                refused.append(fix.name)
                continue
            now = then
            worked = True
            places[fix.name] = places.get(fix.name, 0) + fixed
        if not worked:
            break
    return places, refused


def _is_worse(then: Standing, now: Standing) -> bool:
    return not now.reached <= then.reached or (now.found and not then.found)


def _write(
    change: Change,
    file: SessionFile,
    main: Draft,
    subagents: list[tuple[SubagentFile, Draft, bool]],
    result: RepairResult,
    *,
    fork: bool,
    new_id: str | None,
    renamed: bool,
) -> None:
    changed = any(item.path == file.path and item.fix != NAME_FIX for item in result.fixes)
    if fork:
        _write_fork(change, file, main, subagents, result, new_id)
    else:
        if renamed:
            result.target = _free_name(file, main)
            change.title = f"Repair {file.session_id} as {result.target.stem}"
            if any(item.words == SECOND_COPY for item in result.fixes):  # its lines shall not name the other one
                renaming = _under(result.target.stem)
                change.write(result.target, main.chunks(renaming), mtime_ns=_mtime(file.path))
                change.remove(file.path)
            elif changed:
                change.write(result.target, main.chunks(), mtime_ns=_mtime(file.path))
                change.remove(file.path)
            else:
                change.move(file.path, result.target)
            if file.session_folder.is_dir() and file.session_folder != file.path:
                change.move(file.session_folder, result.target.with_suffix(""))
        elif changed:
            change.write(file.path, main.chunks(), replace=True, mtime_ns=_mtime(file.path))
        for subagent, draft, has_changed in subagents:
            if has_changed:
                change.write(subagent.path, draft.chunks(), replace=True, mtime_ns=_mtime(subagent.path))
        for path, chunks in main.beside.items():
            change.write(path, chunks)


def _write_fork(
    change: Change,
    file: SessionFile,
    main: Draft,
    subagents: list[tuple[SubagentFile, Draft, bool]],
    result: RepairResult,
    new_id: str | None,
) -> None:
    ident = new_id or str(uuids.uuid4())
    if not is_session_id(ident):
        raise Refused(f"{ident!r} is not a session id (a UUID in lower case)", slug="bad-session-id")

    renamed = _under(ident)
    result.fork = ident
    result.target = file.path.with_name(f"{ident}.jsonl")
    change.title = f"Repair {file.session_id} into the fork {ident}"
    title = encode_line(custom_title(ident, f"{summarise(file).title or 'Untitled'} (repaired)"))
    change.write(result.target, [*main.chunks(renamed), title])
    for subagent, draft, _ in subagents:
        target = subagent_target(file, subagent, result.target.with_suffix(""))
        change.write(target, draft.chunks(renamed))


def _under(session_id: str) -> Callable[[bytes], bytes]:
    """Return a function that gives lines the id of another session."""

    def renamed(data: bytes) -> bytes:
        return set_members(data, {"sessionId": session_id}) if b'"sessionId"' in data else data

    return renamed


def _is_second_copy(file: SessionFile) -> bool:
    """Whether another project folder has the session as well, and the better right to its id."""
    name = file.path.name
    others = [folder for folder in list_inside(file.home, file.home.projects) if folder.name != file.folder]
    if not any(os.path.lexists(folder / name) for folder in others):
        return False
    copies = copies_of_sessions(item for item in scan_home(file.home).sessions if item.session_id == file.session_id)
    return any(file.path in [item.path for item in same[1:]] for same in copies)


def _free_name(file: SessionFile, main: Draft) -> Path:
    """Return an id that Claude Code finds: the present one in lower case, the one on the lines, or a new one."""
    taken = {
        path.name for folder in list_inside(file.home, file.home.projects) for path in list_inside(file.home, folder)
    }
    named = main.transcript().session_ids.most_common(1)
    for candidate in (file.session_id.lower(), *(name for name, _ in named)):
        if is_session_id(candidate) and f"{candidate}.jsonl" not in taken:
            return file.path.with_name(f"{candidate}.jsonl")
    return file.path.with_name(f"{uuids.uuid4()}.jsonl")


def _mtime(path: Path) -> int:
    return path.stat().st_mtime_ns


def _keep_fragments(
    change: Change, data_folder: Path, session_id: str, found: Sequence[tuple[Path, Fragment]]
) -> Path | None:
    """Plan a side file with the bytes that leave a transcript, and return its path; None if there are none.

    fragments/<session>/<hash>.jsonl      one line for each: {"why", "path", "line", "offset", "length", and one of
                                          "text", "base64", "nul_bytes"}

    The file is in Recollect's data folder. It is part of the change: undoing the change removes it.
    """
    if not found:
        return None
    lines = [_fragment_line(path, item) for path, item in found]
    digest = hashlib.sha256()
    for _, item in found:
        digest.update(f"{item.why} {item.offset} {len(item.data)} ".encode() + item.data)
    name = digest.hexdigest()[:16]
    # A session's id may be any text that a file name can be; only one that cannot lead elsewhere names the folder.
    folder = (
        session_id if session_id.replace("-", "").isalnum() else hashlib.sha256(session_id.encode()).hexdigest()[:32]
    )
    target = data_folder / "fragments" / folder / f"{name}.jsonl"
    if target.exists():  # an earlier repair of the same damage kept the same bytes, and the file was put back since
        return target
    change.write(target, lines, elsewhere=True)
    return target


def _fragment_line(path: Path, item: Fragment) -> bytes:
    """Return the line of the side file for one fragment."""
    fragment: dict[str, Any] = {
        "why": item.why,
        "path": str(path),
        "line": item.line,
        "offset": item.offset,
        "length": len(item.data),
    }
    if item.data and not item.data.strip(b"\x00"):
        fragment["nul_bytes"] = len(item.data)
    else:
        try:
            fragment["text"] = item.data.decode()
        except UnicodeDecodeError:
            fragment["base64"] = base64.b64encode(item.data).decode()
    return json.dumps(fragment, ensure_ascii=True).encode() + b"\n"
