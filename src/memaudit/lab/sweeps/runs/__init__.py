"""Experiments: sweeps over packages, budgets and writers, and what is computed from their rows."""
