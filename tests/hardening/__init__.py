"""Hostile files and requests, and processes killed in the middle of their work."""
