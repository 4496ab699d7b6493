"""The word index (tantivy): which entries hold which words."""
