"""Lift sessions of old layouts into the current one (`layouts/`, one step one file), in place or in a copy of the home."""
