"""Packages made from a seed: the published distributions as data, and the event graph."""
