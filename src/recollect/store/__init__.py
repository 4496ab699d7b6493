"""Find, read and stamp the files of Claude homes. Nothing here writes: changes to a home go through the journal."""
