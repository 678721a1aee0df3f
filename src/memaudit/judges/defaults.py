"""What is taken where nothing is given."""

DEFAULT_JUDGE = "offline"
"""Decides coverage where no judge is named."""
