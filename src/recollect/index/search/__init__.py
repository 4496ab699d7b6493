"""Search: the query language, ranked results from the word index, and slow searches that read the files."""
