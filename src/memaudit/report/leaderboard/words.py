"""What every form of the leaderboard has to say beside its numbers."""

from memaudit.core.text import counted
from memaudit.formats.score_file import POLICY, SIGNS, StoreRow
from memaudit.report.leaderboard.board import Board
from memaudit.scoring.judges.protocol import judged_how

MOST_NOTES = 20
MOST_PACKAGES = 3
FEW = 20
"""With fewer packages, intervals and tests are rough."""


def coverage_note(board: Board) -> str:
    """Who said what memories cover, and whether that is a guess."""
    names = board.entries.judges
    who = f"judge {names[0]}"
    if len(names) > 1:
        who = f"{counted(len(names), 'judge')}, {', '.join(names)}"
    mark = judged_how(names[0], board.entries.is_estimate)
    return f"coverage of memories: {who}, {mark}"


def notes(board: Board) -> list[str]:
    """What scores do not see, what was left out, and how far intervals can be trusted."""
    count = len(board.entries.packages)
    found = unseen(board)
    if board.one_package:
        found.append(
            "one package only: there is nothing to resample, so no interval and no test is given"
        )
    elif count < FEW:
        found.append(f"{counted(count, 'package')}: intervals and tests are rough")
    if sizes := {one.store: one.memories for _, rows in board.budgets for one in rows}:
        told = [f"{name} {size:.4g}" for name, size in sorted(sizes.items()) if size is not None]
        if told and not board.one_package:
            found.append(f"memories of a package, on average: {', '.join(told)}")
    if any(one.cut for _, rows in board.budgets for one in rows):
        found.append(f"a store over budget is cut to it by {POLICY}, as in the diagnosis")
    if any(one.missing for _, rows in board.budgets for one in rows):
        found.append(
            "some stores were not scored on every package at every budget: their means are over "
            "other packages; differences are over the packages both have"
        )
    if missing := board.entries.not_scored:
        first = missing[0]
        what = first.package if first.store is None else f"{first.store} on {first.package}"
        more = f", and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        found.append(f"not scored, and in no mean: {what} ({first.reason}){more}")
    if board.entries.cost_rule is None:
        found.append("the files do not name their cost rule: make sure it is one and the same")
    if board.entries.skipped:
        found.append(f"no scores in {', '.join(board.entries.skipped)}: left out")
    return found


def unseen(board: Board) -> list[str]:
    """Stores that are not all there, cells nobody decided, labels that fit nothing."""
    said: dict[str, list[str]] = {}
    for package, store in board.entries.accounts:
        for line in _lines(store):
            said.setdefault(f"{store.name}: {line}", []).append(package)
    found = [f"{line} ({_places(packages)})" for line, packages in said.items()]
    if undecided := board.entries.undecided_cells:
        verb = "counts" if undecided == 1 else "count"
        found.append(f"{counted(undecided, 'cell')} got no answer and {verb} as not covered")
    return found if len(found) <= MOST_NOTES else _shortened(found)


def _lines(store: StoreRow) -> list[str]:
    """What is to be said of a store on one package."""
    found = [f"* not all there: {_why(store)}"] if store.is_incomplete else []
    if store.undecided_cells:
        found.append(f"{counted(store.undecided_cells, 'cell')} without an answer")
    found += [f"left out, {what}: {number:,}" for what, number in store.left_out.items()]
    found += [
        f"no {sort} row, {counted(number, 'memory')} without a score in the file"
        for sort, number in store.without_salience.items()
    ]
    return found


def _places(packages: list[str]) -> str:
    shown = ", ".join(packages[:MOST_PACKAGES])
    more = len(packages) - MOST_PACKAGES
    return shown if more <= 0 else f"{shown} and {more} more"


def _why(store: StoreRow) -> str:
    said = [warning for warning in store.warnings if warning.startswith(SIGNS)]
    if store.unread_rows:
        verb = "is" if store.unread_rows == 1 else "are"
        rows = f"PARTLY READ, {counted(store.unread_rows, 'row')} of the export {verb} not in it"
        return "; ".join([rows, *(one for one in said if not one.startswith("partly read"))])
    return "; ".join(said)


def _shortened(found: list[str]) -> list[str]:
    more = len(found) - MOST_NOTES
    return [*found[:MOST_NOTES], f"and {counted(more, 'note')} more of this kind, in the JSON"]


def undefined_words(undefined: dict[str, int]) -> str:
    """Counts by reason, or a 0."""
    return ", ".join(f"{count} ({reason})" for reason, count in undefined.items()) or "0"
