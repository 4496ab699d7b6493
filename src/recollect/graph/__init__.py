"""Turn the rows of a transcript into a conversation. Pure code: no disk, no clock, no recursion, linear time."""
