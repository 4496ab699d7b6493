"""Where recipes are collected."""

from __future__ import annotations

from collections.abc import Callable

from recollect.testing.damage.recipe import DamageRecipe, Inflict, Outcome, Target

DAMAGES: dict[str, DamageRecipe] = {}
"""Every kind of damage by its name."""


def recipe(
    name: str,
    description: str,
    *kinds: str,
    lost: int = 0,
    outcome: Outcome | None = None,
    target: Target = "text",
    rename: Callable[[str], str] | None = None,
) -> Callable[[Inflict], Inflict]:
    """Register the decorated function under `name`; `kinds` are those that the line reader must report."""

    def register(inflict: Inflict) -> Inflict:
        if name in DAMAGES:
            raise ValueError(f"damage {name!r} is registered twice")
        DAMAGES[name] = DamageRecipe(name, description, inflict, frozenset(kinds), lost, outcome, target, rename)
        return inflict

    return register
