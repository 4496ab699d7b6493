"""The page of messages: every error that the code can raise, found in its syntax, with a written explanation."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from recollect import errors
from recollect.cli import main as entry_point

ERRORS: dict[str, type[errors.RecollectError]] = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, errors.RecollectError)
}
_TREE_LINE = re.compile(r"^[ +-]*(?P<name>[A-Z]\w+)\s+(?P<code>\d+)\s+(?P<words>.+)$", re.MULTILINE)
_EXIT_CODE = re.compile(r"(?P<code>\d+) (?P<words>[a-z][a-z ]+)")


class Raised(NamedTuple):
    """A place in the code that raises an error: its slug, its class, and the message with `…` for what is filled in."""

    slug: str
    error: str
    message: str


def messages_page(explanations: str) -> str:
    """The page, from the text of `messages.toml`. A slug without an explanation is an error, and so is one too many."""
    told: dict[str, dict[str, str]] = tomllib.loads(explanations)
    raised = raised_errors()
    slugs = sorted({item.slug for item in raised})
    missing = [slug for slug in slugs if set(told.get(slug, ())) != {"means", "remedy"}]
    if missing:
        raise LookupError(f"messages.toml needs `means` and `remedy` for: {', '.join(missing)}")
    unused = sorted(set(told) - set(slugs))
    if unused:
        raise LookupError(f"messages.toml explains what nothing raises: {', '.join(unused)}")
    lines = [
        "# Messages",
        "",
        "An error is a sentence on stderr, often with the nearest names and a hint, and an exit code. Its slug is a short",
        "name that stays the same when the sentence changes: programs find it with `--json` (`error.slug` on stderr), or as",
        "`RecollectError.slug`. Damaged data is never an error: it is shown with its place, see",
        "[damage](reference/damage.md).",
        "",
        "## Exit codes",
        "",
        "| code | |",
        "|---:|---|",
        *(f"| {code} | {words} |" for code, words in exit_codes().items()),
        "",
        "## Errors",
        "",
        "In Python each is a class of `recollect`; the slug is that of the class unless a more precise one is listed below.",
        "",
        "| class | exit code | slug | |",
        "|---|---:|---|---|",
        *_class_rows(),
        "",
        "## Slugs",
    ]
    for slug in slugs:
        lines += ["", *_section(slug, [item for item in raised if item.slug == slug], told[slug])]
    return "\n".join(lines) + "\n"


def exit_codes() -> dict[int, str]:
    """Exit codes by the entry point's own words."""
    words = " ".join((entry_point.__doc__ or "").split("\n\n", 1)[1].split())
    return {int(match["code"]): match["words"] for match in _EXIT_CODE.finditer(words)}


def _class_rows() -> Iterator[str]:
    tree = {match["name"]: match for match in _TREE_LINE.finditer(errors.__doc__ or "")}
    for name, error in ERRORS.items():
        drawn = tree[name]
        if int(drawn["code"]) != error.exit_code:
            raise LookupError(f"the tree in errors.py says {drawn['code']} for {name}, the class {error.exit_code}")
        yield f"| `{name}` | {error.exit_code} | `{error.default_slug}` | {drawn['words']} |"


def _section(slug: str, raised: list[Raised], told: dict[str, str]) -> Iterator[str]:
    classes = sorted({item.error for item in raised})
    codes = ", ".join(f"`{name}`, exit code {ERRORS[name].exit_code}" for name in classes)
    yield from (f"### {slug}", "", f"{codes}. {told['means']}", "")
    yield "> " + " \\\n> ".join(sorted({item.message for item in raised}))
    yield from ("", told["remedy"])


def raised_errors() -> list[Raised]:
    """Every error that the package's code makes, sorted."""
    found: set[Raised] = set()
    for path in sorted(Path(errors.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.update(_raised_in(node))
    return sorted(found)


def _raised_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Raised]:
    known = {
        node.targets[0].id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name not in ERRORS or not node.args:
            continue
        given = next((word.value for word in node.keywords if word.arg == "slug"), None)
        slugs = [ERRORS[name].default_slug] if given is None else texts_of(given, known)
        messages = texts_of(node.args[0], known)
        for place, slug in enumerate(slugs):
            message = messages[place if len(messages) == len(slugs) else 0]
            yield Raised(slug, name, " ".join(message.split()))


def texts_of(node: ast.expr, known: dict[str, ast.expr]) -> list[str]:
    """What an expression may say: one text, or one for each arm of a condition. `…` stands for what is filled in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return [*texts_of(node.body, known), *texts_of(node.orelse, known)]
    if isinstance(node, ast.Name) and node.id in known:
        return texts_of(known[node.id], {name: value for name, value in known.items() if name != node.id})
    if isinstance(node, ast.FormattedValue):
        return texts_of(node.value, known)
    if isinstance(node, ast.JoinedStr):
        parts = [texts_of(part, known) for part in node.values]
        arms = max((len(part) for part in parts), default=1)
        return ["".join(part[arm if len(part) == arms else 0] for part in parts) for arm in range(arms)]
    return ["…"]
