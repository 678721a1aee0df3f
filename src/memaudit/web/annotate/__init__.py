"""The labelling page: cells shown blindly, every decision on disk before it counts."""
