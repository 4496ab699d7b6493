"""One command, one file. The table of commands is in `recollect.cli.main`; each is imported only when it is called."""
