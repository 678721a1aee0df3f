"""Who decides what a memory covers: labels, a model, or an estimate."""

DEFAULT_JUDGE = "offline"
"""Where no judge is named. It stands here because options read it, and nothing heavier."""
