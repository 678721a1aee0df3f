"""A run as one HTML file: what each writer kept, against the best the same budget allowed."""

from memaudit.report.page.page import build_report, write_report

__all__ = ["build_report", "write_report"]
