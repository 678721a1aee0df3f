"""The judge where none is named."""

DEFAULT_JUDGE = "offline"
"""A module of its own, because options read it, and nothing heavier."""
