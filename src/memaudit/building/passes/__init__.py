"""Packages built with models: separate passes, each blind to what it must not see."""
