"""Checking: what is wrong with sessions and homes, by small rules. Nothing is ever changed here.

`reports.check_session` and `reports.check_home` go through the rules of `rules/` (one topic, one file) and give findings:
values with a rule, a place, and what Claude Code will do because of it.
"""
