"""SQL queries: a DuckDB copy of the catalogue, queried in a locked-down child process."""
