"""Packages with the help of a model: separate passes, each blind to what it must not see."""
