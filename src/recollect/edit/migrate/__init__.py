"""Migrations: steps from version to version, each with a description, a way there, a way back, and a check of the outcome.

`framework` is the same for everything; `own_folder` uses it for what Recollect itself keeps, `session_layout` for the
client's old layouts (`layouts/`, one step one file).
"""
