"""Put a secret into texts in which secrets are found: settings, code, commands, logs; plain, escaped, broken, encoded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from recollect.testing.secret_home.marked_text import (
    FIRST_NAMES,
    HEX,
    WORDS,
    Dice,
    MarkedText,
    Secret,
    base64_of,
    escaped,
)

Context = Callable[[Dice, Secret], MarkedText]


def filled(dice: Dice, name: str, text: str) -> str:
    """Fill the name of a secret, in several spellings, and some words into a text."""
    words = name.lower().split("_")
    for mark, value in (
        ("{N}", name),
        ("{n}", name.lower()),
        ("{c}", words[0] + "".join(word.capitalize() for word in words[1:])),
        ("{k}", "-".join(words)),
        ("{w}", dice.choice(WORDS)),
        ("{x}", dice.choice(WORDS)),
        ("{d}", str(dice.randrange(2, 99))),
        ("{h}", dice.of(HEX, 12)),
        ("{f}", dice.choice(FIRST_NAMES)),
    ):
        text = text.replace(mark, value)
    return text


def _in(template: str, encode: Callable[[str], str] = str, form: str = "plain") -> Context:
    before, after = template.split("{V}")

    def make(dice: Dice, secret: Secret) -> MarkedText:
        text = MarkedText(filled(dice, secret.name, before)).plant(secret, form, encode)
        return text.add(filled(dice, secret.name, after))

    return make


def _broken(template: str, glue: str) -> Context:
    """The value broken in two, as terminals, mail and shells do."""
    before, after = template.split("{V}")

    def make(dice: Dice, secret: Secret) -> MarkedText:
        at = secret.start + max(4, len(secret.value) // 2 + dice.randrange(-2, 3))
        text = MarkedText(filled(dice, secret.name, before)).add(secret.text[: secret.start])
        text.mark(secret.text[secret.start : at] + glue + secret.text[at : secret.stop], secret, "wrapped")
        return text.add(secret.text[secret.stop :]).add(filled(dice, secret.name, after))

    return make


def _in_base64(template: str, plain: str = "{N}={V}\n") -> Context:
    """The whole snippet in base64: all of it is the find."""
    before, after = template.split("{V}")

    def make(dice: Dice, secret: Secret) -> MarkedText:
        inner = filled(dice, secret.name, plain).replace("{V}", secret.text)
        text = MarkedText(filled(dice, secret.name, before))
        text.mark(base64_of(inner.encode()), secret, "base64", "likely")
        return text.add(filled(dice, secret.name, after))

    return make


def _twice(text: str) -> str:
    return escaped(escaped(text))


def _url(text: str) -> str:
    return quote(text, safe="")


NAMED: Final[list[Context]] = [
    _in("# settings of {w}\nDEBUG=false\n{N}={V}\nLOG_LEVEL=info\n"),
    _in('export {N}="{V}" && make deploy'),
    _in('{\n  "name": "{w}",\n  "{c}": "{V}",\n  "retries": {d}\n}'),
    _in("service:\n  {n}: {V}\n  replicas: {d}\n"),
    _in("{n} = '{V}'\nclient = Client({n})\n"),
    _in('const {c} = "{V}";\nexport default {c};\n'),
    _in("docker run --rm -e {N}={V} {w}:latest"),
    _in("I have put it into the environment, {N} is {V} for now."),
    _in("diff --git a/.env b/.env\n@@ -1,2 +1,2 @@\n-{N}=\n+{N}={V}\n"),
    _in('{"level":"info","msg":"started","config":{"{n}":"{V}","port":80{d}}}'),
    _in('{"body":"{\\"{n}\\":\\"{V}\\",\\"ok\\":true}"}', escaped, "escaped"),
    _in('os.environ["{N}"] = "{V}"\nrun()\n'),
    _in("env:\n  - name: {N}\n    value: {V}\n"),
    _in('[{"name": "{N}", "value": "{V}"}]'),
    _in("{w} login --{k} {V}"),
    _in("Set-Item Env:{N} = '{V}'\n"),
    _in('{"log":"{\\\\\\"{n}\\\\\\":\\\\\\"{V}\\\\\\"}"}', _twice, "escaped twice"),
    _in("POST /login {n}={V}&remember=1", _url, "url-encoded"),
    _in_base64("data:\n  settings: {V}\n"),
    _in_base64("echo {V} | base64 -d > .env", "# {w}\n{N}={V}\nDEBUG=0\n"),
]

TOKEN: Final[list[Context]] = [
    _in("please try it with {V} and tell me what it says"),
    _in("curl -s https://api.{w}.io/v1/items -H 'Authorization: Bearer {V}'"),
    _in("GET /v2/things?access_token={V}&page={d} 200 {d}ms"),
    _in("- the key for staging: `{V}`\n- the host: {w}.{x}.dev\n"),
    _in("GET /cb?next=%2F{w}&token={V}&page={d}", _url, "url-encoded"),
    _in("redirect=https%3A%2F%2F{w}.io%2Fcb%3Fkey%3D{V}%26x%3D1", _url, "url-encoded"),
    _in_base64("blob: {V}\n"),
    _in_base64('{"payload": "{V}"}', '{"{n}": "{V}"}'),
]

BROKEN: Final[list[Context]] = [
    _broken("the token is\n{V}\n", "\n"),
    _broken("{N}={V}\n", "\n"),
    _broken("curl -H 'Authorization: Bearer {V}' \\\n  https://api.{w}.io\n", "\\\n"),
    _broken('{N}="{V}"\n', "\n"),
    _broken("> {V}\n> thanks\n", "\n> "),
    _broken('key = ("{V}")\n', '"\n    "'),
    _broken("  {V}\n", "\n  "),
]

LINES: Final[list[Context]] = [
    _in("{V}\n"),
    _in("$ cat ~/.ssh/{w}\n{V}\n"),
    _in('{"{n}": "{V}\\n"}', escaped, "escaped"),
    _in('{N}="{V}"\n', lambda text: text.replace("\n", "\\n"), "escaped"),
    _in("key: |\n  {V}\nmode: 0600\n", lambda text: text.replace("\n", "\n  "), "indented"),
    _in("+{V}\n", lambda text: text.replace("\n", "\n+"), "diff"),
    _in_base64("  id_rsa: {V}\n", "{V}\n"),
    _in("pem={V}&x=1", _url, "url-encoded"),
]

WHOLE: Final[list[Context]] = [_in("{V}"), _in("$ cat request.txt\n{V}\n\nok"), _in("2026-03-0{d} trace {V}\n")]

PERSONAL: Final[list[Context]] = [
    _in("{V}"),
    _in("it fails for {V} since noon"),
    _in('{"who": "{V}", "ok": true}'),
    _in("2026-03-02 10:1{d} connected {V}\n2026-03-02 10:1{d} closed\n"),
    _in("# ask {V} about this\ntimeout = {d}\n"),
    _in("| {w} | {V} |\n"),
]


def context_of(dice: Dice, secret: Secret) -> MarkedText:
    """Put a secret into one of the texts that fit it."""
    if secret.family == "personal":
        return dice.choice(PERSONAL)(dice, secret)
    if secret.lines:
        return dice.choice(LINES)(dice, secret)
    if secret.whole:
        return dice.choice(WHOLE)(dice, secret)
    if secret.needs_name:
        return dice.choice(NAMED)(dice, secret)
    alone = secret.start == 0 and secret.end < 0
    return dice.choice(NAMED + TOKEN + (BROKEN if alone else []))(dice, secret)
