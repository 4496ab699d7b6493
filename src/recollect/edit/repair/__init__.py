"""Repairing: a plan of the fewest changes after which the client resumes with everything that is readable.

`plan.plan_repair` reads a session into a `Draft`, lets the fixes of `fixes/` (one fix, one file) work on it, and gives a change
that was not made yet. No valid line is ever lost: what cannot stay in the file goes into a side file.
"""
