"""Build Claude homes of every version of the format and every kind of damage. These builders ship with the package.

They use no clock and no random numbers: the same calls give the same bytes and the same modification times.
"""

from __future__ import annotations

from recollect.testing.ages import ALL_AGES, AgeDescription, SessionDescription, SubagentDescription, build_age
from recollect.testing.damage import DAMAGES, DamageRecipe, Outcome, sample_session, write_huge_file
from recollect.testing.dialect import Dialect
from recollect.testing.identifiers import NIL_UUID, uuid_from
from recollect.testing.statelines import backup_name
from recollect.testing.toolcalls import ToolCall
from recollect.testing.transcript import SubagentBuilder, TranscriptBuilder

from .configfiles import SECRET
from .demo import build_demo_home
from .home import HomeBuilder

__all__ = [
    "ALL_AGES",
    "DAMAGES",
    "NIL_UUID",
    "SECRET",
    "AgeDescription",
    "DamageRecipe",
    "Dialect",
    "HomeBuilder",
    "Outcome",
    "SessionDescription",
    "SubagentBuilder",
    "SubagentDescription",
    "ToolCall",
    "TranscriptBuilder",
    "backup_name",
    "build_age",
    "build_demo_home",
    "sample_session",
    "uuid_from",
    "write_huge_file",
]
