"""Real memory systems, each in its own environment, against a small model that is a program."""
