"""Tell whether a file is still the same and was not written to: one rule for index, vault and SQL. Imports nothing.

The journal's `stamp.Stamp` answers another question, whether somebody wrote to a file: it must hold after a rename or a new link
too, which give a file another ctime, and it is kept on disk with the changes.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `keep` runs at the end of every turn and starts without these
if TYPE_CHECKING:
    import os

FileStamp = tuple[int, int, int, int]
"""Size, mtime_ns, ctime_ns and inode of a file. While these are the same, so are its bytes.

ctime tells also of lines that keep a file's time, as titles do. The device is no part of it: some systems number their devices
anew at each start.
"""


def file_stamp(info: os.stat_result) -> FileStamp:
    """The stamp of a file as the system just described it."""
    return info.st_size, info.st_mtime_ns, info.st_ctime_ns, signed(info.st_ino)


def signed(number: int) -> int:
    """An inode or device number as databases take it: some file systems use all 64 bits, SQLite's numbers have a sign."""
    return number if number < 1 << 63 else number - (1 << 64)
