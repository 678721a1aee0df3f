"""What every form of the leaderboard has to say beside its numbers."""

from memaudit.report.leaderboard.board import Board
from memaudit.report.leaderboard.entries import POLICY

FEW = 20
"""With fewer packages, intervals and tests are rough."""


def coverage_note(board: Board) -> str:
    """Who said what memories cover, and whether that is a guess."""
    names = board.entries.judges
    who = f"judge {names[0]}" if len(names) == 1 else f"{len(names)} judges, {', '.join(names)}"
    mark = "an ESTIMATE, not labels" if board.entries.is_estimate else "as labelled"
    return f"coverage of memories: {who}, {mark}"


def notes(board: Board) -> list[str]:
    """What was left out, and how far intervals can be trusted."""
    count = len(board.entries.packages)
    found = []
    if board.one_package:
        found.append(
            "one package only: there is nothing to resample, so no interval and no test is given"
        )
    elif count < FEW:
        found.append(f"{count} packages: intervals and tests are rough")
    if any(one.cut for _, rows in board.budgets for one in rows):
        found.append(f"a store over budget is cut to it by {POLICY}, as in the diagnosis")
    if any(one.missing for _, rows in board.budgets for one in rows):
        found.append(
            "some stores were not scored on every package at every budget: their means are over "
            "other packages; differences are over the packages both have"
        )
    if board.entries.cost_rule is None:
        found.append("the files do not name their cost rule: make sure it is one and the same")
    if board.entries.skipped:
        found.append(f"no scores in {', '.join(board.entries.skipped)}: left out")
    return found


def undefined_words(undefined: dict[str, int]) -> str:
    """Counts by reason, or a 0."""
    return ", ".join(f"{count} ({reason})" for reason, count in undefined.items()) or "0"
