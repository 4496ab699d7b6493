"""The page about rules and repairs, from the values that the code uses."""

from __future__ import annotations

from recollect.check.rule import SEVERITIES
from recollect.check.rules import RULES
from recollect.edit.migrate import LAYOUTS
from recollect.edit.repair.fixes import FIXES, Fix

_SEVERITY_WORDS = {
    "error": "Claude Code loses part of the conversation, finds none, or every further turn fails.",
    "warning": "Some version of Claude Code, or somebody else, will stumble over it; or something is left over.",
    "info": "Worth knowing; healthy sessions have it too.",
}
_HOME_FIXES = {
    "name": "give the file a name that Claude Code finds",
    "config": "restore the global config from its newest whole backup (`--home-files`)",
    "index": "write Claude Code's list of sessions anew (`--home-files`)",
    "reach": "all of `lines`, `text`, `identity`, `links` and `times`",
}


def _when(fix: Fix) -> str:
    if fix.on_request:
        return "on request"
    return "for older versions" if fix.for_older else ""


def rules_page() -> str:
    lines = [
        "# Rules and repairs",
        "",
        "What `recollect check` looks for, what Claude Code (2.1.326 unless said otherwise) does because of it, and what",
        "helps. A finding may be milder than its rule where Claude Code copes with that case. How to use both:",
        "[repair](../guide/repair.md).",
        "",
        "| severity | |",
        "|---|---|",
        *(f"| {name} | {_SEVERITY_WORDS[name]} |" for name in SEVERITIES),
        "",
        "## Rules",
        "",
        "| code | severity | what is wrong | Claude Code | what helps | fix |",
        "|---|---|---|---|---|---|",
        *(
            f"| `{rule.code}` | {rule.severity} | {rule.title} | {rule.client} | {rule.remedy} |"
            f" {f'`{rule.fix}`' if rule.fix else ''} |"
            for rule in RULES.values()
        ),
        "",
        "## Fixes",
        "",
        "In the order in which they work. Those on request are made only if a rule that needs them is named with `--rule`."
        " Those for older versions are made with the others, or by `--rule`: a session that Claude Code resumes whole"
        " is left as it is.",
        "",
        "| fix | does | |",
        "|---|---|---|",
        *(f"| `{fix.name}` | {fix.words} | {_when(fix)} |" for fix in FIXES.values()),
        *(f"| `{name}` | {words} | |" for name, words in _HOME_FIXES.items()),
        "",
        "## Layouts",
        "",
        "The steps of `recollect migrate --to 2.1`.",
        "",
        "| step | from | to | does |",
        "|---|---|---|---|",
        *(f"| {step.name} | {step.since} | {step.until} | {step.description} |" for step in LAYOUTS),
    ]
    return "\n".join(lines) + "\n"
