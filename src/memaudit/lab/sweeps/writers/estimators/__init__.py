"""Estimators of a candidate's value from the visible part of a package. One estimator per file."""
