"""Migrate sessions of old layouts to the current one (`layouts/`, one file for each step), in place or in a copy of the home."""
