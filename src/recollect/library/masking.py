"""Mask secrets for good, as a plan: `library.changes.mask`. What the plan says and what was done hold no value.

The result, and the JSON of `recollect secrets --mask`:

    values         [{kind, fingerprint, finds, files, advice}]: what is masked, and where to revoke it
    files          [{home, path, finds, kinds, lines, thinking_removed, before, after}]: files of homes; `before` and `after`
                   are their SHA-256 once they are masked
    own            {vault: files in the vault, journal: changes that keep such bytes, files: other files of ours, index}
    without_undo   [{number, title}]: earlier changes that can no longer be undone
    left           [{path, why, finds}]: what stays, and why
    not_reached    sentences: what no program can reach from here
    masked         whether nothing is left
    problem        why it ended early, or null
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..export.formatting import plural
from ..secrets.mask import ONLY_SETTINGS as ONLY_SETTINGS
from ..secrets.mask import STAYS, FoundFile, Masking, Outcome, Survey
from ..secrets.mask import Progress as Progress
from ..secrets.values import SecretValue, ValueFinder
from .plan import Committed, Plan

if TYPE_CHECKING:
    from ..index.catalogue.catalogue import Catalogue
    from ..journal.changes import Journal
    from .library import Library

REVOKE: Final = "a key that stood here must be revoked; masking does not un-leak it"
NOT_REACHED: Final = (
    "snapshots and backups of the file system, and copies that a cloud service synchronised",
    "what an SSD keeps of blocks that were freed",
    "the scrollback of terminals",
    "the logs of the API provider and of every service that was sent the value",
    "git repositories, and the files of the projects themselves",
    "bundles and exports that were written to other places",
    "a Recollect that is running right now: restart its page",
)


def advice(kind: str) -> str:
    """Say where the owner of a secret takes it back."""
    from ..secrets.formats import formats

    known = formats().get(kind)
    return known.revoke if known is not None else "where it was issued"


def found_values(
    library: Library,
    journal: Journal,
    only: Collection[str] | None = None,
    *,
    kinds: Collection[str] = (),
    min_confidence: str = "likely",
    ignore: Collection[str] = (),
    personal: bool = False,
    progress: Progress | None = None,
) -> list[SecretValue]:
    """Find the values to mask: in the homes, in the vault and in what the journal keeps.

    `only` are fingerprints; without them everything of these kinds, as sure as `min_confidence` at least, but for `ignore`.
    """
    from ..secrets.collect import collect_values
    from ..secrets.file_search import FileSearch, Place
    from ..secrets.find import Finder
    from ..secrets.findings import CONFIDENCES
    from ..secrets.fingerprints import Fingerprints
    from ..secrets.personal import find_personal
    from ..secrets.rules import read_rules

    rules = read_rules(library.own_folder("config"))
    levels = [str(item) for item in CONFIDENCES]
    fingerprints = Fingerprints(library.own_folder("data"))
    search = FileSearch(Finder(rules), fingerprints, find_personal if personal else None)

    def choose(path: str, place: Place) -> bool:
        if only is not None:
            return place.fingerprint in only
        return (
            levels.index(place.confidence) <= levels.index(min_confidence)
            and (not kinds or place.kind in kinds)
            and place.fingerprint not in ignore
            and not rules.allows(place.kind, path, place.fingerprint)
        )

    return collect_values(search, choose, library.homes, journal, library.vault.store, progress=progress)


class MaskPlan(Plan):
    """Masks values in the homes and in all that Recollect has of them. It cannot be undone."""

    def __init__(
        self,
        library: Library,
        journal: Journal,
        values: Iterable[SecretValue],
        *,
        everywhere: bool = False,
        same_length: bool = False,
        settings: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._library = library
        finder = ValueFinder(values, everywhere=everywhere, same_length=same_length)
        folders = [library.own_folder(kind) for kind in ("data", "cache", "config")]
        self._masking = Masking(
            library.homes, journal, library.vault.store, folders, finder, settings=settings, progress=progress
        )
        self.survey = self._masking.survey()
        super().__init__(None, self._result(self.survey, self.survey), destructive=True)
        self.notes = [REVOKE]

    @property
    def tell(self) -> Progress:
        """What is called with how far the work is."""
        return self._masking.progress

    @tell.setter
    def tell(self, progress: Progress | None) -> None:
        if progress is not None:
            self._masking.progress = progress

    @property
    def is_needed(self) -> bool:
        """Whether there is something to mask, or an interrupted masking to end."""
        return not self.survey.is_empty or self._masking.is_interrupted

    @property
    def title(self) -> str:
        values, files = len(self.result["values"]), len(self.result["files"])
        if not self.is_needed:
            return "Nothing to mask"
        return f"Mask {plural(values, 'value')} in {plural(files, 'file')}, for good"

    @property
    def steps(self) -> list[str]:
        """Return what will be done, one line for each step. No line holds a value."""
        found = self.survey
        clean = self._masking.masked_text
        steps = [
            f"mask {clean(str(file.path))} ({plural(file.tally.found.total(), 'find')})" for file in found.maskable
        ]
        if found.kept:
            steps.append(f"rewrite the vault: {plural(len({key[:2] for key in found.kept}), 'file')} in it")
        for item in found.changes:
            if item.files or item.title is not None:
                steps.append(f"mask what change {item.record.number} keeps")
            if item.loses_undo:
                steps.append(f"give up the undo of change {item.record.number} ({clean(item.record.title)})")
        steps += [f"mask {clean(str(item.path))}" for item in found.own]
        if steps and self._index_exists():
            steps.append("rebuild what the index has of these files, and its word index")
        return steps

    def commit(self) -> Committed:
        """Mask everything that can be masked, then look whether anything is left: `result` says so."""
        interrupted = self._masking.is_interrupted
        outcome = self._masking.run()
        self.survey = outcome.survey
        left = outcome.left
        index = []
        if not outcome.survey.is_empty or interrupted:
            self._library.refresh()
            # What is left in a home stands in the index, too.
            is_clean = not any(file.tally.found or file.tally.left for file in left.files)
            index = self._purge_index(outcome.survey, anew=interrupted, is_clean=is_clean)
            self._masking.end()
        self.result = self._result(outcome.survey, left, outcome, index)
        self.said = self._said()
        numbers = [record.number for record in outcome.records]
        return Committed(numbers[0] if numbers else None, self.title, self.steps, self.result, None)

    def as_dict(self, done: Committed | None = None) -> dict[str, Any]:
        return {**self.result, "change": None if done is None else done.number, "dry_run": done is None}

    # --- the index ----------------------------------------------------------------------------------------------------

    def _index_exists(self) -> bool:
        return (self._library.own_folder("cache") / "index").is_dir()

    def _purge_index(self, survey: Survey, *, anew: bool, is_clean: bool) -> list[str]:
        """Remove the values from the index; return its files that still hold one, which there should be none of."""
        from ..index.catalogue.purge import forget_free_pages, forget_stamps

        if not self._index_exists():
            return []
        catalogue = self._library.catalogue
        if anew:
            catalogue.make_anew()
        else:
            paths: dict[str, set[str]] = {root: set(names) for root, names in survey.kept_paths.items()}
            for file in survey.maskable:
                if file.home is not None:
                    paths.setdefault(file.home.real_root, set()).add(Path(file.name).as_posix())
            forget_stamps(catalogue, paths)
            self._library.index(stages=("calls", "entries"))
            forget_free_pages(catalogue, self._holds)
            if is_clean and self._in_index(catalogue):
                catalogue.make_anew()
        self._library.index()
        return self._in_index(catalogue) if is_clean else []

    def _holds(self, text: str) -> bool:
        return bool(self._masking.finder.places(text, everywhere=True))

    def _in_index(self, catalogue: Catalogue) -> list[str]:
        finder = self._masking.finder
        found = []
        for path in sorted(catalogue.folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                data = path.read_bytes()
                if finder.may_hold(data) and self._holds(data.decode("utf-8", "surrogateescape")):
                    found.append(str(path))
        return found

    # --- telling ------------------------------------------------------------------------------------------------------

    def _said(self) -> str:
        done = plural(sum(file["after"] is not None for file in self.result["files"]), "file")
        if self.result["masked"]:
            return f"masked {plural(len(self.result['values']), 'value')} in {done}; nothing is left"
        return f"masked {done}; {plural(len(self.result['left']), 'place')} left"

    def _result(
        self, survey: Survey, left: Survey, outcome: Outcome | None = None, index: Sequence[str] = ()
    ) -> dict[str, Any]:
        clean = self._masking.masked_text
        stays = _left(left, survey if outcome is None else None)
        for row in stays:
            row["path"] = clean(row["path"])
        stays += [{"path": path, "why": "the index could not be rebuilt without it", "finds": None} for path in index]
        return {
            "values": self._values(survey),
            "files": [{**_file(item), "path": clean(item.name)} for item in survey.maskable],
            "own": {
                "vault": len({key[:2] for key in survey.kept}),
                "journal": sum(bool(item.files) or item.title is not None for item in survey.changes),
                "files": [clean(str(item.path)) for item in survey.own],
                "index": self._index_exists(),
            },
            "without_undo": [{"number": item.number, "title": clean(item.title)} for item in survey.losing_undo],
            "left": stays,
            "not_reached": list(NOT_REACHED),
            "masked": not stays and (outcome is None or outcome.problem is None),
            "problem": None if outcome is None else outcome.problem,
        }

    def _values(self, survey: Survey) -> list[dict[str, Any]]:
        """Return the values that stand somewhere, the most frequent first."""
        found = survey.found
        for tally in survey.kept.values():
            found.update(dict.fromkeys(tally.found, 0))
        for item in survey.own:
            found.update(dict.fromkeys(item.tally.found, 0))
        rows = [
            {
                "kind": value.kind, "fingerprint": value.fingerprint, "finds": count,
                "files": sum(value in file.tally.found for file in survey.files), "advice": advice(value.kind),
            }
            for value, count in found.items()
        ]  # fmt: skip
        return sorted(rows, key=lambda row: (-row["finds"], row["kind"], row["fingerprint"]))


def _file(item: FoundFile) -> dict[str, Any]:
    return {
        "home": None if item.home is None else str(item.home.root),
        "finds": item.tally.found.total(),
        "kinds": sorted({value.kind for value in item.tally.found}),
        "lines": len(item.tally.lines),
        "thinking_removed": item.tally.thoughts,
        "before": item.before,
        "after": item.after,
    }


def _left(left: Survey, planned: Survey | None) -> list[dict[str, Any]]:
    """Return what stays; of a plan that was not carried out, only what it would leave."""
    rows: list[dict[str, Any]] = []
    for file in left.files:
        if file.tally.found and (file.why is not None or planned is None):
            why = file.why or "it still holds a value"
            rows.append({"path": str(file.path), "why": why, "finds": file.tally.found.total()})
        elif file.tally.left:
            rows.append({"path": str(file.path), "why": STAYS, "finds": file.tally.left.total()})
    if planned is None:
        rows += [{"path": str(item.path), "why": "it still holds a value", "finds": None} for item in left.own]
        rows += [{"path": f"vault: {path}", "why": "it still holds a value", "finds": None} for _, path, _ in left.kept]
        rows += [
            {"path": str(path), "why": f"what change {item.record.number} keeps still holds a value", "finds": None}
            for item in left.changes
            for path, _ in item.files
        ]
    rows += [{"path": str(path), "why": f"cannot be read: {why}", "finds": None} for path, why in left.unread]
    return rows
