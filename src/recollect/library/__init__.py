"""Open homes, find sessions, read and change them. The command line and the page get everything they show from here."""
