"""Stores through retrieval and reading: runs that resume, losses that add up, intervals."""
