"""The figures of the controlled benchmark: one a file, each drawn from results alone."""

from memaudit.report.figures.draw import draw_all

__all__ = ["draw_all"]
