"""Embedders: texts as vectors, from a model in a wheel or from an address."""
