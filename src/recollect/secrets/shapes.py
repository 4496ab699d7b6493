"""Recognise secrets by the text around them: key blocks, addresses with a password, headers, commands, web tokens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from .findings import Confidence
from .names import looks_like_password, looks_random
from .placeholders import is_placeholder
from .unwrap import FRAME, decoded_text, joined_lines


class Shape(NamedTuple):
    """A secret that was recognised. `wrapped` if it is broken by line ends that do not belong to it."""

    start: int
    end: int
    kind: str
    confidence: Confidence
    value: str
    wrapped: bool = False


# --- private keys -----------------------------------------------------------------------------------------------------

_BEGIN: Final = re.compile(r"-----BEGIN[ +]((?:[A-Z0-9]+[ +])*)PRIVATE[ +]KEY([ +]BLOCK)?-----")
_END: Final = re.compile(r"-----END[ +](?:[A-Z0-9]+[ +])*PRIVATE[ +]KEY(?:[ +]BLOCK)?-----")
_PUTTY: Final = re.compile(r"PuTTY-User-Key-File-[0-9]: .*?Private-Lines: [0-9]+((?:\r?\n[A-Za-z0-9+/=]+)+)", re.DOTALL)
_LONGEST_BLOCK: Final = 24_000
_LINE_END: Final = re.compile(r"\r?\n|(?:\\+[rn])+|[ \t]+(?=[A-Za-z0-9+/=]{40})")
_HEADER_LINE: Final = re.compile(r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Key-ID)\s*:.*", re.IGNORECASE)
_BASE64_LINE: Final = re.compile(r"=?[A-Za-z0-9+/]+={0,2}")
_LEAST_KEY: Final = 40
_FEWEST_LETTERS: Final = 16
"""A key in base64 uses nearly all of the 64 letters; a placeholder a few."""


def private_key(text: str, at: int) -> Shape | None:
    """Return the private key block that begins at or shortly after a place."""
    begin = _BEGIN.search(text, at, at + 120)
    if begin is None:
        return _putty_key(text, at)
    end = _END.search(text, begin.end(), begin.end() + _LONGEST_BLOCK)
    stop = end.start() if end is not None else min(len(text), begin.end() + _LONGEST_BLOCK)
    body, bad, reached = [], 0, begin.end()
    place = begin.end()
    while place <= stop:
        border = _LINE_END.search(text, place, stop)
        line_end = border.start() if border is not None else stop
        frame = FRAME.match(text, place, line_end)
        line = text[frame.end() if frame is not None else place : line_end].strip(" \t\"'`+,;\\")
        if _BASE64_LINE.fullmatch(line):
            body.append(line)
            reached = line_end
        elif line and not _HEADER_LINE.fullmatch(line):
            bad += 1
            if end is None or bad > 2:
                break
        if border is None:
            break
        place = border.end()
    letters = "".join(body)
    if len(letters) < _LEAST_KEY or bad > 2 or len(set(letters)) < _FEWEST_LETTERS:
        return None
    label = begin[1].replace("+", " ")
    kind = "openssh-private-key" if "OPENSSH" in label else "pgp-private-key" if "PGP" in label else "private-key"
    if kind == "private-key" and re.search(
        r"service_account|private_key_id", text[max(begin.start() - 800, 0) : begin.start()]
    ):
        kind = "gcp-service-account-key"
    value = "\n".join([f"-----BEGIN {label}PRIVATE KEY{begin[2] or ''}-----", *body])
    return Shape(begin.start(), end.end() if end is not None else reached, kind, "definite", value)


def _putty_key(text: str, at: int) -> Shape | None:
    block = _PUTTY.match(text, at)
    if block is None:
        return None
    return Shape(block.start(1), block.end(1), "private-key", "definite", block[1].strip())


# --- addresses --------------------------------------------------------------------------------------------------------

_ADDRESS: Final = re.compile(
    r"""(?P<scheme>[A-Za-z][A-Za-z0-9+.:-]{1,30})://(?P<user>[^\s/"'<>\\@:`]*):(?P<password>[^\s/"'<>\\`:,]{1,200}?)@(?P<host>[A-Za-z0-9_.\-\[\]${}<]+)"""
)
_DATABASES: Final = re.compile(
    r"(?i:postgres|postgresql|mysql|mariadb|mssql|sqlserver|oracle|cockroachdb|clickhouse|amqps?|nats|kafka|snowflake|cassandra|neo4j|bolt|ldaps?|smtps?|db2|vertica|redshift|trino|elasticsearch|couchdb)"
)
_EXAMPLE_PASSWORDS: Final = frozenset(
    """
    password pass passwd pwd secret root admin test postgres mysql guest user example token changeme default
    mypassword pw dev rabbitmq redis minioadmin docker letmein username
    """.split()  # noqa: SIM905  a list of quoted words is harder to read
)
_SURE_LENGTH: Final = 8
_LOCAL: Final = re.compile(
    r"localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0|(?:.*\.)?example\.(?:com|org|net)|.*\.(?:test|example|invalid)|host|hostname|server"
)
_VARIABLE: Final = re.compile(r"^[\$%{<\[]|\$\{|\$[A-Z_]+|[{}<>]|^\*+$|^x+$|^\.+$|^:+$|%s|%\(|^[A-Z][A-Z_]+$")


def _start_of_run(text: str, at: int, signs: str, most: int) -> int:
    """Return where the letters, digits and signs before a place begin, at most `most` of them."""
    start = at
    while (
        start > 0
        and at - start < most
        and (text[start - 1].isalnum() or text[start - 1] in signs)
        and text[start - 1].isascii()
    ):
        start -= 1
    return start


def address(text: str, at: int) -> Shape | None:
    """Return the password in `scheme://user:password@host` around a place."""
    start = _start_of_run(text, at, "+.:-", 40)
    found = _ADDRESS.match(text, start)
    if found is None:
        found = _ADDRESS.match(text, max(start, text.rfind(":", start, at) + 1 if start < at else at))
        if found is None:
            return None
    password, host, user = found["password"], found["host"], found["user"]
    scheme = found["scheme"].lower().rpartition(":")[2]
    if not is_password_of_address(password, user, host):
        return None
    if found["scheme"].lower().startswith("jdbc:"):
        kind = "jdbc-password"
    elif scheme.startswith("mongodb"):
        kind = "mongodb-password"
    elif scheme.startswith(("redis", "rediss", "valkey")):
        kind = "redis-password"
    elif _DATABASES.match(scheme):
        kind = "connection-string-password"
    else:
        kind = "basic-auth-url"
    is_sure = len(password) >= _SURE_LENGTH and re.fullmatch(r"[a-z]+[_-]?\d{1,4}|[A-Za-z_.-]{1,15}", password) is None
    confidence: Confidence = "definite" if is_sure or looks_random(password, 8) else "possible"
    return Shape(found.start("password"), found.end("password"), kind, confidence, password)


def is_password_of_address(password: str, user: str, host: str) -> bool:
    """Return whether a password in an address is a real one: not a word of an example, nor a variable."""
    lower = password.lower()
    if lower in _EXAMPLE_PASSWORDS or lower == user.lower() or len(password) < 4 or _VARIABLE.search(password):
        return False
    if is_placeholder(password) or (_VARIABLE.search(host) is not None and not looks_random(password, 12)):
        return False
    plain = password.isalpha() and (password.islower() or password.isupper())
    if _LOCAL.fullmatch(host):
        return looks_random(password, 12)
    if "%20" in password or password.isdigit() or (plain and len(password) < 12):
        return False
    return not re.fullmatch(r"[a-z_-]{0,40}(?:password|passwd|pass|pwd|secret|token)\d{0,4}", lower)


_IN_OPTIONS: Final = re.compile(
    r"""(?P<before>[;?&\s"'])(?P<name>(?i:password|pwd))[ ]*=[ ]*(?P<password>[^;&\s"'<>\\]{4,200})"""
)


def connection_option(text: str, at: int) -> Shape | None:
    """Return the password of a connection string: `Server=...;Password=...;`, or `jdbc:...?user=u&password=p`."""
    found = _IN_OPTIONS.match(text, max(at - 1, 0))
    if found is None:
        return None
    line = text[max(text.rfind("\n", 0, found.start()), found.start() - 400) + 1 : found.start() + 1]
    if "jdbc:" in line:
        kind = "jdbc-password"
    elif re.search(
        r"(?i:server|data source|host|user id|uid|username|database|initial catalog)[ ]*=[^;]*;(?:.*;)?$", line
    ):
        kind = "connection-string-password"
    else:
        return None
    password = found["password"]
    if not is_password_of_address(password, "", "db") or not looks_like_password(password, quoted=True):
        return None
    return Shape(found.start("password"), found.end("password"), kind, "definite", password)


# --- headers and cookies ----------------------------------------------------------------------------------------------

_HEADER: Final = re.compile(
    r"""(?<![A-Za-z0-9_-])(?P<name>(?i:proxy-)?(?i:authorization)|(?i:x-[a-z-]*(?:api-?key|auth-?token|access-?token|token))|(?i:api-key))
    \\*["']?\s*[:=]\s*(?:[frb])?\\*["'`]?(?P<scheme>(?i:bearer|basic|token|bot)(?:\s+|%20))?(?P<value>[A-Za-z0-9+/=_.~%:-]{8,4000})""",
    re.VERBOSE,
)
_COOKIE: Final = re.compile(r"""(?i:cookie\\*["']?[ \t]*[:=]?[ \t]*)\\*["']?(?P<pairs>[^\r\n"'\\]{8,4000})""")
_SESSION_NAME: Final = re.compile(r"sess|sid|auth|token|jwt|remember", re.IGNORECASE)
_SESSION_VALUE: Final = re.compile(r"[A-Za-z0-9+/=_.~%:!-]{16,4000}")


def header(text: str, at: int) -> Shape | None:
    """Return the value of an authorization or API key header whose name stands at a place."""
    start = at
    while start > 0 and at - start < 30 and (text[start - 1].isalpha() or text[start - 1] == "-"):
        start -= 1
    found = _HEADER.match(text, start)
    if found is None:
        return None
    value, scheme = found["value"], (found["scheme"] or "").strip().lower().removesuffix("%20")
    is_authorization = found["name"].lower().endswith("authorization")
    if is_placeholder(value):
        return None
    start, end = found.span("value")
    wrapped = False
    for view in joined_lines(text, start, end):
        piece = view.text[len(value) :]
        if not looks_random(value, 8) or not looks_random(piece, 6) or ":" in piece:
            break
        value, wrapped, end = view.text, True, view.span(0, len(view.text))[1]
    if scheme == "basic" or (is_authorization and scheme == "" and ":" in (decoded_text(value) or "")):
        decoded = decoded_text(value)
        if decoded is None or ":" not in decoded:
            return None
        user, _, password = decoded.partition(":")
        if password.lower() in _EXAMPLE_PASSWORDS and user.lower() in _EXAMPLE_PASSWORDS:
            return None
        return Shape(start, end, "authorization-basic", "likely", value, wrapped)
    if not looks_random(value, 16):
        return None
    if is_authorization:
        return (
            Shape(start, end, "authorization-bearer", "likely", value, wrapped) if scheme or len(value) >= 24 else None
        )
    return Shape(start, end, "x-api-key-header", "likely", value, wrapped)


def cookies(text: str, at: int) -> Iterator[Shape]:
    """Yield the session cookies of a cookie header around a place."""
    found = _COOKIE.match(text, at)
    if found is None:
        return
    place = found.start("pairs")
    for pair in found["pairs"].split(";")[:_MOST_COOKIES]:
        name, _, value = pair.partition("=")
        is_session = _SESSION_NAME.search(name) is not None and "csrf" not in name.lower()
        if is_session and _SESSION_VALUE.fullmatch(value) and looks_random(value) and not is_placeholder(value):
            start = place + len(name) + 1
            yield Shape(start, start + len(value), "cookie-session", "likely", value)
        place += len(pair) + 1


_MOST_COOKIES: Final = 60
_SAS: Final = re.compile(r"""[?&;]sig=(?P<value>[A-Za-z0-9%+/=]{40,64})""")


def sas_signature(text: str, at: int) -> Shape | None:
    """Return the signature of a shared access signature: `sig=` beside the other parameters of one."""
    found = _SAS.match(text, at)
    if found is None:
        return None
    around = text[max(at - 400, 0) : found.end() + 400]
    if re.search(r"[?&;]s[evprt]=", around) is None or is_placeholder(found["value"]):
        return None
    return Shape(*found.span("value"), "azure-sas-signature", "definite", found["value"])


# --- JSON web tokens --------------------------------------------------------------------------------------------------

_JWT: Final = re.compile(
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{16,}(?![A-Za-z0-9_-])"
)
_JWT_START: Final = re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_.-]{10,8000}")


def web_token(text: str, at: int) -> Shape | None:
    """Return the JSON web token at a place: three parts, of which the first is JSON that names an algorithm."""
    start = _JWT_START.match(text, at)
    if start is None:
        return None
    whole = _JWT.match(text, at)
    best: Shape | None = None
    length = len(start[0])
    for view in joined_lines(text, start.start(), start.end()):
        longer = _JWT.match(view.text)
        if (whole is not None or best is not None) and not looks_random(view.text[length:], 8):
            break
        length = len(view.text)
        if longer is not None and (kind := _kind_of_web_token(longer[0])) is not None:
            best = Shape(*view.span(0, longer.end()), *kind, longer[0], True)
    if best is not None:
        return best
    if whole is None:
        return None
    kind = _kind_of_web_token(whole[0])
    return Shape(*whole.span(), *kind, whole[0]) if kind is not None else None


def _kind_of_web_token(token: str) -> tuple[str, Confidence] | None:
    if is_placeholder(token):
        return None
    head, claims, *_ = (_json(part) for part in token.split("."))
    if not isinstance(head, dict) or "alg" not in head:
        return None
    issuer = str(claims.get("iss", "")) + str(claims.get("sub", "")) if isinstance(claims, dict) else ""
    if "kubernetes" in issuer or "system:serviceaccount" in issuer or "kubernetes.io" in str(claims)[:2000]:
        return "kubernetes-sa-token", "definite"
    return "jwt", "likely"


def _json(part: str) -> object:
    text = decoded_text(part)
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# --- files and commands -----------------------------------------------------------------------------------------------

_PGPASS: Final = re.compile(
    r"(?P<host>[A-Za-z0-9_.*-]+):(?P<port>[0-9]{2,5}|\*):(?P<database>[A-Za-z0-9_.*-]+):(?P<user>[A-Za-z0-9_.*@-]+):(?P<password>[^\s:\"'\\]{4,200})(?=[\s\"'\\]|\Z)"
)
_CURL: Final = re.compile(
    r"""(?:(?<![\w-])-u|--user|--proxy-user)[ =]*\\*["']?(?P<user>[A-Za-z0-9._@+-]+):(?P<password>[^\s"'\\:]{4,200})"""
)
_SSHPASS: Final = re.compile(r"""sshpass +-p[ =]*(?P<quote>\\*["'])?(?P<password>[^\s"'\\]{4,200})""")
_GAP: Final = r"(?:\s{1,20}(?:\d{1,6}\u2192\s{0,8}|(?<=[ \n])\d{1,6}\t\s{0,8})?)"
"""Blanks, with the number that the Read tool puts before a line."""
_NETRC: Final = re.compile(
    rf"""(?:machine[ \t]+\S+|default){_GAP}login{_GAP}(?P<user>\S+){_GAP}password{_GAP}(?P<password>[^\s"'\\]{{4,200}})"""
)


def pgpass_line(text: str, at: int) -> Shape | None:
    """Return the password of a line of a PostgreSQL password file; `at` is the colon before the port."""
    start = _start_of_run(text, at, "_.*-", 100)
    found = _PGPASS.match(text, start)
    if found is None or not is_password_of_address(found["password"], found["user"], found["host"]):
        return None
    return Shape(*found.span("password"), "pgpass", "likely", found["password"])


def command_password(text: str, at: int) -> Shape | None:
    """Return the password that a command line gives to curl or sshpass."""
    found = _CURL.match(text, at)
    if found is not None:
        line = text[max(text.rfind("\n", 0, at), at - 2000) + 1 : at]
        fits = is_password_of_address(found["password"], found["user"], "host.name") and looks_like_password(
            found["password"], quoted=True
        )
        if fits and (re.search(r"\b(?:curl|wget|http|https)\b", line) or found[0].startswith("--")):
            return Shape(*found.span("password"), "curl-user-password", "likely", found["password"])
        return None
    found = _SSHPASS.match(text, at)
    if found is None or not is_password_of_address(found["password"], "", "host.name"):
        return None
    return Shape(*found.span("password"), "sshpass", "likely", found["password"])


def netrc_password(text: str, at: int) -> Shape | None:
    """Return the password of an entry of a netrc file, in which the word `password` stands at a place."""
    if "login" not in text[max(at - 200, 0) : at]:
        return None
    found = _NETRC.search(text, max(at - 300, 0), at + 300)
    if (
        found is None
        or not found.start() <= at <= found.end()
        or not is_password_of_address(found["password"], found["user"], "h.name")
    ):
        return None
    return Shape(*found.span("password"), "netrc-password", "likely", found["password"])
