"""Capture: feed a package's experiences to a real memory system and keep what it wrote."""
