"""API calls of transcripts: decoded, collected file by file, stored as rows, and counted once each."""
