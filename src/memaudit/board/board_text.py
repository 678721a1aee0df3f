"""Sentences about the numbers of a board: who leads, what the numbers rest on, what they lack."""

from collections.abc import Sequence
from pathlib import Path

from memaudit.board.board import BEST_SUBSET, DISTINGUISHED, SCORE, Board, ranked
from memaudit.board.board_of_systems import SystemsBasis
from memaudit.kernel.io.score_file import StoreRow
from memaudit.kernel.number_text import fixed, percent, significant
from memaudit.kernel.score.caveats import MISSING_ROWS, row_caveats
from memaudit.kernel.score.judge import judged_how
from memaudit.kernel.score.pruning import BY_DEFAULT
from memaudit.kernel.score.score_files import Entries
from memaudit.kernel.words.text import counted

MOST_LISTED = 6
"""Names in the sentence about who leads."""
MOST_NOTES = 20
MOST_PACKAGES = 3
FEW = 20
"""With fewer packages, intervals and tests are rough."""


def finding(board: Board) -> str:
    """The answer in one sentence; empty where no score is defined."""
    return _leaders(board) if board.systems is None else _said_and_spent(board.systems)


def remarks(board: Board) -> list[str]:
    """What a reader must know before the numbers."""
    if board.scores is not None:
        packages = counted(len(board.packages), "package")
        return [f"{packages}; {coverage_note(board.scores)}"]
    if board.systems is None:
        return []
    return list(filter(None, [_kept_of_best(board, board.systems), cut_note(board)]))


def notes(board: Board) -> list[str]:
    """What the numbers rest on, what they do not cover, and what was left out."""
    if board.scores is not None:
        return _score_notes(board, board.scores)
    basis = board.systems
    if basis is None:
        return []
    left_out = (f"left out: {line}" for line in basis.left_out)
    return [*quality(board, basis), *basis.notes, *left_out]


def _leaders(board: Board) -> str:
    """Who leads at which budgets, and whether the lead is distinguished."""
    leads: dict[tuple[str, ...], list[str]] = {}
    clear: list[str] = []
    for budget, rows in board.budgets:
        scored = [row for row in rows if row.score.n]
        if not scored:
            continue
        top = scored[0].score.mean
        first = tuple(row.store for row in scored if row.score.mean == top)
        leads.setdefault(first, []).append(budget)
        pair = {row.store for row in scored[:2]}
        clear += (
            budget
            for gap in board.differences
            if gap.budget == budget
            and {gap.first, gap.second} == pair
            and gap.verdict == DISTINGUISHED
        )
    if not leads:
        return "No store has a score."
    if len(board.stores) == 1:
        return f"{board.stores[0]} is the only store: there is nothing to compare it with."
    (first, at), *others = sorted(leads.items(), key=lambda lead: -len(lead[1]))
    parts = [f"{_listed(first)} {'leads' if len(first) == 1 else 'lead'} at {_budgets(at)}"]
    parts += (f"{_listed(who)} at {_budgets(at)}" for who, at in others)
    return f"{', '.join(parts)}; {_lead(board, sum(map(len, leads.values())), clear)}."


def _lead(board: Board, budgets: int, clear: Sequence[str]) -> str:
    if len(board.packages) == 1:
        return "one package alone cannot distinguish stores"
    if not clear:
        where = "nowhere is the lead" if budgets > 1 else "the lead is not"
        return f"{where} distinguished from the next store"
    if len(clear) == budgets:
        return "the lead is distinguished from the next store" + " each time" * (budgets > 1)
    return f"the lead is distinguished from the next store at {_budgets(clear)} only"


def _budgets(names: Sequence[str]) -> str:
    return f"budget{'s' if len(names) > 1 else ''} {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b, c and 4 more`."""
    if len(names) > MOST_LISTED:
        names = [*names[: MOST_LISTED - 1], f"{len(names) - MOST_LISTED + 1} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def coverage_note(entries: Entries) -> str:
    """Who judged coverage, and whether that is an estimate."""
    names = entries.judges
    who = f"judge {names[0]}"
    if len(names) > 1:
        who = f"{counted(len(names), 'judge')}, {', '.join(names)}"
    mark = judged_how(names[0], entries.is_estimate)
    optimum, store = (f"{share:.1%}" for share in entries.assumed)
    return (
        f"coverage: {who}, {mark}; up to {optimum} of an optimum and {store} of a store's value "
        "rest on assumed cells"
    )


def _score_notes(board: Board, entries: Entries) -> list[str]:
    """What scores do not cover, what was left out, and how reliable intervals are."""
    count = len(board.packages)
    lines = _unseen(entries)
    if len(board.packages) == 1:
        lines.append(
            "one package only: there is nothing to resample, so no interval and no test is given"
        )
    elif count < FEW:
        lines.append(f"{counted(count, 'package')}: intervals and tests are rough")
    sizes = {row.store: row.memories for row in board.rows if row.memories is not None}
    if sizes and len(board.packages) > 1:
        averages = ", ".join(f"{name} {significant(size)}" for name, size in sorted(sizes.items()))
        lines.append(f"memories of a package, on average: {averages}")
    if any(row.fits < row.stores for row in board.rows):
        lines.append(f"a store over budget is cut to it by {BY_DEFAULT}, as in the diagnosis")
    if any(row.missing for row in board.rows):
        lines.append(
            "some stores were not scored on every package at every budget: their means are over "
            "different packages; differences are over the packages both have"
        )
    if missing := entries.not_scored:
        first = missing[0]
        what = first.package if first.store is None else f"{first.store} on {first.package}"
        more = f", and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        lines.append(f"not scored, left out of all means: {what} ({first.reason}){more}")
    if entries.skipped:
        lines.append(f"no scores in {', '.join(entries.skipped)}: left out")
    return lines


def _unseen(entries: Entries) -> list[str]:
    """Incomplete stores, undecided cells, labels that match nothing."""
    packages_of: dict[str, list[str]] = {}
    for package, store in entries.accounts:
        for line in _lines(store):
            packages_of.setdefault(f"{store.name}: {line}", []).append(package)
    lines = [f"{line} ({_places(packages)})" for line, packages in packages_of.items()]
    if undecided := entries.undecided_cells:
        verb = "counts" if undecided == 1 else "count"
        lines.append(f"{counted(undecided, 'cell')} got no answer and {verb} as not covered")
    return lines if len(lines) <= MOST_NOTES else _shortened(lines)


def _lines(store: StoreRow) -> list[str]:
    """Notes on a store for one package. * marks what the table marks."""
    return [f"* {text}" if caveat in MISSING_ROWS else text for caveat, text in row_caveats(store)]


def _places(packages: list[str]) -> str:
    shown = ", ".join(packages[:MOST_PACKAGES])
    more = len(packages) - MOST_PACKAGES
    return shown if more <= 0 else f"{shown} and {more} more"


def _shortened(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_NOTES
    return [*lines[:MOST_NOTES], f"and {counted(more, 'note')} more of this kind, in the JSON"]


def _said_and_spent(basis: SystemsBasis) -> str:
    """How complete and how lean the stores are, as they are."""
    rows = [row for row in basis.systems if row.rank is not None] or list(basis.systems)
    if not rows:
        return ""
    shares = sorted(percent(row.complete.mean) for row in rows)
    said = shares[0] if len(set(shares)) == 1 else f"{shares[0]} to {shares[-1]}"
    spent = sorted((row.times, row.system) for row in rows if row.times is not None)
    text = f"{_listed([row.system for row in rows])} {'say' if len(rows) > 1 else 'says'} {said} of"
    text = f"{text} everything that could be said"
    if spent:
        parts = _listed([f"{fixed(times, 1)} ({system})" for times, system in spent])
        text = f"{text}, in {parts} times the {basis.measure} that this needs"
    return f"{text}."


def _kept_of_best(board: Board, basis: SystemsBasis) -> str:
    """How much of OPT systems keep, at the budget in the middle."""
    budget, every = board.budgets[len(board.budgets) // 2]
    rows = ranked(every)
    if not rows:
        return ""
    kept, best = (
        f"{percent(means[0])} to {percent(means[-1])}" if len(means) > 1 else percent(means[0])
        for means in (
            sorted(row.score.mean for row in rows),
            sorted(row.best_subset.mean for row in rows),
        )
    )
    who, whose = ("they", "their") if len(rows) > 1 else ("it", "its")
    if len(rows) < len(every):
        who = f"the {len(rows)} ranked systems" if len(rows) > 1 else "the ranked system"
    return (
        f"At {basis.optima[budget].name} {who} kept {kept}; the best choice of {whose} own "
        f"memories would keep {best}."
    )


def cut_note(board: Board) -> str:
    """How far the scores of ranked systems are about the cut; empty where every store fits."""
    every = [row for _, rows in board.budgets for row in ranked(rows)]
    stores, fits = sum(row.stores for row in every), sum(row.fits for row in every)
    if stores == fits:
        return ""
    cut = [row for row in every if row.fits < row.stores]
    policies = " or ".join(sorted({name for row in cut for name in row.kept_by or ()}))
    lower = sum((row.random_cut or 0) > row.score.mean for row in cut)
    of = _of_ranked(board)
    which = f"{stores - fits} of {stores} stores{of} do not fit" if fits else f"No store{of} fits"
    budget = (
        "the budget"
        if len(board.budgets) == 1
        else "any of the budgets"
        if not fits
        else "their budget"
    )
    return (
        f"{which} {budget}, so scores depend on how stores are cut, here by {policies}. A cut at "
        f"random scores higher in {lower} of {counted(len(cut), 'mean')}."
    )


def _of_ranked(board: Board) -> str:
    """What a sentence adds that leaves out systems without a rank."""
    left_out = any(len(ranked(every)) < len(every) for _, every in board.budgets)
    return " of the ranked systems" if left_out else ""


def quality(board: Board, basis: SystemsBasis) -> list[str]:
    """What the optima rest on and how far labels move the means, in sentences."""
    moved = f", that of {basis.shifted}" if basis.largest_pass_shift else ""
    lines = [
        f"{counted(len(basis.conversations), 'conversation')}; changing the pass of labels moves a "
        f"mean{_of_ranked(board)} by at most {basis.largest_pass_shift:.3f}{moved}"
    ]
    if basis.agreement is not None:
        said, kappas = basis.agreement, basis.agreement.by_conversation
        lines.append(
            f"two blind passes differ on {said.differ} of {said.pairs:,} pairs of memory and unit"
            + (f"; kappa is {_range(kappas, 3)} by conversation" if kappas else "")
        )
    for optima in basis.optima.values():
        survival = (
            ""
            if optima.survival is None
            else f"; chosen under one blind pass, optima keep {optima.survival:.2f} of their value "
            "under the other"
        )
        lines.append(
            f"{optima.name}: OPT is {_range((optima.lowest, optima.highest), 2)} of all weight "
            f"({fixed(optima.systems_alone, 2)} of OPT with the systems' memories alone, "
            f"{fixed(optima.added_up, 2)} of what it would be if partial labels added up), "
            f"{optima.certified} of {optima.number} certified under every pass{survival}"
        )
        if left := optima.number - optima.counted:
            lines.append(
                f"{optima.name}: {counted(left, 'conversation')} without scores, since OPT is 0 or "
                "not certified under some pass"
            )
    spreads = [text for row in basis.systems if (text := _between_runs(board, row.system))]
    if spreads:
        lines.append(
            "two runs of a system on a conversation differ in score / best subset by at most "
            + ", ".join(spreads)
        )
    return lines


def _range(numbers: Sequence[float], digits: int) -> str:
    """The smallest and the largest number, once if they look alike."""
    low, high = (fixed(number, digits) for number in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def pass_names(basis: SystemsBasis) -> dict[str, str]:
    """By file of labels, its name in tables."""
    return {
        name: "adjudicated" if at == 0 else Path(name).stem.replace("_", " ")
        for at, name in enumerate(basis.passes)
    }


def _between_runs(board: Board, system: str) -> str:
    """The largest differences between two runs, over conversations and budgets."""
    own = [row.between_runs or {} for row in board.rows if row.store == system]
    largest = []
    for measure in (SCORE, BEST_SUBSET):
        gaps = [gap for by_measure in own if (gap := by_measure[measure]) is not None]
        if not gaps:
            return ""
        largest.append(fixed(max(gaps), 2))
    return f"{system} {' / '.join(largest)}"
