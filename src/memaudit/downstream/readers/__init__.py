"""Readers: one a file, a plain dict of them."""
