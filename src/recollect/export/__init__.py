"""Renderers that every face shares: text, Markdown, and the formatting of numbers and times. They get plain data."""
