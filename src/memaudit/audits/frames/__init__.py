"""Audit frames: cells drawn from packages to be labelled blindly, and the labels they got."""
