"""Read the plans of plan mode (`library.plans()`, `library.plan(slug)`)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct

from ..errors import NotFound
from ..store.side_files import plans

if TYPE_CHECKING:
    from .library import Library


class PlanDocument(Struct, kw_only=True):
    """A plan that Claude Code wrote in plan mode."""

    slug: str
    title: str | None
    modified: datetime | None
    bytes: int | None
    path: str
    home: str
    problem: str | None
    text: str


def plan_documents(library: Library) -> list[PlanDocument]:
    """Return the plans of all homes, newest first."""
    found = [
        PlanDocument(
            slug=plan.name, title=plan.document.title, modified=plan.file.modified, bytes=plan.file.size,
            path=str(plan.file.path), home=str(home.root), problem=plan.document.problem, text=plan.document.text,
        )
        for home in library.homes
        for plan in plans(home)
    ]  # fmt: skip
    return sorted(found, key=lambda plan: plan.modified or datetime.min.replace(tzinfo=UTC), reverse=True)


def find_plan(library: Library, slug: str) -> PlanDocument:
    """Return a plan by its slug or the start of one. Raises NotFound with the nearest."""
    found = plan_documents(library)
    matching = [plan for plan in found if plan.slug == slug] or [plan for plan in found if plan.slug.startswith(slug)]
    if len(matching) == 1:
        return matching[0]
    names = tuple(plan.slug for plan in matching or found)[:10]
    if matching:
        raise NotFound(f"{slug!r} is the start of {len(matching)} plans", slug="ambiguous-plan", nearest=names)
    raise NotFound(f"no plan named {slug!r}", slug="no-such-plan", nearest=names, hint="recollect plans lists them")
