"""A chain of steps. All of them are carried through and found right, or everything is as it was before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ...errors import DamagedData, Unavailable

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Migration(Generic[S]):
    """One step. What it works on is up to the caller; nothing outside of that may be touched."""

    name: str
    from_version: str
    to_version: str
    description: str
    migrate: Callable[[S], int]
    """Does it; gives the number of places that were changed (0 where there was nothing to do)."""
    rollback: Callable[[S], None]
    """Takes it back, however far it came."""
    verify: Callable[[S], str | None]
    """What is wrong with the outcome, in words; None where it is right."""


@dataclass(frozen=True, slots=True)
class Done:
    name: str
    description: str
    places: int


def chain(migrations: Sequence[Migration[S]], start: str, target: str) -> list[Migration[S]]:
    """The steps that lead from one version to another. Raises Unavailable where there is no way."""
    found: list[Migration[S]] = []
    version = start
    while version != target:
        step = next((item for item in migrations if item.from_version == version), None)
        if step is None or step in found:
            raise Unavailable(
                f"there is no way from version {version} to {target}", slug="no-migration",
                hint="a newer Recollect may know it",
            )  # fmt: skip
        found.append(step)
        version = step.to_version
    return found


def carry_through(subject: S, migrations: Sequence[Migration[S]]) -> list[Done]:
    """Every step, verified. If one fails, it and those before it are rolled back, the last one first."""
    begun: list[Migration[S]] = []
    done: list[Done] = []
    try:
        for step in migrations:
            begun.append(step)
            places = step.migrate(subject)
            problem = step.verify(subject)
            if problem is not None:
                raise DamagedData(
                    f"{step.name}: {problem}", slug="migration-failed", hint="everything is as it was before"
                )
            done.append(Done(step.name, step.description, places))
    except BaseException:
        for step in reversed(begun):
            step.rollback(subject)
        raise
    return done
