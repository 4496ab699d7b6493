"""`show --redact` and `bundle --redact`: what is printed and written holds no value, and says what was left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.running import run, tree_state
from tests.secrets.made_up import API_KEY, PASSWORD, PRIVATE_KEY, build

VALUES = (API_KEY, PASSWORD, PRIVATE_KEY.splitlines()[3])


@pytest.fixture
def home(tmp_path: Path) -> Path:
    built = build(tmp_path / "home")
    built.write()
    return tmp_path / "home"


def test_show_leaves_out_secrets_and_names(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = tree_state(home)
    plain = run(capsys, home, "show", "last", "--tools", "full", "--thinking")
    assert all(value in plain.out for value in VALUES) and "inesh" in plain.out
    shown = run(capsys, home, "show", "--redact", "last", "--tools", "full", "--thinking")
    assert shown.code == 0
    assert not any(value in shown.out for value in (*VALUES, "inesh", "ines@halden.dev"))
    assert shown.out.startswith("Redacted: 6 values (1 anthropic-api-key, 1 email, ")
    assert run(capsys, home, "show", "last", "--redact", "--jsonl").err.startswith("Redacted: 6 values")
    assert "[redacted: anthropic-api-key]" in shown.out and "~/code/app" in shown.out
    assert tree_state(home) == before


def test_the_value_of_redact_follows_the_equals_sign(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, home, "show", "last", "--redact=secrets", "--json").data
    assert told["redaction"]["profile"] == "secrets" and told["redaction"]["values"] == 4
    assert "inesh" in told["project"]
    assert "redaction" not in run(capsys, home, "show", "last", "--redact=none", "--json").data
    assert run(capsys, home, "show", "last", "--redact=much").code == 2
    long = run(capsys, home, "show", "last", "--redact", "--same-length").out
    assert f"[redacted: anthropic-api-key]{'*' * (len(API_KEY) - 29)}" in long


def test_a_redacted_bundle_is_read_like_any_other(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, other = tmp_path / "share.recollect", tmp_path / "other"
    (other / "projects").mkdir(parents=True)
    told = run(capsys, home, "bundle", "last", "--redact", "-o", str(file), "--json")
    assert told.code == 0 and told.data["redaction"]["values"] == 6
    assert run(capsys, other, "unbundle", str(file), "--yes").code == 0
    everything = b"".join(path.read_bytes() for path in other.rglob("*") if path.is_file())
    assert not any(value.encode() in everything for value in (*VALUES, "inesh"))
    assert [path.name for path in (other / "projects").iterdir()] == ["-home-user-1-code-app"]
    assert len(run(capsys, other, "show", "last", "--json").data["rows"]) == len(
        run(capsys, home, "show", "last", "--json").data["rows"]
    )
    again = run(capsys, home, "bundle", "last", "--redact", "-o", str(file))
    assert again.code == 6 and "[exists]" in again.err
