"""Scores and what they mean: ratios, breakdowns, statistics."""
