"""Find personal data in a text: users in home paths, mail addresses, host names, and by choice addresses, phones, cards, IBANs.

Documentation values (``example.com``, ``noreply@``, test cards, private networks) and users that machines are given
(``root``, ``runner``) belong to nobody and are not found.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from .findings import Form, Found


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PERSONAL_KINDS: Final = {
    "home-path-user": "the user in a home path, also in the name of a project folder",
    "windows-home-path-user": "the user in a home path of Windows",
    "email": "a mail address",
    "hostname": "the name of a machine",
    "word": "a word of your own list",
    "ipv4": "a public address",
    "ipv6": "a public address",
    "phone": "a phone number",
    "credit-card": "a card number that its check digit proves",
    "iban": "an account number that its check digits prove",
}
#: Found only where everything personal is asked for.
ONLY_WITH_ALL: Final = frozenset({"ipv4", "ipv6", "phone", "credit-card", "iban"})

#: Users that say nothing about a person.
NOBODY: Final = _names(
    """
    root user users username user-name name your-name yourname you me admin administrator dev developer test tester guest
    demo default public shared all ubuntu debian fedora centos ec2-user azureuser vagrant docker node app runner runneradmin
    jenkins build builder ci circleci codespace vscode gitpod git www-data nobody postgres linuxbrew homebrew someone
    somebody example foo bar baz sandbox
    """
)

_NAME: Final = r"[^\W_](?:[\w.-]{0,62}\w)?"
_ESCAPE: Final = r"(?<=\\[nrt])"
"""Behind a line feed or a tab that is written as an escape, as in JSON inside of a string."""
_HOME_PATH: Final = re.compile(
    rf"(?:(?<![\w.%-])|{_ESCAPE})(?P<before>(?:/mnt/[a-z]|/cygdrive/[a-z]|/[a-z]|/var|/export|/System/Volumes/Data)?/(?:home|Users)/)"
    rf"(?P<user>{_NAME})(?![\w@])"
)
_ENCODED_PATH: Final = re.compile(rf"%2[Ff](?:home|Users)%2[Ff](?P<user>{_NAME})(?![\w@])")
_WINDOWS_NAME: Final = r"[^\W_](?:[\w .-]{0,62}\w)?"
_WINDOWS_PATH: Final = re.compile(
    rf"(?<![A-Za-z0-9])(?P<before>[A-Za-z]:(?P<bar>\\{{1,4}}|/{{1,2}})(?:Users|Documents and Settings)(?P=bar))"
    rf"(?P<user>{_WINDOWS_NAME}(?=(?P=bar))|{_NAME}(?![\w@]))",
    re.IGNORECASE,
)
_WINDOWS_FOLDER: Final = re.compile(r"[\\/](?:[Uu]sers|USERS|[Dd]ocuments and)")
#: The name of a project folder: every letter of the path but ASCII letters and digits is a hyphen there.
_FOLDER_NAME: Final = re.compile(
    r"(?<![A-Za-z0-9-])(?P<before>(?:[A-Za-z]-)?-(?:home|Users)-)(?P<user>[A-Za-z0-9]{1,64})(?![A-Za-z0-9])"
)

_MAIL: Final = re.compile(
    rf"(?:{_ESCAPE}|(?<![\w.%+@/:=-])(?!(?<=\\)[nrt]))"
    r"[\w][\w.%+-]{0,63}(?:@|%40)(?P<domain>(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}(?P<top>[A-Za-z]{2,24}))(?![\w@])"
)
_MAIL_BEHIND: Final = re.compile(
    r"(?:mailto:|[=:])(?P<mail>[\w][\w.%+-]{0,63}(?:@|%40)(?P<domain>(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}(?P<top>[A-Za-z]{2,24})))(?![\w@:/])"
)
_NO_PERSON: Final = re.compile(
    r"(?:[\w.+-]*no-?_?reply[\w.+-]*|do-?not-?reply[\w.+-]*|git|svn|hg|mailer-daemon|postmaster)\Z", re.IGNORECASE
)
_DOCUMENTED_DOMAIN: Final = re.compile(
    r"(?:.*\.)?(?:example\.(?:com|org|net|edu)|[\w-]+\.(?:example|test|invalid|localhost|local)|example|test|invalid|localhost"
    r"|users\.noreply\.github\.com|domain\.com|company\.com|email\.com|yourdomain\.com|yourcompany\.com|foo\.com|bar\.com|test\.com)\Z",
    re.IGNORECASE,
)
#: What looks like the end of a domain and is that of a file (``icon@2x.png``) or of code (``user@app.route``).
_NO_TOP_LEVEL: Final = _names(
    """
    png jpg jpeg gif svg webp ico bmp pdf js mjs cjs ts tsx jsx json css scss html htm md py rb go rs java kt c h cpp toml
    yaml yml lock txt log map wasm exe dll so service socket target timer mount route get post put delete property setter
    getter
    """
)

_PROMPT_HOST: Final = re.compile(
    r"(?m)(?:^|[\s\"'(\[])[a-z_][\w.-]{0,31}@(?P<host>[A-Za-z0-9][A-Za-z0-9-]{1,62}(?:\.[A-Za-z0-9-]{1,63}){0,4})(?=:[~/][^\s$#]{0,200}\s?[$#](?:\s|$)|\s[\w~/.-]{1,100}\]?\s?[$#%](?:\s|$))"
)
_SAID_HOST: Final = re.compile(
    r"(?:\bLinux|\bDarwin)\s(?P<uname>[A-Za-z0-9][\w.-]{1,100})\s\d+\.\d+\.\d"
    r"|(?:\bHOSTNAME=|\bCOMPUTERNAME=|\bStatic hostname:\s|\bComputerName:\s|\bLocalHostName:\s)[\"']?"
    r"(?P<set>[A-Za-z0-9][\w.-]{1,100})"
)
_INSIDE_HOST: Final = re.compile(
    r"(?<![\w./@-])(?P<host>(?=[A-Za-z.]*[0-9-])[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?){0,4}"
    r"\.(?:local|lan|internal|corp|intranet|localdomain|home\.arpa))(?![\w(-]|\.\w)"
)
_SHARED_HOST: Final = re.compile(
    r".*(?:\.cluster\.local|docker\.internal|google\.internal|containers\.internal)\Z|localhost.*"
)

_IPV4: Final = re.compile(
    r"(?<![\w./-])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\w-]|\.\d)"
)
_IPV6: Final = re.compile(r"(?<![\w:.])(?=[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]*:)[0-9A-Fa-f:]{6,39}(?![\w:.])")
_VERSION_BEFORE: Final = re.compile(
    r"(?:\bversions?\b|\bv|\bver\.?|==|[~^>=<]=?|@|\brelease|\bbuild)\W{0,3}\Z", re.IGNORECASE
)
#: Servers that everybody uses.
_EVERYBODYS: Final = _names(
    "1.1.1.1 1.0.0.1 8.8.8.8 8.8.4.4 9.9.9.9 149.112.112.112 208.67.222.222 208.67.220.220 1.2.3.4 4.3.2.1"
)
_PHONE: Final = re.compile(
    r"(?<![\w+./-])(?:\+[1-9]\d{0,2}(?:[ .-]?\(\d{1,4}\))?(?:[ .-]?\d{2,5}){2,5}"
    r"|\(\d{3}\) ?\d{3}[ -]\d{4}|\d{3}-\d{3}-\d{4})(?![\w/-]|\.\d)"
)
_MADE_UP_PHONE: Final = re.compile(r"555\D?01\d\d\Z|(\d)\1{6}")
_CARD: Final = re.compile(
    r"(?<![\w.-])(?:\d{4}([ -]?)\d{4}\1\d{4}\1\d{1,7}|3[47]\d{2}([ -]?)\d{6}\2\d{5})(?![\w-]|\.\d)"
)
_CARD_ISSUER: Final = re.compile(
    r"4|5[1-5]|2(?:2[2-9]|[3-6]|7[01]|720)|3[47]|6011|64[4-9]|65|35(?:2[89]|[3-8])|30[0-5]|3[68]|62"
)
_TEST_CARDS: Final = re.compile(
    r"4242|41{10}|40128|4000[05]0{5}|5{4}5{4}|51051051|378282246|6011[01]{5}|37144963|2223003122|4007|30569|38520|3530111|4917610|54545454"
)
_IBAN: Final = re.compile(r"(?<![\w/+=-])[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?(?![\w/+=])")


def find_personal(text: str, *, everything: bool = True) -> list[Found]:
    """Return the personal data in a text, in order and without overlap. Without `everything`, not `ONLY_WITH_ALL`."""
    finds = [*_paths(text), *_mails(text), *_hosts(text)]
    if everything:
        finds += [*_addresses(text), *_phones(text), *_cards(text), *_accounts(text)]
    return without_overlap(finds)


def without_overlap(finds: Iterable[Found]) -> list[Found]:
    """Return finds in order; of those that overlap, the longest."""
    kept: list[Found] = []
    for item in sorted(finds, key=lambda found: (found.start, -found.end)):
        if kept and item.start < kept[-1].end:
            if item.end - item.start > kept[-1].end - kept[-1].start:
                kept[-1] = item
            continue
        kept.append(item)
    return kept


def is_nobody(user: str) -> bool:
    """Return whether a user's name says nothing about a person."""
    return user.lower() in NOBODY or not any(letter.isalpha() for letter in user)


def home_paths(text: str) -> Iterator[tuple[str, str]]:
    """Yield the home paths in a text: what stands before the user's name, and the name."""
    for pattern in (_HOME_PATH, _WINDOWS_PATH):
        for match in pattern.finditer(text):
            yield match["before"], match["user"]


def _found(start: int, end: int, kind: str, value: str, form: Form | str = "plain") -> Found:
    return Found(start, end, kind, "personal", "likely", form, value)


def _holds(text: str, marks: tuple[str, ...]) -> bool:
    """Return whether one of these stands in a text: a quick look before a pattern is tried at every letter."""
    for mark in marks:  # noqa: SIM110  a generator takes longer than the look
        if mark in text:
            return True
    return False


def _paths(text: str) -> Iterator[Found]:
    for pattern, kind, marks in (
        (_HOME_PATH, "home-path-user", ("/home/", "/Users/")),
        (_WINDOWS_PATH, "windows-home-path-user", (":\\", ":/")),
        (_FOLDER_NAME, "home-path-user", ("-home-", "-Users-")),
        (_ENCODED_PATH, "home-path-user", ("%2Fhome%2F", "%2fhome%2f", "%2FUsers%2F", "%2fUsers%2f")),
    ):
        if not _holds(text, marks) or (pattern is _WINDOWS_PATH and not _WINDOWS_FOLDER.search(text)):
            continue
        for match in pattern.finditer(text):
            if not is_nobody(match["user"]):
                yield _found(match.start("user"), match.end("user"), kind, match["user"])


def _mails(text: str) -> Iterator[Found]:
    if "@" not in text and "%40" not in text:
        return
    for pattern in (_MAIL, _MAIL_BEHIND):
        for match in pattern.finditer(text):
            mail = match["mail"] if pattern is _MAIL_BEHIND else match[0]
            mark = "%40" if "%40" in mail else "@"
            name, _, domain = mail.rpartition(mark)
            if match["top"].lower() in _NO_TOP_LEVEL or _NO_PERSON.match(name) or _DOCUMENTED_DOMAIN.match(domain):
                continue
            if (
                not any(letter.isalpha() for letter in domain.rpartition(".")[0])
                or "://" in text[max(match.start() - 64, 0) : match.start()].rpartition(" ")[2]
            ):
                continue  # a version, or the user and the password of an address
            start = match.start("mail") if pattern is _MAIL_BEHIND else match.start()
            yield _found(
                start, start + len(mail), "email", f"{name}@{domain}", "plain" if mark == "@" else "url-encoded"
            )


def _hosts(text: str) -> Iterator[Found]:
    for pattern, names, marks in (
        (_PROMPT_HOST, ("host",), ("@",)),
        (_SAID_HOST, ("uname", "set"), ("Linux ", "Darwin ", "HOSTNAME=", "COMPUTERNAME=", "ostname:", "Name:")),
        (_INSIDE_HOST, ("host",), (".local", ".lan", ".internal", ".corp", ".intranet", ".home.arpa")),
    ):
        if not _holds(text, marks):
            continue
        for match in pattern.finditer(text):
            name = next(name for name in names if match[name])
            host = match[name]
            if not _SHARED_HOST.match(host) and not _DOCUMENTED_DOMAIN.match(host.removesuffix(".local")):
                yield _found(match.start(name), match.end(name), "hostname", host)


def _addresses(text: str) -> Iterator[Found]:
    for pattern, kind, parse in (
        (_IPV4, "ipv4", ipaddress.IPv4Address), (_IPV6, "ipv6", ipaddress.IPv6Address),
    ):  # fmt: skip
        make: Callable[[str], ipaddress.IPv4Address | ipaddress.IPv6Address] = parse
        for match in pattern.finditer(text):
            try:
                address = make(match[0])
            except ValueError:
                continue
            if not address.is_global or address.is_multicast or match[0] in _EVERYBODYS:
                continue
            if kind == "ipv4" and (
                match[0].endswith(".0") or _VERSION_BEFORE.search(text[max(match.start() - 12, 0) : match.start()])
            ):
                continue
            yield _found(match.start(), match.end(), kind, match[0])


def _phones(text: str) -> Iterator[Found]:
    for match in _PHONE.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if 9 <= len(digits) <= 15 and not _MADE_UP_PHONE.search(match[0]) and len(set(digits)) > 3:
            yield _found(match.start(), match.end(), "phone", match[0])


def _cards(text: str) -> Iterator[Found]:
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if (
            13 <= len(digits) <= 19
            and _CARD_ISSUER.match(digits)
            and has_luhn_digit(digits)
            and not _TEST_CARDS.match(digits)
        ):
            yield _found(match.start(), match.end(), "credit-card", match[0])


def _accounts(text: str) -> Iterator[Found]:
    for match in _IBAN.finditer(text):
        number = match[0].replace(" ", "")
        if 15 <= len(number) <= 34 and has_iban_digits(number):
            yield _found(match.start(), match.end(), "iban", match[0])


def has_luhn_digit(digits: str) -> bool:
    """Return whether the last digit is the check digit of a card number."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def has_iban_digits(number: str) -> bool:
    """Return whether the two check digits of an account number are right."""
    return int("".join(str(int(letter, 36)) for letter in number[4:] + number[:4])) % 97 == 1
