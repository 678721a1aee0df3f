"""Stores of memory systems: one system a file, import of its exports, capture where it runs."""
