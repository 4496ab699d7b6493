"""Questions in SQL: a DuckDB copy of the catalogue, asked in a locked process."""
