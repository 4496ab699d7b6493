"""Decide whether a file is unchanged: one rule for index, vault and SQL. Imports nothing.

The journal's `stamp.Stamp` answers another question, whether the bytes of a file were rewritten: it is stored with the
changes, and has to stay valid after a rename or a new hard link, which give a file another ctime.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `keep` runs at the end of every turn and starts without these
if TYPE_CHECKING:
    import os

FileStamp = tuple[int, int, int, int]
"""Size, mtime_ns, ctime_ns and inode of a file. While they are equal, so are its bytes.

ctime also shows writes that restore a file's mtime, as those of titles do. The device is not part of a stamp: some
systems number their devices anew at each start.
"""


def file_stamp(info: os.stat_result) -> FileStamp:
    """Return the stamp of a file from its `stat` result."""
    return info.st_size, info.st_mtime_ns, info.st_ctime_ns, signed(info.st_ino)


def signed(number: int) -> int:
    """Return an inode or device number as SQLite's signed 64-bit integer; some file systems use all 64 bits."""
    return number if number < 1 << 63 else number - (1 << 64)
