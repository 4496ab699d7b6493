"""Tell from an error that the index is damaged: then it is thrown away and built anew, for it is only a copy."""

from __future__ import annotations


def is_damage(error: BaseException) -> bool:
    """Whether an error comes from reading an index that is not what was written.

    A panic of the word index is no Exception: whoever catches Exception does not see it.
    """
    import apsw

    return isinstance(error, (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)) or is_panic(error)


def is_panic(error: BaseException) -> bool:
    """Whether this is a panic of a library written in Rust, as the word index is."""
    return type(error).__name__ == "PanicException"
