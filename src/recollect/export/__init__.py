"""Render plain data for every face: text, Markdown, tables, and the formatting of numbers and times."""
