"""Translate between bytes and values: lines, entries, blocks, side files. Pure code: no disk, no clock, no environment."""
