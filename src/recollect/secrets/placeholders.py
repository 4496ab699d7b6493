"""Tell values that stand for a secret from secrets: `xxxx`, `<your token>`, `${TOKEN}`, the examples of documentations."""

from __future__ import annotations

import hashlib
import re
from typing import Final

_MARKS: Final = re.compile(
    r"""
    (.)\1{5}                                   # the same letter six times
    | [xX]{4} | \*{3} | \.\.\. | … | •{3} | _{4} | (?:\b|_)0{6}
    | < [^<>]{0,60} > | \$\{ | \$\( | \{\{ | %\( | \#\{ | ^\$[A-Za-z_] | ^%[A-Za-z_]+%$ | ^\{[A-Za-z_.]+\}$
    | (?i: your[-_ ]? | example | placeholder | redacted | changeme | change[-_]me | replace[-_ ]?(?:me|this|with)
      | insert[-_ ] | dummy | (?<![a-z])fake | (?<![a-z])sample | todo | (?<![a-z])mock
      | (?<![a-z])test[-_]?(?:key|token|secret|pass)
      | foo[-_]?bar | not[-_ ]?(?:a[-_ ])?real | my[-_](?:secret|token|key|password|api) | here$ | ^masked | hidden
      | abcdef(?:gh|01|12) | 12345678 | 0123456 | deadbeef | (?<![a-z])(?:some|any)[-_] | lorem
      | (?:secret|token|password|passwd|key)[-_ ]?(?:goes|value|here|placeholder) )
    """,
    re.VERBOSE,
)
_IN_LONG: Final = re.compile(r"(.)\1{7}|[xX]{6}|\*{3}|\.\.\.|…|(?i:your[-_]|example|placeholder|redacted)")
"""In a long random text some short marks come by chance."""
_LONG: Final = 40
_LEAST_LETTERS: Final = 5
#: BLAKE2 of values that documentations show, so that they do not stand here themselves.
_KNOWN: Final = frozenset(
    {
        "bc2b96d967bbb746",  # jwt.io
        "59c73184681a3e41",  # jwt.io2
        "188887d297766300",  # jwt.io old
        "d00f82abf1761d33",  # rfc7519
        "b122867768cf1807",  # aws
        "826e0fd9a88ef5e1",  # stripe1
        "2e12236193731ba6",  # stripe2
        "f8c661bbd238e78b",  # stripe3
        "20e88191d76dc156",  # azurite
        "76449d3eb6d5ca57",  # cosmos emulator
        "a05b8aa8899378c2",  # basic
        "051def1588f9ab3d",  # basic2
        "c2945bcd936cf1d3",  # rfc6750
        "1bfe1fd792036b20",  # hardhat0
        "656bf148b9a7261f",  # hardhat1
        "85df6a0a458d69ce",  # supabase demo anon
        "d1881361e7a24f2b",  # supabase demo service
    }
)


def is_placeholder(value: str) -> bool:
    """Return whether a value only stands for a secret."""
    marks = _MARKS if len(value) < _LONG else _IN_LONG
    if marks.search(value) is not None:
        return True
    if len(set(value)) < _LEAST_LETTERS:
        return True
    return known_value(value) in _KNOWN


def known_value(value: str) -> str:
    """Return the short hash by which a value of a documentation is listed."""
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
