"""Change files of a home safely: the only room that writes there, and the one that must never be wrong.

    actions.py       the steps a change is made of: append, replace, move, remove, make a folder
    changes.py       `Change`: collects steps and commits them, all or none
    journal.py       `Journal`: the record of all changes on disk; recovery after a crash, and undo
    masking.py       secrets in what the journal keeps
    undo_order.py    which later changes must be undone first
    guard.py         whether a session is in use, so that it must not be changed now
    locks.py         lock files, and leases that tell who has a file open
    disk.py          every system call that writes, with its sync; the hash that tells one file content from another

**How a change is written.** New bytes are staged in Recollect's own data folder, synced. `Change.commit` then
1. takes the lock of the home (one Recollect process at a time changes it), and rolls back what a crash left half done;
2. compares every file that the plan was made from with what was read (see below);
3. writes the record of all steps into the journal and announces it by a second name of the record, `doing-<home>`;
4. does the steps in order; each keeps what it replaces or removes in the journal's folder of the change;
5. writes `done` into that folder and removes the announcement.
Whoever finds an announcement while holding the lock knows that a process died between 3 and 5, and rolls the change back from
the record. Undo works the same way backwards, announced as `undoing-<home>`, and is completed after a crash.

**Compare with what was read.** Nothing is overwritten, cut or removed unless it still is what the plan was made from. A `Stamp`
(size and modification time) tells in most cases; a hash tells where a whole session is rewritten and where an undo would bring
back older bytes. Claude Code takes no locks, so the comparison is made at three moments:
- when the change is committed, under the lock: `Change.rely_on` notes the stamp (with `content=True` the hash too);
- when a step writes: an append or a cut expects the size it was planned for and waits for other writers (leases, `locks.py`), and
  a replaced file is compared once more after the swap, from the copy that the journal holds;
- when the change is undone: `check_undo` of each step compares the file with how the change left it, and the copy with how it
  was kept.
Whatever differs is an error (`changed-meanwhile`, `changed-since`) and leaves everything as it was.
"""
