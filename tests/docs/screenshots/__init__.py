"""Pictures for the documentation, taken by a real browser."""
