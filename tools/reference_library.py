"""The page of the package's public names: signatures, fields and the first words of their docstrings."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator

import recollect
from tools.reference_messages import ERRORS

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def library_page() -> str:
    names = [name for name in recollect.__all__ if not name.startswith("__") and name not in ERRORS]
    lines = [
        "# Public names of the library",
        "",
        "Everything below is imported from `recollect`. Reading never changes a file. What else the modules hold is internal",
        "and may change. Errors are on the page of [messages](../messages.md). A tour: [the library](../guide/library.md).",
        "",
        *(f"- [`{name}`](#{name.lower()})" for name in names),
    ]
    for name in names:
        lines += ["", *_section(name, getattr(recollect, name))]
    return "\n".join(lines) + "\n"


def _section(name: str, value: object) -> Iterator[str]:
    assert inspect.isfunction(value) or inspect.isclass(value), name
    node = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
    yield f"## {name}"
    if isinstance(node, _Function):
        yield from ("", "```python", _signature(node), "```", "", ast.get_docstring(node) or "")
        return
    assert isinstance(node, ast.ClassDef)
    yield from ("", ast.get_docstring(node) or "")
    members = list(_members(node))
    if members:
        yield from ("", "| | |", "|---|---|")
        for shown, words in members:
            yield f"| `{shown.replace('|', chr(92) + '|')}` | {words.replace('|', chr(92) + '|')} |"


def _members(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Fields, properties and methods in the order of the source, with the first paragraph of what is said about them."""
    for place, item in enumerate(node.body):
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and not item.target.id.startswith("_"):
            following = node.body[place + 1] if place + 1 < len(node.body) else None
            yield f"{item.target.id}: {ast.unparse(item.annotation)}", _string(following)
        elif isinstance(item, _Function) and (item.name == "__init__" or not item.name.startswith("_")):
            yield _member(node.name, item), _first_paragraph(ast.get_docstring(item))


def _member(owner: str, node: _Function) -> str:
    decorators = {ast.unparse(item) for item in node.decorator_list}
    if decorators & {"property", "cached_property"}:
        return f"{node.name}: {ast.unparse(node.returns) if node.returns else 'Any'}"
    return _signature(node, name=owner if node.name == "__init__" else node.name, bound=True)


def _signature(node: _Function, *, name: str | None = None, bound: bool = False) -> str:
    arguments = ast.parse(ast.unparse(node)).body[0].args  # type: ignore[attr-defined]  # a copy, to cut `self` from
    if bound and arguments.args:
        arguments.args.pop(0)
    returns = "" if node.returns is None or node.name == "__init__" else f" -> {ast.unparse(node.returns)}"
    prefix = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return f"{prefix}{name or node.name}({ast.unparse(arguments)}){returns}"


def _string(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return _first_paragraph(inspect.cleandoc(node.value.value))
    return ""


def _first_paragraph(text: str | None) -> str:
    return " ".join((text or "").split("\n\n")[0].split())
