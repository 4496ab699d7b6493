"""The catalogue (SQLite): which files, sessions and entries there are, and how far each stage has read them."""
