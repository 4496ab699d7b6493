"""Search: the query language, ranked answers from the word index, and slow searches that read the files."""
