"""The spelling of the uuids of sessions and rows in Claude Code."""

from __future__ import annotations

import re
from typing import Final

UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
