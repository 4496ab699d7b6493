"""Recognise errors that mean a damaged index, which is then deleted and rebuilt: it is only a copy."""

from __future__ import annotations


def is_damage(error: BaseException) -> bool:
    """Return whether an error means that the files of the index are damaged.

    A panic of the word index derives from BaseException only: `except Exception` does not catch it.
    """
    import apsw

    return isinstance(error, (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)) or is_panic(error)


def is_panic(error: BaseException) -> bool:
    """Return whether an error is a panic of a library written in Rust, such as the word index (tantivy)."""
    return type(error).__name__ == "PanicException"
