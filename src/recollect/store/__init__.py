"""The files of Claude homes: find, read, watch and (later) change them. The only room that may write into a home."""
