"""What is left out of a text, and what stands in its place."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.secrets.made_up import API_KEY, GOOGLE_KEY, PASSWORD, PRIVATE_KEY, in_base64

import recollect
from recollect.secrets.findings import Found
from recollect.secrets.redact import Redactor
from recollect.secrets.value_forms import KnownValues, base64_cores, secret_forms


def only(value: str, kind: str = "generic-password", confidence: str = "definite") -> Redactor:
    """A redactor that finds one value, and only where `secret: ` stands before it."""

    def find(text: str, _: str | None) -> list[Found]:
        place = text.find(f"secret: {value}")
        start = place + len("secret: ")
        return [Found(start, start + len(value), kind, "secret", confidence, "plain", value)] if place >= 0 else []  # type: ignore[arg-type]

    return Redactor("personal", find=find)


def test_each_kind_says_what_it_was() -> None:
    told = recollect.redact_text(f"use {API_KEY} and {GOOGLE_KEY}", "secrets")
    assert told.text == "use [redacted: anthropic-api-key] and [redacted: gcp-api-key]"
    assert [item.kind for item in told.finds] == ["anthropic-api-key", "gcp-api-key"]


def test_nothing_is_left_out_of_a_harmless_text() -> None:
    text = "The retry loop returns the connection too early; see src/pool.py:41."
    assert recollect.redact_text(text, "all").text == text
    assert recollect.redact_text(API_KEY, "none").text == API_KEY


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(recollect.Refused, match="no such profile"):
        recollect.redact_text("x", "everything")


@pytest.mark.parametrize("value", [PASSWORD, API_KEY, PRIVATE_KEY, 'pa"ss\\word/1+2=3 é', "Zq9!x<&>'y12"])
@settings(max_examples=20)
@given(before=st.text(max_size=5))
def test_a_known_value_is_replaced_in_every_form(value: str, before: str) -> None:
    redactor = only(value)
    redactor.learn(f"secret: {value}")
    escaped = json.dumps(value)[1:-1]
    for text in (
        value, escaped, json.dumps(escaped)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value),
        quote(value, safe=""), in_base64(value), in_base64(before + value), in_base64(before + value + "x"),
        f"https://u:{quote(value, safe='')}@h/",
    ):  # fmt: skip
        new = redactor.redact(f"here {text} there").text
        assert text not in new
        assert all(core not in new for core in base64_cores(value.encode()) if core in text)
        assert new.startswith("here ") and new.endswith(" there")


def test_no_letter_of_base64_is_left_that_holds_a_bit_of_the_value() -> None:
    redactor = only(PASSWORD)
    redactor.learn(f"secret: {PASSWORD}")
    told = "[redacted: generic-password]"
    assert redactor.redact(f"echo {in_base64(PASSWORD)} | base64 -d").text == f"echo {told} | base64 -d"
    assert redactor.redact(f"echo {in_base64('user:' + PASSWORD)}").text == f"echo dXNlcj{told}"


def test_lines_of_a_key_are_replaced_where_they_stand_alone() -> None:
    redactor = Redactor("secrets")
    redactor.learn(PRIVATE_KEY)
    numbered = "\n".join(f"{number:6d}→{line}" for number, line in enumerate(PRIVATE_KEY.splitlines()[1:-1], 1))
    assert not any(line in redactor.redact(numbered).text for line in PRIVATE_KEY.splitlines()[1:-1])
    assert redactor.redact("+" + PRIVATE_KEY.splitlines()[3]).text == "+[redacted: private-key]"


def test_short_values_are_replaced_only_between_other_letters() -> None:
    redactor = only("Tr0ub4dor")
    redactor.learn("secret: Tr0ub4dor")
    assert redactor.redact("(Tr0ub4dor) xTr0ub4dor").text == "([redacted: generic-password]) xTr0ub4dor"


@pytest.mark.parametrize(("value", "confidence"), [("abc1", "definite"), ("orchard", "likely")])
def test_values_that_may_be_words_are_replaced_only_where_they_were_found(value: str, confidence: str) -> None:
    redactor = only(value, confidence=confidence)
    assert redactor.redact(f"secret: {value}, {value}").text == f"secret: [redacted: generic-password], {value}"


def test_possible_finds_stay() -> None:
    assert only("Tr0ub4dor", confidence="possible").redact("secret: Tr0ub4dor").text == "secret: Tr0ub4dor"


def test_pseudonyms_are_the_same_throughout() -> None:
    redactor = Redactor("personal")
    first = redactor.redact("ines@halden.dev wrote to noor@halden.dev in /home/inesh and /Users/noor").text
    assert first == "[email 1] wrote to [email 2] in /home/user-1 and /Users/user-2"
    assert redactor.redact("noor@halden.dev: /home/noor, Ines@Halden.dev").text == "[email 2]: /home/user-2, [email 1]"


def test_the_users_own_home_and_name() -> None:
    redactor = Redactor("personal")
    redactor.learn_home("/home/inesh/code/app")
    text = "/home/inesh/code, ~inesh, Inesh, inesh_dev, vinesh, -home-inesh-code, /home/noor, (inesh)"
    assert (
        redactor.redact(r"%2Fhome%2Finesh%2Fx and \ninesh and xinesh").text
        == r"%2Fhome%2Fuser-1%2Fx and \nuser-1 and xinesh"
    )
    assert redactor.redact(text).text == (
        "~/code, ~user-1, user-1, user-1_dev, vinesh, -home-user-1-code, /home/user-2, (user-1)"
    )


def test_the_users_own_home_on_windows() -> None:
    redactor = Redactor("personal")
    redactor.learn_home(r"C:\Users\Ines H\code")
    text = r"C:\Users\Ines H\code, C:\\Users\\Ines H\\x, c:/Users/Ines H/y, C--Users-Ines-H-code, Ines H"
    assert redactor.redact(text).text == r"~\code, ~\\x, ~/y, C--Users-user-1-code, user-1"


def test_users_that_machines_are_given_are_no_names() -> None:
    redactor = Redactor("personal", users=["root"], homes=["/root"])
    assert (
        redactor.redact("root of the tree, /root: x, /home/user/y").text == "root of the tree, /root: x, /home/user/y"
    )


def test_names_and_words_that_are_given() -> None:
    redactor = Redactor("personal", hosts=["ines-laptop.halden.lan"], words=["Halden"], homes=["/srv/people/inesh"])
    text = "ines-laptop at HALDEN, halden.dev, Haldensee; ines-laptop.halden.lan:/srv/people/inesh/x"
    assert redactor.redact(text).text == "[host 1] at [name 1], [name 1].dev, Haldensee; [host 1]:~/x"
    assert Redactor("secrets", words=["Halden"]).redact("Halden").text == "Halden"


def test_same_length() -> None:
    redactor = Redactor("secrets", same_length=True)
    told = redactor.redact(f"use {API_KEY} now")
    assert len(told.text) == len(f"use {API_KEY} now")
    assert told.text.startswith("use [redacted: anthropic-api-key]***") and told.text.endswith("* now")
    short = only("Tr0ub4dor")
    short.same_length = True
    assert short.redact("secret: Tr0ub4dor!").text == "secret: *********!"


def test_a_secret_in_a_mail_address_is_a_secret() -> None:
    redactor = only("hunter2hunter2", "generic-api-key")
    assert redactor.redact("secret: hunter2hunter2@halden.dev").text == "secret: [redacted: generic-api-key]"


@given(
    st.lists(
        st.sampled_from([API_KEY, PASSWORD, "ines@halden.dev", "/home/inesh/x", " ", "\n", "word", "="]), max_size=8
    )
)
def test_what_is_redacted_stays_as_it_is(parts: list[str]) -> None:
    once = Redactor("all").redact(" ".join(parts)).text
    assert Redactor("all").redact(once).text == once


def test_many_values_are_searched_for_at_once() -> None:
    known = KnownValues()
    for number in range(500):
        known.add(secret_forms(f"value-{number:04d}-Xy{number * 7919:08x}"), number, "anywhere")
    text = "-".join(f"value-{number:04d}-Xy{number * 7919:08x}" for number in range(500))
    assert [hit.form.owner for hit in known.search(text)] == list(range(500))
    assert list(known.search("value-0001-Xy value-")) == []


def test_a_folder_elsewhere_is_no_home() -> None:
    redactor = Redactor("personal")
    redactor.learn_home("/srv/builds/app")
    assert redactor.redact("cd /srv/builds/app/src").text == "cd /srv/builds/app/src"
