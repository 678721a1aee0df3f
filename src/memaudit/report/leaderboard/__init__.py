"""Scored stores of many packages side by side: means, intervals, paired differences, one page."""

from memaudit.report.leaderboard.board import Board, board
from memaudit.report.leaderboard.entries import entries_of, read_scores
from memaudit.report.leaderboard.page import build_page, write_page

__all__ = ["Board", "board", "build_page", "entries_of", "read_scores", "write_page"]
