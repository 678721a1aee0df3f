"""Tests of the capture machinery, with a notebook as the memory system."""
