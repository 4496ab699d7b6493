"""Plan changes to sessions: append, fork, rewind, move, split, delete, to-dos, repair, migrate. The journal carries them out."""
