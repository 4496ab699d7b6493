"""The catalogue (SQLite): which files, sessions and entries exist, and how far each stage has read each file."""
