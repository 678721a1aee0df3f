"""Calling language models: requests with a content address, replies with a type, and a cache.

Here stands how a model is asked where nobody says otherwise: the table of settings reads it, and
nothing heavier.
"""

PROVIDERS = ("live", "batch", "offline")
BASE_URL = "https://api.openai.com/v1"
TIMEOUT = 120.0
"""Seconds to wait for a reply."""
RETRIES = 5
CONCURRENCY = 8
