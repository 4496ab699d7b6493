"""The rebuildable copy for questions: catalogue (SQLite), words (tantivy), SQL tables (DuckDB). The files stay the truth."""
