"""Vocabulary and sentence templates, as data. `phrase.py` says how a template is written."""
