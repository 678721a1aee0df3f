"""Estimators: what a candidate may be worth, from what can be seen. One estimator a file."""
