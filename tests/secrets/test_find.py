"""Single texts: forms that are undone, names that count, and what is none."""

from __future__ import annotations

import base64
import re
import string
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.secrets import checksums, needles
from recollect.secrets.find import Finder, default_finder
from recollect.secrets.formats import formats
from recollect.secrets.names import looks_random, strength_of
from recollect.secrets.placeholders import is_placeholder
from recollect.secrets.unwrap import unescaped, url_decoded
from recollect.testing.secret_home.harmless import HARMLESS
from recollect.testing.secret_home.marked_text import BASE62, Dice
from recollect.testing.secret_home.values import SECRETS

DICE = Dice("find")
KEY = DICE.of(BASE62, 40)


def kinds(text: str, finder: Finder | None = None) -> list[str]:
    return [found.kind for found in (finder or default_finder()).in_text(text) if found.confidence != "possible"]


@pytest.mark.parametrize(
    "text",
    [
        "PAYMENTS_API_KEY={}",
        'payments_api_key = "{}"',
        "<api_key>{}</api_key>",
        "client.setApiKey('{}')",
        'headers.set("api_key", "{}")',
        "- name: API_KEY\n  value: {}\n",
        "tool --api-key {}",
        'api_key: str = "{}"',
        'os.environ["API_KEY"] = "{}"',
        'token := "{}"',
        "the API_KEY is {} for now",
        "apiKey%3D{}%26x%3D1",
        "     3\u2192- name: API_KEY\n     4\u2192  value: {}\n",
        'variable "api_key" {{\n  default = "{}"\n}}\n',
        'variable "api_key" {{\n  type = string\n  sensitive = true\n  default = "{}"\n}}\n',
    ],
)
def test_a_name_beside_a_value(text: str) -> None:
    (found,) = default_finder().in_text(text.format(KEY))
    assert (found.kind, found.confidence, found.value) == ("generic-api-key", "likely", KEY)
    assert text.format(KEY)[found.start : found.end] == KEY


@pytest.mark.parametrize(
    "text", ["SECRET_KEY={}", "-e SECRET_KEY={} app", "<secretKey>{}</secretKey>", "env.SECRET_KEY = `{}`"]
)
def test_a_key_of_django_may_hold_signs_that_end_other_values(text: str) -> None:
    key = "django-insecure-" + DICE.of(string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)", 50)
    (found,) = default_finder().in_text(text.format(key))
    assert (found.kind, found.value) == ("django-secret-key", key)


def test_a_netrc_file_as_it_was_read() -> None:
    text = "     1\u2192machine db.halden.dev\n     2\u2192  login ines\n     3\u2192  password Kq7vTz29LmXw\n"
    (found,) = default_finder().in_text(text)
    assert (found.kind, found.value) == ("netrc-password", "Kq7vTz29LmXw")


@pytest.mark.parametrize(
    ("name", "strength"),
    [
        ("DB_PASSWORD", "password"),
        ("dbPassword", "password"),
        ("accessToken", "secret"),
        ("API_KEY_PROD", "secret"),
        ("STRIPE_KEY", "weak"),
        ("nextPageToken", None),
        ("inputTokens", None),
        ("publicKey", None),
        ("primary_key", None),
        ("forgotPassword", None),
        ("tokenizer", None),
        ("password_digest", None),
        ("monkey", None),
    ],
)
def test_names(name: str, strength: str | None) -> None:
    assert strength_of(name) == strength


def test_a_value_by_its_key_in_json() -> None:
    value = {
        "env": {"DB_PASSWORD": "Ember!Quartz12"},
        "vars": [{"name": "API_KEY", "value": KEY}],
        "cacheKey": KEY,
        "uuid": KEY,
    }
    found = [(pointer, item.kind) for pointer, _, item in default_finder().in_value(value)]
    assert found == [("/env/DB_PASSWORD", "generic-password"), ("/vars/0/value", "generic-api-key")]


def test_ids_signatures_and_pictures_are_left_out() -> None:
    token = SECRETS[0](DICE).text
    block = {"type": "image", "source": {"type": "base64", "data": base64.b64encode(token.encode() * 4).decode()}}
    value = {"signature": token, "uuid": token, "message": {"content": [block, {"type": "text", "text": token}]}}
    assert [pointer for pointer, _, _ in default_finder().in_value(value)] == ["/message/content/1/text"]


def test_keys_of_objects_are_told() -> None:
    token = SECRETS[0](DICE).text
    ((pointer, _, found),) = default_finder().in_value({token: 1})
    assert (pointer, found.form) == (f"/{token}", "key")


def test_forms() -> None:
    token = SECRETS[0](DICE).text
    broken = token[:50] + "\\\n    " + token[50:]
    for text, form in (
        (token, "plain"),
        (base64.b64encode(f"KEY={token}\n".encode()).decode(), "base64"),
        (quote(f"a=1&k={token}/x", safe=""), "plain"),
        (broken, "wrapped"),
        ("     1→" + token[:40] + "\n     2→" + token[40:], "wrapped"),
        (quote(base64.b64encode(f"KEY={token}\n".encode()).decode(), safe=""), "base64"),
    ):
        (found,) = default_finder().in_text(text)
        assert (found.kind, found.value, found.form) == ("anthropic-api-key", token, form), text


def test_views_know_where_their_letters_are_from() -> None:
    text = 'x\\"ab\\u0041\\\\n%41%42c'
    view = unescaped(text)
    assert view is not None and view.text == 'x"abA\\n%41%42c'
    assert text[slice(*view.span(1, 2))] == '\\"' and text[slice(*view.span(4, 5))] == "\\u0041"
    decoded = url_decoded(text)
    assert decoded is not None and text[slice(*decoded.span(len(decoded.text) - 3, len(decoded.text) - 1))] == "%41%42"


@pytest.mark.parametrize("category", HARMLESS)
def test_harmless_texts(category: str) -> None:
    dice = Dice(category)
    for _ in range(40):
        text = HARMLESS[category](dice)
        assert kinds(text) == [], text


def test_a_wrong_checksum_is_only_possible() -> None:
    wrong = "ghp_" + DICE.of(BASE62, 36)
    assert not checksums.is_valid("crc32-base62", wrong)
    assert [found.confidence for found in default_finder().in_text(wrong)] == ["possible"]


def test_documented_values_are_placeholders() -> None:
    assert is_placeholder("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY") and is_placeholder(
        "sk_test_4eC39HqLyjWDarjtT1zdp7dc"
    )
    assert not is_placeholder(KEY) and looks_random(KEY) and not looks_random("getAccessTokenForUser")


def test_the_table() -> None:
    for item in formats().values():
        assert item.source and item.revoke and item.confidence, item.kind
        assert re.compile(item.first_look or "x")
        assert item.is_token or item.shape != "token", item.kind


def test_both_engines_find_the_same() -> None:
    fast, slow = Finder(), Finder(fast=False)
    assert fast.anything.is_fast and not slow.anything.is_fast
    dice = Dice("engines")
    for make in SECRETS:
        text = f"# {make(dice).name}={make(dice).text}\nok"
        assert fast.in_text(text) == slow.in_text(text)
        assert list(fast.anything.find(text.encode())) == list(slow.anything.find(text.encode()))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.text(max_size=20),
            st.sampled_from(
                [
                    "password=",
                    "token: ",
                    "ghp_",
                    "sk-ant-api03-",
                    "-----BEGIN RSA PRIVATE KEY-----",
                    "://a:b1@",
                    "eyJhbGciOiJIUzI1NiJ9",
                    "\\n",
                    '\\"',
                    "%41",
                    "%2F",
                    "\ud800",
                    "\n",
                    "Cookie: a=b; sid=",
                    "\\u0041",
                    "glpat-",
                    "MTIzMTIzMTIz",
                    "-us1",
                    ":AA",
                ]
            ),
            st.binary(max_size=40).map(lambda data: base64.b64encode(data).decode()),
        ),
        max_size=30,
    )
)
def test_any_text_is_searched(pieces: list[str]) -> None:
    text = "".join(pieces)
    last = 0
    for found in default_finder().in_text(text):
        assert last <= found.start < found.end <= len(text)
        last = found.end


def test_long_repetitions_end() -> None:
    for piece in (
        "password: ",
        "ghp_abcdefgh1 ",
        "eyJaaaaaaaaaa.",
        "Cookie: a=b; session=",
        "://a:b@",
        "-----BEGIN RSA PRIVATE KEY-----\n",
    ):
        default_finder().in_text(piece * 500)
    default_finder().in_text("password" + " " * 20_000 + "a1")


def test_the_first_look_takes_escaped_letters() -> None:
    assert needles.anything().first(b'{"a":"\\u0067hp_"}') is not None
