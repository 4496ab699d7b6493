"""The lasting copy: everything worth keeping of a home, compressed, hashed, append-only, and given back byte for byte."""
