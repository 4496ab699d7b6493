"""Session stores: places that the official SDK mirrors conversations into and resumes them from.

All three speak the same protocol (`protocol.py`) and pass the same exam (`recollect.testing.store_contract`):

    MemorySessionStore      memory.py    gone with the process
    FolderSessionStore      folder.py    files as in a Claude home, which every Recollect command can read
    SqliteSessionStore      sqlite.py    one database file
"""
