"""Generators of packages, writers, and runs over both."""
