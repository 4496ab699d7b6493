"""Repair sessions with the fewest changes after which Claude Code resumes with everything that is readable.

`plan.plan_repair` reads a session into a `Draft`, runs the fixes of `fixes/` (one file for each) on it, and returns a change to
commit. No valid line is ever lost: what cannot stay in the file goes into a side file.
"""
