"""Keep a lasting copy of the conversations of a home: compressed, hashed, append-only, restored byte for byte."""
