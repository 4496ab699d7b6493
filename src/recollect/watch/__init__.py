"""Follow the files of a home while they grow, and report what happens as typed events. Nothing is written."""
