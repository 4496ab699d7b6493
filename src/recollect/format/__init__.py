"""Pure translation between bytes and values: lines, entries, blocks, side files. Touches no disk, no clock, no environment."""
