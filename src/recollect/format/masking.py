"""Hide secrets in configuration before it is shown.

A value is hidden when its key names a secret (`password`, `GITHUB_TOKEN`, `oauthAccount`, a header), or when it looks like
a secret under any key (a known token prefix, a private key, a long random string, a password inside a URL or a command
line). Hiding too much does little harm, showing one key does: in doubt a value is hidden.
"""

from __future__ import annotations

import re
from typing import Any

MASK = "(masked)"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Hidden as a whole, whatever they hold: credentials, and what identifies the account or the machine.
_HIDDEN_KEYS = _names(
    """
    oauth oauthaccount claudeaioauth mcpoauth credentials customapikeyresponses primaryapikey authorization
    proxyauthorization cookie cookies setcookie userid machineid anonymousid deviceid stableid accountuuid accountid
    organizationuuid emailaddress email awscredentialexport gcpauthrefresh
    """
)
_SECRET_WORDS = _names(
    """
    token secret secrets password passwords passwd pwd passphrase pass apikey apikeys apitoken authtoken accesstoken
    refreshtoken bearer credential credentials cookie cookies jwt pat pin otp sas dsn connectionstring privatekey
    accesskey secretkey signature auth
    """
)
# `key` alone is too common a word (key bindings); after one of these it is a secret.
_KEY_QUALIFIERS = _names(
    """
    api access private secret auth encryption signing service account license ssh master shared deploy client app admin
    user
    """
)
# Below these keys, the keys are names that people chose (paths, servers, plugins): they do not describe the values.
_NAMED = _names(
    """
    projects mcpservers enabledplugins pluginusage skillusage toolusage lastmodelusage tipshistory
    extraknownmarketplaces
    """
)
_HARMLESS_HEADERS = _names("accept acceptencoding acceptlanguage contenttype contentlength useragent cachecontrol host")
_HEADERS = _names("headers httpheaders customheaders anthropiccustomheaders otelexporterotlpheaders")
_ENVIRONMENTS = _names("env environment")

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")

_TOKEN_SHAPES = re.compile(
    r"""
      -----BEGIN[ A-Z]*PRIVATE\ KEY-----.*?(?:-----END[ A-Z]*PRIVATE\ KEY-----|\Z)
    | \b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}
    | \b(?:gh[opusr]|github_pat|glpat|gldt|glsa|xox[abeoprs]|xapp|npm|pypi|hf|dop_v1|shpat|lin_api|ntn|figd|dckr_pat
          |gsk|xai|tvly|pplx|r8|rnd)[-_][A-Za-z0-9_-]{10,}
    | \b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{12,}
    | \bAIza[A-Za-z0-9_-]{30,}
    | \bya29\.[A-Za-z0-9_.-]{20,}
    | \bSG\.[A-Za-z0-9_-]{16,99}\.[A-Za-z0-9_-]{16,}
    | \beyJ[A-Za-z0-9_-]{8,4000}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?
    | hooks\.slack\.com/services/[A-Za-z0-9/]+
    | (?<=://)[^/\s@]+(?=@)
    | (?i:\b(?:bearer|basic)\s{1,8})[A-Za-z0-9._~+/=-]{6,}
    """,
    re.VERBOSE | re.DOTALL,
)
# `name=value` and `name: value` inside texts: command lines, query strings, header lines. The name is bounded and
# begins at a word's start, so that a megabyte of letters costs no more than its length.
_ASSIGNED_NAME = re.compile(r"(?<![A-Za-z0-9_.])(?P<name>[A-Za-z][A-Za-z0-9_.-]{0,60})(?P<sign>\s{0,4}[=:]\s{0,4})")
_ASSIGNED_VALUE = re.compile(r"""(?i:(?:bearer|basic|token|digest)\s{1,4})?(?:"[^"]*"|'[^']*'|[^\s&;,"']+)""")
_LONG_WORD = re.compile(r"[A-Za-z0-9_+=-]{32,}")
_FLAG = re.compile(r"--?(?P<name>[A-Za-z][A-Za-z0-9_-]*)")


def mask_secrets(value: Any) -> Any:
    """Return a copy of a decoded JSON value with all secrets hidden."""
    try:
        return _mask(value, "")
    except RecursionError:
        return MASK


def is_secret_name(name: str, *, strict: bool = False) -> bool:
    """Return whether a field, variable or flag of this name holds a secret. `strict` (for variables) counts every `key`."""
    words = [word.lower() for word in _WORDS.findall(name)]
    joined = "".join(words)
    if joined in _HIDDEN_KEYS or joined in _SECRET_WORDS or not _SECRET_WORDS.isdisjoint(words):
        return True
    for before, word in zip(["", *words], words, strict=False):
        if word in ("key", "keys") and (strict or before in _KEY_QUALIFIERS):
            return True
    return joined.endswith(("token", "password", "passwd", "secret", "apikey", "credentials"))


def mask_text(text: str) -> str:
    """Hide each part of a text that looks like a secret; the rest of the text stays."""
    text = _TOKEN_SHAPES.sub(MASK, text)
    text = _mask_assignments(text)
    return _LONG_WORD.sub(_mask_random, text)


def _mask_assignments(text: str) -> str:
    pieces = []
    position = 0
    for match in _ASSIGNED_NAME.finditer(text):
        if match.start() < position or not is_secret_name(match["name"], strict="=" in match["sign"]):
            continue
        value = _ASSIGNED_VALUE.match(text, match.end())
        if value is not None:
            pieces += [text[position : match.end()], MASK]
            position = value.end()
    return "".join([*pieces, text[position:]])


def _mask_random(match: re.Match[str]) -> str:
    """Hide a long word that looks random: upper and lower case and three or more digits. Hashes have no upper case."""
    word = match[0]
    digits = sum(letter.isdigit() for letter in word)
    mixed = any(letter.isupper() for letter in word) and any(letter.islower() for letter in word)
    return MASK if mixed and digits >= 3 else word


def _mask(value: Any, context: str) -> Any:
    match value:
        case str():
            return mask_text(value)
        case dict():
            return {_mask_key(key): _mask_field(str(key), item, context) for key, item in value.items()}
        case list() | tuple():
            return _mask_list(list(value), context)
        case _:
            return value


def _mask_key(key: Any) -> Any:
    return _TOKEN_SHAPES.sub(MASK, key) if isinstance(key, str) else key


def _mask_field(key: str, value: Any, context: str) -> Any:
    if context == "names":
        return _mask(value, "")
    words = [word.lower() for word in _WORDS.findall(key)]
    plain = "".join(words)
    if plain in _HIDDEN_KEYS:
        return value if value is None or value in ("", [], {}) else MASK
    if context == "headers":
        return _mask(value, "") if plain in _HARMLESS_HEADERS else _hide(value)
    if is_secret_name(key, strict=context == "env") and not _is_figure(words, value):
        return _hide(value)
    if plain in _ENVIRONMENTS:
        return _mask(value, "env")
    if plain in _HEADERS:
        return _mask(value, "headers") if isinstance(value, dict) else _hide(value)
    return _mask(value, "names" if plain in _NAMED else "")


def _is_figure(words: list[str], value: Any) -> bool:
    """Return whether a value is only a number about secrets: `tokenThreshold: 5000` is, `pin: 5000` is a secret."""
    return isinstance(value, int | float) and (isinstance(value, bool) or words[-1] not in _SECRET_WORDS)


def _mask_list(items: list[Any], context: str) -> list[Any]:
    """Mask a list. It may be a command line, so the item after a flag like `--api-key` is hidden."""
    masked = []
    follows_secret_flag = False
    for item in items:
        if follows_secret_flag and isinstance(item, str) and not item.startswith("-"):
            masked.append(MASK)
            follows_secret_flag = False
            continue
        masked.append(_mask(item, context))
        flag = _FLAG.fullmatch(item) if isinstance(item, str) else None
        follows_secret_flag = flag is not None and is_secret_name(flag["name"], strict=True)
    return masked


def _hide(value: Any) -> Any:
    """Hide every text and number below a secret's name, but keep the structure, so that it is visible what is set."""
    match value:
        case dict():
            return {_mask_key(key): _hide(item) for key, item in value.items()}
        case list() | tuple():
            return [_hide(item) for item in value]
        case None | bool() | "":
            return value
        case _:
            return MASK
