"""Kinds of damage that transcripts suffer, each as a recipe that can be applied to any file."""

from __future__ import annotations

from recollect.testing.damage import fields, lines, text, tree
from recollect.testing.damage.text import deep_nesting, huge_line, write_huge_file

from .recipe import DAMAGES, DamageRecipe, Outcome, sample_session

__all__ = [
    "DAMAGES",
    "DamageRecipe",
    "Outcome",
    "deep_nesting",
    "fields",
    "huge_line",
    "lines",
    "sample_session",
    "text",
    "tree",
    "write_huge_file",
]
