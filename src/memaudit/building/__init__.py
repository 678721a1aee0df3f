"""Packages from conversations. What a writer may see is kept apart from what is asked."""
