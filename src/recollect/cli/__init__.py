"""The command line: parse a request, call the library, render an answer. Data goes to stdout, remarks to stderr."""
