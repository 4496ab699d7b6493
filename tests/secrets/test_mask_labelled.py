"""Masking a home in which every kind of secret stands in every form: all of them are gone, and nothing harmless is."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.secrets.masking_scene import readable, tree

from recollect.library.library import Library
from recollect.library.masking import found_values
from recollect.secrets.collect import search_file
from recollect.secrets.file_search import FileSearch
from recollect.secrets.find import Finder
from recollect.secrets.fingerprints import Fingerprints
from recollect.secrets.values import SecretValue
from recollect.store.home import Home
from recollect.testing.secret_home import Planted, build_secret_home
from recollect.testing.secret_home.values import SECRETS


class Labelled:
    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.root = folder / "claude"
        self.planted = build_secret_home(self.root, seed, per_kind=1, per_harmless=1, makers=SECRETS)
        for path in self.root.rglob("*"):
            if path.is_file():
                os.utime(path, (1.7e9, 1.7e9))
        self.secrets = [item for item in self.planted if item.family == "secret"]
        self.spans = [self.span(item) for item in self.secrets]

    def library(self) -> Library:
        return Library([Home(self.root)], own_folder=lambda kind: self.folder / kind)

    def span(self, item: Planted) -> str:
        """Return a planted secret as it stands in its file, broken and encoded as it is."""
        text = (self.root / item.file).read_text()
        if item.pointer is None:
            return "\n".join(text.split("\n")[item.line - 1 :])[item.start : item.end]
        value: Any = json.loads(text.split("\n")[item.line - 1] if item.file.endswith(".jsonl") else text)
        for part in item.pointer.split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            value = value[int(name)] if isinstance(value, list) else value[name]
        return str(value)[item.start : item.end]

    def left(self) -> Counter[str]:
        """Count the planted secrets of each form that still stand somewhere: in home, vault, index or journal."""
        everything = b"\n".join(data for _, data in readable(self.folder))
        found: Counter[str] = Counter()
        for item, span in zip(self.secrets, self.spans, strict=True):
            forms = {text.encode() for value in (span, item.value) for text in (value, *_in_json(value))}
            found[item.form] += any(form in everything for form in forms if len(form) > 7)
        return +found


def _in_json(text: str) -> tuple[str, ...]:
    return json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]


@pytest.mark.parametrize("seed", [3, 11])
def test_every_form_of_every_kind_is_masked(seed: int, tmp_path: Path) -> None:
    home = Labelled(tmp_path, seed)
    values = {item.value: SecretValue(item.kind, f"{at:012x}", item.value) for at, item in enumerate(home.secrets)}
    before = tree(home.root)
    with home.library() as library:
        library.vault.keep()
        library.index()
        assert home.left().total() > 100
        plan = library.changes.mask(values.values(), settings=True)
        plan.commit()
    assert plan.result["masked"], plan.result["left"]
    assert home.left() == Counter()
    after = tree(home.root)
    text = b"\n".join(data for data, _ in after.values()).decode()
    harmless = [item.value for item in home.planted if item.family == "harmless"]
    assert [
        value for value in harmless if value not in text and not any(form in text for form in _in_json(value))
    ] == []
    assert {name: when for name, (_, when) in before.items()} == {name: when for name, (_, when) in after.items()}
    for name, (data, _) in after.items():
        if name.endswith(".jsonl"):
            assert all(json.loads(line) for line in data.decode().splitlines()), name
        elif name.endswith(".json"):
            json.loads(data)


def test_what_the_rules_find_is_gone_and_found_no_more(tmp_path: Path) -> None:
    home = Labelled(tmp_path, 7)
    with home.library() as library:
        library.vault.keep()
        values = found_values(library, library.changes.journal)
        plan = library.changes.mask_found(settings=True)
        assert len(plan.result["values"]) == len(values) > 80
        assert all(row["advice"] for row in plan.result["values"])
        plan.commit()
        assert plan.result["masked"], plan.result["left"]
        assert found_values(library, library.changes.journal) == []
    search = FileSearch(Finder(), Fingerprints(home.folder / "data"))
    for name, data in readable(home.root):
        finds = [place for place, _ in search_file(search, name, [data]) if place.confidence != "possible"]
        assert not finds, name
