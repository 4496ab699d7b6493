"""Find values beside a name that says they are secret: variables, fields, flags, headers.

A name alone is not enough, since code speaks of tokens and passwords all the time: the value has to look like one, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, Literal

from .formats import Format, formats
from .placeholders import is_placeholder
from .unwrap import joined_lines

Strength = Literal["password", "secret", "weak"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME: Final = re.compile(r"[A-Za-z0-9_.\-]")
_LONGEST_NAME: Final = 80

_PASSWORD: Final = _words(
    """
    password passwd pwd passphrase passcode passwort senha contrasena requirepass masterauth pass pw
    userpassword dbpassword
    """
)
_SECRET: Final = _words(
    """
    secret token apikey jwt accesstoken authtoken secretkey accesskey privatekey bearer credentials
    """
)
_KEY: Final = _words(
    """
    api access secret private auth encryption signing master account license service app application client
    webhook ssh deploy shared session admin subscription write server integration crypto hmac aes rsa jwt ingest
    project user rpc wallet deployer
    """
)
_ENDINGS: Final = _words(
    """
    prod production staging stage dev development live test old new value raw default primary secondary main
    base64 b64 str text string plain plaintext env here local ci backup tmp temp
    """
)
_NOT_BEFORE_TOKEN: Final = _words(
    """
    page next continuation sync csrf xsrf cancellation cancel max min total input output prompt completion
    cached cache special eos bos pad unk stop start end sep first last pagination cursor resume design color
    style theme syntax current previous prev each per by num count number read write creation thinking reasoning
    budget used remaining lex punctuation word invalid missing expired bad no has is with without get set fetch
    parse validate verify check new create generate refresh decode encode
    """
)
_NOT_BEFORE_KEY: Final = _words(
    """
    public publishable primary foreign cache partition sort index row hash idempotency translation i18n object
    dedupe group query unique map dict lookup config storage item registry column sorting arrow shift hot short
    composite natural surrogate message event route state react json yaml metadata entry field data answer
    candidate
    """
)
_PUBLIC: Final = _words(
    """
    public publishable anon site
    """
)

_SEPARATOR: Final = re.compile(
    r"""
    (?P<close>(?:\\{0,4}["'`\]]|%22){0,3})
    (?:
      [ \t]{0,20} [,{]? (?:[ \t] | \\+[nr] | \r?\n (?:[ ]{0,6}\d{1,6}[\u2192\t])?){0,20}
        (?: (?:type|sensitive|description) [ \t]{0,20} = [^\n]{0,120} \n [ \t]{0,20} ){0,3}
        \\{0,4}["']? (?P<value> (?i:value|default) ) \\{0,4}["']?
        [ \t]{0,20} [:=] [ \t]{0,20}
    | [ \t]{0,20} (?P<op> => | := | \?= | \|\|=? | \?\? | ==? | : | (?i:%3[AD]) )
        (?:[ \t] | (?:\\+[nr]|\r?\n)[ \t]{1,20} | (?i:%20)){0,20}
        (?: (?:const[ ])? [A-Za-z_&][\w\[\]., |&?'<>]{0,30}? = [ \t]{0,20} (?=\\{0,4}["']) )?
    | [ \t]{1,20} (?P<prose> is | to | = )[ \t]{1,20} (?:now[ ]|this[ ]|:[ ])?
    | (?P<xml> > )
    | [ \t]{0,20} , [ \t]{0,20} (?: [A-Za-z_]{1,12} [ \t]{0,20} [=:] [ \t]{0,20} )? (?P<pair> (?=\\{0,4}["']) )
    | \( [ \t]{0,20} (?P<call> (?=\\{0,4}["']) )
    | (?P<space> [ \t]{1,20} )
    )
    (?P<prefix> [bruf] (?=\\{0,4}["']) )?
    (?P<open> \\{0,4}["'`] | %22 )?
    """,
    re.VERBOSE,
)
_SCHEME: Final = re.compile(r"(?:Bearer|Basic|Token|token|bearer|basic|Bot|ApiKey|Api-Key)(?:[ \t]+|%20|\+)")
_UNQUOTED: Final = re.compile(r"""[^\s"'`<>,;(){}\[\]\\|&]+""")
_DJANGO_START: Final = re.compile(r"django-insecure-[a-z0-9!@#$%^&*(\-_=+)]{40,60}")
_CODE_AFTER: Final = re.compile(r"[ \t]*[(\[{]|\?\.|::")
_ENCODED_END: Final = re.compile(r"%(?:26|22|27|3B|2C|7D|20|0A|3b|2c|7d|0a)")
_ASSIGNED: Final = re.compile(r"[ \t]{1,4}=(?!=)")
_LONGEST_VALUE: Final = 4096

_CODE: Final = re.compile(
    r"""[(){}\[\]<>;`|\s]|::|->|=>|\+\+|&&|^[@$%&*!?]|^-[a-zA-Z-]|^https?:|^arn:|^[./~]|^\w+://|^sha\d+[-:]|^[A-Za-z]:[\\/]|^data:"""
)
_IDENTIFIERS: Final = re.compile(
    r"&?[A-Za-z_$][A-Za-z_$]*\d{0,2}(?:(?:\.|->|\?\.|/|-|:)[A-Za-z_$][A-Za-z_$]*\d{0,2})*[!?:.,]*"
)
_VERSION_OR_DATE: Final = re.compile(r"v?\d+(?:[.:\-T_/]\d+)*Z?[a-z]{0,3}\d?|\d{4}-\d\d-\d\d.*")
_FILE: Final = re.compile(
    r".*\.(?:py|js|ts|tsx|go|rs|json|ya?ml|toml|md|txt|html|css|env|pem|crt|key|sh|sql|png|svg|java|rb|php|c|h|com|io|dev|org|net)(?::\d+)*",
    re.DOTALL,
)
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEX: Final = re.compile(r"(?:0x)?[0-9a-fA-F]+")
_TOKEN_LETTERS: Final = re.compile(r"[A-Za-z0-9+/=_.~:%!@#$^*-]+")
_SYMBOLS: Final = frozenset("!#%^*@$&+=?~/")


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A value with the name that stands before it."""

    name: str
    strength: Strength
    start: int
    end: int
    value: str
    quoted: bool
    how: str
    """What connects them: an operator such as `=`, or "prose", "xml", "pair", "call", "value", "space"."""
    wrapped: bool = False


def words_of(name: str) -> list[str]:
    """Split a name into its words, in lower case: `dbPassword`, `DB_PASSWORD` and `db-password` give the same."""
    return [word.lower() for word in _WORD.findall(name)]


@lru_cache(maxsize=4096)
def strength_of(name: str) -> Strength | None:
    """Return how much a name says that its value is secret; None if it does not."""
    words = words_of(name)
    while len(words) > 1 and (words[-1] in _ENDINGS or words[-1].isdigit()):
        words.pop()
    if not words or _PUBLIC.intersection(words):
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _PASSWORD:
        if last in ("pass", "pw") and not before:
            return "weak"
        return None if before in _NOT_VERBS else "password"
    if last in _SECRET:
        return None if before in _NOT_BEFORE_TOKEN and last in ("token", "jwt") else "secret"
    if last == "base" and words[-3:-1] == ["secret", "key"]:
        return "secret"
    if last == "key":
        if before in _KEY:
            return "secret"
        return "weak" if before and before not in _NOT_BEFORE_KEY else None
    if last in ("authorization", "auth", "data") and (last != "data" or before == "key"):
        return "weak"
    return None


_NOT_VERBS: Final = _words(
    """
    forgot reset change confirm enter invalid wrong show hide toggle has is no missing bad encrypted hashed
    """
)


def name_before(text: str, place: int, end: int) -> tuple[int, int]:
    """Return where the whole name stands, of which a part was found from `place` to `end`."""
    start = place
    while start > 0 and place - start < _LONGEST_NAME and _NAME.match(text[start - 1]):
        start -= 1
    while (
        end < len(text)
        and end - place < _LONGEST_NAME
        and (text[end].isalnum() or text[end] in "_-")
        and text[end].isascii()
    ):
        end += 1
    return start, end


_SECRET_WORD: Final = re.compile(
    r"passw(?:or)?d|passwd|passwort|passphrase|passcode|pass|pwd|pw|senha|contrase|secret|token|key|authorization|auth|credential|jwt|bearer|signature",
    re.IGNORECASE,
)


def named_values(text: str, start: int, end: int) -> Iterator[NamedValue]:
    """Yield the values beside the names that stand in this part of the text. The first look found the part."""
    seen = -1
    for word in _SECRET_WORD.finditer(text, start, min(end, start + 400)):
        name_start, name_end = name_before(text, word.start(), word.end())
        if name_end <= seen:
            continue
        seen = name_end
        name = text[name_start:name_end].strip(".-")
        strength = strength_of(name)
        if strength is None:
            continue
        found = value_after(text, name, strength, name_start, name_end)
        if found is not None:
            yield found


def value_after(text: str, name: str, strength: Strength, name_start: int, name_end: int) -> NamedValue | None:
    """Return the value that stands beside a name; None if none does."""
    place = _SEPARATOR.match(text, name_end)
    if place is None:
        return None
    how = next(
        (item for item in ("prose", "xml", "pair", "call", "value", "space") if place[item] is not None),
        place["op"] or "=",
    )
    opening = place["open"]
    if how == "space" and opening is None and not _takes_a_space(text, name, name_start):
        return None
    if how == ":" and text[name_start - 1 : name_start] == ":":
        return None  # a part of an address such as arn:aws:...:secret:name
    if how == "xml" and text[name_start - 1 : name_start] not in "<\"'":
        return None
    at = place.end()
    scheme = _SCHEME.match(text, at)
    if scheme is not None:
        at = scheme.end()
    if opening is not None:
        end = text.find(opening, at, at + _LONGEST_VALUE)
        line_end = text.find("\n", at, at + _LONGEST_VALUE)
        if end < 0:
            return None
        if 0 <= line_end < end:
            return _wrapped_value(text, name, strength, at, end, how, opening)
        value = text[at:end]
        return NamedValue(name, strength, at, end, value, True, how) if value else None
    made_by_django = _DJANGO_START.match(text, at)
    if made_by_django is not None:  # holds letters that end other values
        return NamedValue(name, strength, at, made_by_django.end(), made_by_django[0], False, how)
    run = _UNQUOTED.match(text, at, at + _LONGEST_VALUE)
    if run is None or _CODE_AFTER.match(text, run.end()):
        return None
    end = run.end()
    value = run[0]
    if how.startswith("%"):
        value = _ENCODED_END.split(value, maxsplit=1)[0]
        end = at + len(value)
    if how == ":" and _ASSIGNED.match(text, end):
        return None  # a type, and the value is behind it
    while value and value[-1] in ".:?!)" and (len(value) < 2 or value[-2] not in ".:?!"):
        if how == "prose" or value[-1] in ".:":
            value, end = value[:-1], end - 1
        else:
            break
    if not value:
        return None
    if looks_random(value, 8):
        view = next(joined_lines(text, at, end), None)
        if view is not None and _belongs(value, view.text[len(value) :], text[end : end + 1] == "\\"):
            start, stop = view.span(0, len(view.text))
            return NamedValue(name, strength, start, stop, view.text, False, how, True)
    return NamedValue(name, strength, at, end, value, False, how)


def _wrapped_value(
    text: str, name: str, strength: Strength, at: int, end: int, how: str, opening: str
) -> NamedValue | None:
    """Return a value in quotation marks that a line end breaks in two."""
    first = text[at:end].partition("\n")[0].rstrip("\r\\")
    if not looks_random(first, 6):
        return None
    for view in joined_lines(text, at, at + len(first)):
        stop = view.span(0, len(view.text))[1]
        if text[stop : stop + len(opening)] == opening:
            return NamedValue(name, strength, at, stop, view.text, True, how, True)
    return None


def _belongs(first: str, rest: str, continued: bool) -> bool:
    """Return whether a line goes on with a value that the line before it begins."""
    if continued:
        return bool(rest)
    return (
        looks_random(rest, 6)
        and len(rest) <= max(80, len(first) * 4)
        and ":" not in rest
        and "=" not in rest.rstrip("=")
        and abs(_share_of_digits(first) - _share_of_digits(rest)) < 0.5
    )


def _share_of_digits(text: str) -> float:
    return sum(letter.isdigit() for letter in text) / max(len(text), 1)


def _takes_a_space(text: str, name: str, start: int) -> bool:
    """Return whether a space may part this name from its value: a flag, a netrc file, an instruction of a Dockerfile."""
    if text[start : start + 1] == "-":
        return True
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return (
        re.search(r"(?:\b(?:ENV|ARG|setx|login|machine|requirepass|export|set)\b|config set|-e)[^=]*$", line)
        is not None
        or name == "requirepass"
    )


# --- what a value looks like ------------------------------------------------------------------------------------------


def changes_of_class(value: str) -> int:
    """Count how often letters and digits, and lower and upper case, follow one another: often in random texts only."""
    count, last = 0, ""
    for letter in value:
        kind = "d" if letter.isdigit() else "l" if letter.islower() else "u" if letter.isupper() else ""
        if last and kind and kind != last and (last, kind) != ("u", "l"):
            count += 1
        last = kind
    return count


def looks_random(value: str, least: int = 16) -> bool:
    """Return whether nobody would have written these letters: digits and letters mixed, not as in names and paths."""
    if len(value) < least or _TOKEN_LETTERS.fullmatch(value) is None:
        return False
    if not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)):
        return False
    return changes_of_class(value) >= max(2, len(value) * 0.2) and _share_of_words(value) < 0.6


_PLAIN_WORD: Final = re.compile(r"[A-Z][a-z]{2,}|[a-z]{4,}|[A-Z]{4,}")
_VOWEL: Final = re.compile(r"[aeiouyAEIOUY]")


def _share_of_words(value: str) -> float:
    """Return how much of a value are words, as far as letters tell."""
    return sum(len(word) for word in _PLAIN_WORD.findall(value) if _VOWEL.search(word)) / len(value)


def _is_code(value: str) -> bool:
    return _CODE.search(value) is not None or _FILE.fullmatch(value) is not None


def looks_like_password(value: str, *, quoted: bool) -> bool:
    """Return whether a person, or a generator, would make this a password."""
    if not 6 <= len(value) <= 128 or _VERSION_OR_DATE.fullmatch(value) is not None or not value.isascii():
        return False
    if _IDENTIFIERS.fullmatch(value) is not None and not (quoted and looks_random(value, 8)):
        return False
    kinds = sum(
        (
            any(letter.islower() for letter in value),
            any(letter.isupper() for letter in value),
            any(letter.isdigit() for letter in value),
            any(letter in _SYMBOLS for letter in value),
        )
    )
    return kinds >= (2 if quoted or len(value) >= 12 else 3) and not value.isdigit() and _is_varied(value)


def _is_varied(value: str) -> bool:
    return any(letter.isdigit() for letter in value) or (
        sum(letter in _SYMBOLS for letter in value) > 0 and any(map(str.isupper, value))
    )


@cache
def _named_formats() -> tuple[tuple[Format, re.Pattern[str]], ...]:
    return tuple((item, item.value_by_name) for item in formats().values() if item.value_by_name is not None)


def kind_of(found: NamedValue) -> tuple[str, str] | None:
    """Return the kind of a named value and the confidence; None if it is not a secret."""
    value, words = found.value, words_of(found.name)
    if is_placeholder(value) or not value.isascii():
        return None
    lower, spaced = "".join(words), " ".join(words)
    for item, pattern in _named_formats():
        is_named = any(name in spaced or name.replace(" ", "") == lower for name in item.names)
        # The vendor's prefix says as much as the look of what follows it.
        starts = any(value.startswith(prefix) for prefix in item.prefix)
        if is_named and pattern.fullmatch(value) and (starts or looks_random(value)):
            return item.kind, "likely"
    special = _special_kind(found, words, lower)
    if special is not None:
        return special
    if _is_code(value) and not (found.strength == "password" and found.quoted and not _CODE.search(value[1:])):
        return None
    if found.how == "==" or (found.how in ("prose", "space", "pair") and not found.quoted and not _is_strong(value)):
        return None
    if found.strength == "password":
        return ("generic-password", "likely") if looks_like_password(value, quoted=found.quoted) else None
    if found.strength == "weak":
        if (
            looks_random(value, 20)
            and not _HEX.fullmatch(value)
            and not _UUID.fullmatch(value)
            and found.how in ("=", ":")
        ):
            is_constant = found.name.isupper() or words[-1] == "pass"
            return "generic-api-key", "likely" if is_constant else "possible"
        return None
    if _UUID.fullmatch(value):
        return "generic-api-key", "likely"
    if looks_random(value):
        return "generic-api-key", "likely"
    if len(value) >= 12 and _is_strong(value) and any(letter in _SYMBOLS for letter in value):
        return "generic-api-key", "likely"
    return None


def _is_strong(value: str) -> bool:
    """Return whether a value is certainly no word: digits, letters of both cases or symbols, eight of them at least."""
    return (
        len(value) >= 8
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
        and (
            (any(map(str.isupper, value)) and any(map(str.islower, value)))
            or any(letter in _SYMBOLS for letter in value)
            or looks_random(value)
        )
    )


_BASE64_KEY: Final = re.compile(r"[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=")
_DOCKER: Final = re.compile(r"[A-Za-z0-9+/]{12,}={0,2}")
_STORAGE: Final = re.compile(r"[A-Za-z0-9+/]{86}==")
_DJANGO: Final = re.compile(r"django-insecure-.{40,60}|[a-z0-9!@#$%^&*(\-_=+)]{50}")


def _special_kind(found: NamedValue, words: list[str], lower: str) -> tuple[str, str] | None:
    """Return the kind of values that a certain name makes certain."""
    from .unwrap import decoded_text

    value = found.value
    if lower == "privatekey" and _BASE64_KEY.fullmatch(value):
        return "wireguard-private-key", "definite"
    if lower.endswith(("privatekey", "deployerkey", "walletkey")) and re.fullmatch(r"(?:0x)?[0-9a-fA-F]{64}", value):
        return "ethereum-private-key", "likely"
    if lower.endswith("secretkeybase") and re.fullmatch(r"[0-9a-f]{64,128}", value):
        return "rails-secret-key-base", "likely"
    is_django = "django" in words or words[-2:] == ["secret", "key"]
    if is_django and _DJANGO.fullmatch(value) and (found.quoted or value.startswith("django-")):
        return "django-secret-key", "likely"
    if words[-2:] == ["auth", "token"] and found.name.startswith("_"):
        return ("npmrc-auth-token", "likely") if looks_random(value, 16) or _UUID.fullmatch(value) else None
    if lower.endswith("accountkey") and _STORAGE.fullmatch(value):
        return "azure-storage-key", "definite"
    if lower == "auth" and found.quoted and _DOCKER.fullmatch(value):
        return ("docker-config-auth", "likely") if ":" in (decoded_text(value) or "") else None
    if lower.endswith("clientkeydata") and value.startswith("LS0tLS1CRUdJTi"):
        return "kubeconfig-client-key", "definite"
    if lower == "requirepass" or lower.endswith("redispassword"):
        return ("redis-password", "likely") if looks_like_password(value, quoted=found.quoted) else None
    return None
