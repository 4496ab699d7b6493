"""The command line: parse a request, call the library, render an answer. Data on stdout, talk on stderr."""
