"""Pure: the rows of a transcript become a conversation. No disk, no clock, no recursion, linear time."""
