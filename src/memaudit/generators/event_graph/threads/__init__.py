"""Threads: what is told about one thing, in one or several messages. One sort of thread a file."""
