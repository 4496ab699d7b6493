"""Session stores: places to which the official SDK mirrors conversations, and from which it resumes them.

All three implement the same protocol (`protocol.py`) and pass the same contract (`recollect.testing.store_contract`):

    MemorySessionStore      memory.py    gone with the process
    FolderSessionStore      folder.py    files as in a Claude home, which every Recollect command can read
    SqliteSessionStore      sqlite.py    one database file
"""
