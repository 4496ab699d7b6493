"""Compute numbers about sessions: tokens, money, time, tools, cache, context, budgets."""
