"""How a model is asked where nobody says otherwise; light, for the table of settings."""

PROVIDERS = ("live", "batch", "offline")
BASE_URL = "https://api.openai.com/v1"
TIMEOUT = 120.0
"""Seconds to wait for a reply."""
RETRIES = 5
CONCURRENCY = 8
