"""What tells who somebody is, and what only looks like it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.secrets.personal import find_personal, has_iban_digits, has_luhn_digit


def found(text: str, **options: bool) -> list[tuple[str, str]]:
    return [(item.kind, text[item.start : item.end]) for item in find_personal(text, **options)]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("cd /home/inesh/code", "home-path-user", "inesh"),
        ("/Users/jörg.müller/x.py", "home-path-user", "jörg.müller"),
        ("file:///home/inesh", "home-path-user", "inesh"),
        ('{"cwd":"/mnt/c/Users/inesh"}', "home-path-user", "inesh"),
        ("projects/-Users-inesh-code-app/x.jsonl", "home-path-user", "inesh"),
        ("C--Users-inesh-code", "home-path-user", "inesh"),
        (r'{"out":"x\n/home/inesh/code"}', "home-path-user", "inesh"),
        ("file%3A%2F%2F%2Fhome%2Finesh%2Fcode", "home-path-user", "inesh"),
        (r"from:\nines@halden.dev\n", "email", "ines@halden.dev"),
        (r"C:\Users\Ines H\code", "windows-home-path-user", "Ines H"),
        (r'{"a":"C:\\Users\\inesh\\code"}', "windows-home-path-user", "inesh"),
        ("c:/users/inesh/code", "windows-home-path-user", "inesh"),
        ("ask ines.voss@halden.dev about it", "email", "ines.voss@halden.dev"),
        ("mailto:ines.voss@halden.dev", "email", "ines.voss@halden.dev"),
        ("email=ines%40halden.dev&x=1", "email", "ines%40halden.dev"),
        ("Author: Ines <ines+git@posteo.net>", "email", "ines+git@posteo.net"),
        ("ines@build-box-7:~/code$ make", "hostname", "build-box-7"),
        ("Linux ines-laptop 6.8.0-41-generic #41-Ubuntu SMP", "hostname", "ines-laptop"),
        ("HOSTNAME=ines-laptop", "hostname", "ines-laptop"),
        ("ping ines-macbook.local twice", "hostname", "ines-macbook.local"),
        ("connected 93.41.7.20 at noon", "ipv4", "93.41.7.20"),
        ("from 2a01:4f8:c17:9d2::2 port 22", "ipv6", "2a01:4f8:c17:9d2::2"),
        ("call +49 30 2345678 now", "phone", "+49 30 2345678"),
        ("call (415) 867-5309 now", "phone", "(415) 867-5309"),
        ("card 4539 1488 0343 6467 is over", "credit-card", "4539 1488 0343 6467"),
        ("IBAN DE89 3704 0044 0532 0130 00.", "iban", "DE89 3704 0044 0532 0130 00"),
    ],
)
def test_personal(text: str, kind: str, value: str) -> None:
    assert found(text) == [(kind, value)]


@pytest.mark.parametrize(
    "text",
    [
        "https://app.halden.dev/home/settings", "GET /users/17", "/home/runner/work/x", "/home/user/code", "/Users/Shared/x",
        "user@example.com", "git@github.com:halden/x.git", "noreply@anthropic.com", "foo@bar.test",
        "1234+ines@users.noreply.github.com", "icon@2x.png", "lodash@4.17.21", "@app.route('/x')", "pkg@1.2.x",
        "postgres://app:pw@db.halden.io/x", "settings.local.json", ".env.local", "threading.local()", "host.docker.internal",
        "api.default.svc.cluster.local", "127.0.0.1 10.2.3.4 192.168.1.9 172.16.0.1 0.0.0.0 169.254.1.1", "8.8.8.8",
        "Chrome/120.0.6099.71 Safari", "version 4.12.9.133", "v81.3.2.9", "81.3.2.9.1", "192.0.2.7 198.51.100.9",
        "::1 fe80::1 10:23:45", "4242 4242 4242 4242", "4539148803436468", "2026-11-18 13:10:00", "DE89370400440532013001",
        "+1 555 555 0123", "12345678901234567890", "0.1234567890123456", "1,234,567,890",
    ],
)  # fmt: skip
def test_nobody(text: str) -> None:
    assert found(text) == []


def test_addresses_phones_and_cards_are_found_only_with_everything() -> None:
    text = "93.41.7.20, +49 30 2345678, 4539 1488 0343 6467, DE89 3704 0044 0532 0130 00, ines@halden.dev"
    assert found(text, everything=False) == [("email", "ines@halden.dev")]
    assert [kind for kind, _ in found(text)] == ["ipv4", "phone", "credit-card", "iban", "email"]


def test_check_digits() -> None:
    assert has_luhn_digit("4539148803436467") and not has_luhn_digit("4539148803436476")
    assert has_iban_digits("DE89370400440532013000") and not has_iban_digits("DE98370400440532013000")


@given(st.text(st.sampled_from("ab1-._@:/\\%+ \n(){}CUsershome4539"), max_size=200))
def test_finds_are_in_order_and_in_the_text(text: str) -> None:
    finds = find_personal(text)
    assert all(0 <= item.start < item.end <= len(text) for item in finds)
    assert all(one.end <= other.start for one, other in pairwise(finds))


@pytest.mark.parametrize(
    "piece", ["a", "a.", "a-", "1", "1.", "a@", "1 ", "/home/", "-", "\\", "C:\\Users\\", "a1:", "DE89"]
)
def test_long_texts_cost_their_length(piece: str) -> None:
    find_personal(piece * (300_000 // len(piece)))
