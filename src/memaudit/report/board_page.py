"""The board of memory systems as one HTML file and as JSON, and sentences about its numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memaudit.core.number_text import fixed, percent, rounded
from memaudit.core.text import counted
from memaudit.core.version import VERSION
from memaudit.io.atomic import write_file
from memaudit.report.encoding import BEST_SUBSET_LOOK, looks
from memaudit.report.page_kit import environment, one_file
from memaudit.report.system_board import SystemBoard, ranked
from memaudit.report.system_differences import MEASURES
from memaudit.report.system_rows import WHY, SystemRow
from memaudit.report.writer_groups import Member
from memaudit.scoring.pruning import SHUFFLES


def write_board_page(board: SystemBoard, out: Path) -> None:
    write_file(out, build_board_page(board))


def build_board_page(board: SystemBoard) -> str:
    """One self-contained HTML file."""
    names = sorted(row.system for row in board.rows)
    return one_file(
        environment(),
        "board.html",
        title=board.title,
        board=board,
        members={
            name: Member(name, name, "", "deployable", look) for name, look in looks(names).items()
        },
        best=Member("upper", "best subset that fits", "", "reference", BEST_SUBSET_LOOK),
        finding=finding(board),
        cut_note=cut_note(board),
        pass_names=pass_names(board),
        losses=WHY,
        quality=quality(board),
        shuffles=SHUFFLES,
        written_sizes=written_sizes,
        data=board_data(board),
        version=VERSION,
    )


def board_data(board: SystemBoard) -> dict[str, Any]:
    """All numbers as JSON."""
    return {
        "format": "memaudit-system-board",
        "version": 1,
        "title": board.title,
        "digest": board.digest,
        "conversations": list(board.conversations),
        "passes": list(board.passes),
        "costs_in": board.measure,
        "agreement": None
        if board.agreement is None
        else {
            "pairs": board.agreement.pairs,
            "differ": board.agreement.differ,
            "kappa": rounded(board.agreement.kappa),
            "kappa_by_conversation": [rounded(one) for one in board.agreement.by_conversation],
        },
        "largest_pass_shift": rounded(board.largest_pass_shift),
        "shifted": board.shifted,
        "optima": [
            {
                "budget": optima.budget,
                "share_of_weight": rounded(optima.share),
                "lowest": rounded(optima.lowest),
                "highest": rounded(optima.highest),
                "certified": optima.certified,
                "conversations": optima.number,
                "counted": optima.counted,
                "of_systems_alone": rounded(optima.systems_alone),
                "of_undivided": rounded(optima.undivided),
                "survival": rounded(optima.survival),
            }
            for optima, _ in board.budgets
        ],
        "standings": [
            {
                "budget": optima.budget,
                "system": one.system,
                "rank": one.rank,
                "clearly_ahead": one.ahead,
                "score": one.score.to_json(),
                "random_cut": rounded(one.random_cut),
                "best_subset_rank": one.best_rank,
                "best_subset_clearly_ahead": one.best_ahead,
                "best_subset": one.best_subset.to_json(),
                "by_conversation": {
                    measure: {name: rounded(mean) for name, mean in means.items()}
                    for measure, means in one.by_conversation.items()
                },
                "by_pass": {
                    measure: {name: rounded(mean) for name, mean in means.items()}
                    for measure, means in one.by_pass.items()
                },
                "largest_difference_between_runs": {
                    measure: rounded(gap) for measure, gap in one.between_runs.items()
                },
                "runs": one.runs,
                "fits": one.fits,
                "kept_by": list(one.kept_by),
                "losses": {name: rounded(share) for name, share in one.losses.items()},
            }
            for optima, standings in board.budgets
            for one in standings
        ],
        "differences": [
            {
                "budget": one.budget,
                "measure": one.measure,
                "first": one.first,
                "second": one.second,
                "mean": rounded(one.mean),
                "low": rounded(one.low),
                "high": rounded(one.high),
                "p": rounded(one.p),
                "clear": one.clear,
            }
            for one in board.differences
        ],
        "systems": [
            {
                "system": row.system,
                "conversations": row.conversations,
                "runs": row.runs,
                "whole_store": rounded(row.whole_store),
                "cost": rounded(row.cost),
                "memories": rounded(row.memories),
                **row.provenance,
                "marks": list(row.marks),
                "notes": list(row.notes),
                "loses": row.loses,
                "examples": [
                    {
                        "conversation": one.conversation,
                        "unit": one.unit,
                        "share_of_opt": rounded(one.share),
                        "memory": one.memory and one.memory.text,
                        "in_part": one.in_part,
                    }
                    for one in row.examples
                ],
            }
            for row in board.rows
        ],
        "notes": list(board.notes),
        "left_out": list(board.left_out),
    }


def finding(board: SystemBoard) -> str:
    """The answer in one sentence, at the budget in the middle; empty where no score is defined."""
    optima, every = board.budgets[len(board.budgets) // 2]
    standings = ranked(every)
    if not standings:
        return ""
    kept, best = (
        f"{percent(means[0])} to {percent(means[-1])}" if len(means) > 1 else percent(means[0])
        for means in (
            sorted(one.score.mean for one in standings),
            sorted(one.best_subset.mean for one in standings),
        )
    )
    who, whose = ("they", "their") if len(standings) > 1 else ("it", "its")
    if len(standings) < len(every):
        who = f"the {len(standings)} ranked systems" if len(standings) > 1 else "the ranked system"
    return (
        f"At {optima.name} {who} kept {kept}; the best choice of {whose} own memories would keep "
        f"{best}."
    )


def cut_note(board: SystemBoard) -> str:
    """How far the scores of ranked systems are about the cut; empty where every store fits."""
    every = [one for _, standings in board.budgets for one in ranked(standings)]
    stores, fits = sum(one.runs for one in every), sum(one.fits for one in every)
    if stores == fits:
        return ""
    cut = [one for one in every if one.fits < one.runs]
    policies = " or ".join(sorted({name for one in cut for name in one.kept_by}))
    lower = sum(one.random_cut > one.score.mean for one in cut)
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


def _of_ranked(board: SystemBoard) -> str:
    """What a sentence adds that leaves out systems without a rank."""
    left_out = any(len(ranked(every)) < len(every) for _, every in board.budgets)
    return " of the ranked systems" if left_out else ""


def quality(board: SystemBoard) -> list[str]:
    """What the optima rest on and how far labels move the means, in sentences."""
    moved = f", that of {board.shifted}" if board.largest_pass_shift else ""
    lines = [
        f"{counted(len(board.conversations), 'conversation')}; changing the pass of labels moves a "
        f"mean{_of_ranked(board)} by at most {board.largest_pass_shift:.3f}{moved}"
    ]
    if board.agreement is not None:
        said, kappas = board.agreement, board.agreement.by_conversation
        lines.append(
            f"two blind passes differ on {said.differ} of {said.pairs:,} pairs of memory and unit"
            + (f"; kappa is {_range(kappas, 3)} by conversation" if kappas else "")
        )
    for optima, _ in board.budgets:
        survival = (
            ""
            if optima.survival is None
            else f"; chosen under one blind pass, optima keep {optima.survival:.2f} of their value "
            "under the other"
        )
        lines.append(
            f"{optima.name}: OPT is {_range((optima.lowest, optima.highest), 2)} of all weight "
            f"({fixed(optima.systems_alone, 2)} of OPT with the systems' memories alone, "
            f"{fixed(optima.undivided, 2)} if partial labels did not add up), "
            f"{optima.certified} of {optima.number} certified under every pass{survival}"
        )
        if left := optima.number - optima.counted:
            lines.append(
                f"{optima.name}: {counted(left, 'conversation')} without scores, since OPT is 0 or "
                "not certified under some pass"
            )
    spreads = [text for row in board.rows if (text := _between_runs(board, row.system))]
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


def pass_names(board: SystemBoard) -> dict[str, str]:
    """By file of labels, its name in tables."""
    return {
        name: "adjudicated" if at == 0 else Path(name).stem.replace("_", " ")
        for at, name in enumerate(board.passes)
    }


def _between_runs(board: SystemBoard, system: str) -> str:
    """The largest differences between two runs, over conversations and budgets."""
    largest = []
    for measure in MEASURES:
        gaps = [
            gap
            for _, standings in board.budgets
            for one in standings
            if one.system == system and (gap := one.between_runs[measure]) is not None
        ]
        if not gaps:
            return ""
        largest.append(fixed(max(gaps), 2))
    return f"{system} {' / '.join(largest)}"


def written_sizes(row: SystemRow) -> tuple[str, str, str]:
    """Memories and words of a store, and what all of it is worth, as means over its stores."""
    return f"{round(row.memories):,}", f"{round(row.cost):,}", percent(row.whole_store)
