"""Diagnoses, transfers and calibrations as pages and figures."""
