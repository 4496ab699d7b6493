"""Rebuildable copies of the transcripts for queries: catalogue (SQLite), word index (tantivy), SQL tables (DuckDB).

The transcripts stay the truth: every index can be deleted and built again from the files.
"""
