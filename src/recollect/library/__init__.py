"""The front desk: open homes, find sessions, read them. Everything that a face shows comes from here."""
