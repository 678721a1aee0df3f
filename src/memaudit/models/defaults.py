"""How a model is asked where nobody says otherwise; the table of settings reads it."""

PROVIDERS = ("live", "offline")
BASE_URL = "https://api.openai.com/v1"
TIMEOUT = 120.0
"""Seconds to wait for a reply."""
RETRIES = 5
CONCURRENCY = 8
