"""Calling language models: requests with a content address, replies with a type, and a cache."""
