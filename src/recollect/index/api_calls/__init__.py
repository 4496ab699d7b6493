"""Index API calls: decode them from transcripts, collect them file by file, store them as rows, count each one once."""
