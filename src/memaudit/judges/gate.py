"""Whether a score reaches a minimum, for a CI gate or a test."""

from fractions import Fraction

from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.score.result import ScoreResult, StoreScore


def passes(row: StoreScore, minimum: float, allow_estimates: bool = False) -> bool:
    """Whether a score reaches a minimum.

    An error if there is no score, if its bounds do not decide it, or if it is an estimate and none
    is allowed. An estimate whose published error leaves no doubt decides.
    """
    if row.interval is not None and not allow_estimates:
        low, high = row.interval
        # Only an interval on one side of the minimum decides: an estimate that passes by luck today
        # fails tomorrow on the same store.
        if low >= minimum or high < minimum:
            return low >= minimum
        raise ParameterError(
            "not decided: the score of {store} is {score} by an offline judge, and its error "
            "leaves {minimum} open; ask a model about the doubtful cells ({ask} model:NAME), judge "
            "by labels or a model, or allow estimates ({allow_estimates})",
            store=repr(row.store),
            score=row.score_text,
            minimum=f"{minimum:g}",
        )
    if row.is_estimate and not allow_estimates:
        raise ParameterError(
            "not decided: the score of {store} is an estimate, {rests_on}; judge by labels or a "
            "model, or allow estimates ({allow_estimates})",
            store=repr(row.store),
            rests_on=rests_on_text(row),
        )
    low, high = _ends(row)
    if low >= minimum or (row.exact is not None and high >= minimum):
        return True
    if high >= minimum:
        raise ParameterError(
            "not decided: the score of {store} lies between {low} and {high}, {why}; give more "
            "{seconds} or judge all cells",
            store=repr(row.store),
            low=f"{low:.4f}",
            high=f"{high:.4f}",
            why=row.undefined,
        )
    return False


def _ends(row: StoreScore) -> tuple[float, float]:
    """What the score lies between; a hair apart where some h is irrational.

    As floating point numbers, as minima are: 2/5 reaches 0.4, which is a little more.
    """
    if row.exact is not None:
        highest = min(Fraction(1), row.exact * row.numbers.kept.ratio.slack)
        return float(row.exact), float(highest)
    if row.between is None:
        raise MemAuditError(f"{row.store!r} has no score at budget {row.at}: {row.undefined}")
    low, high = row.between
    return float(low), float(high)


def gate_text(result: ScoreResult, row: StoreScore, minimum: float) -> str:
    """A score, what it is taken over, what it rests on, and everything it does not see."""
    low, high = _ends(row)
    score = f"{low:.4f}"
    if row.exact is None:
        score = f"{score} to {high:.4f} ({row.undefined})"
    elif row.interval is not None:
        score = f"{score} ({row.interval[0]:.4f} to {row.interval[1]:.4f} by the judge's error)"
    union = " + ".join(["package", *(store.name for store in result.stores)])
    kept = row.kept_by if row.numbers.fits else f"cut by {row.kept_by}"
    lost = ", ".join(f"{name} {float(share):.1%}" for name, share in row.losses.items() if share)
    if result.package_cells == "kept":
        kept = f"{kept}, the package's assumed cells kept"
    return "; ".join(
        [
            f"{row.store} at {row.at} scores {score}, minimum {minimum:g}, {kept}",
            f"over OPT of {union}",
            *([f"loses {lost}"] if lost else []),
            ("an ESTIMATE: " if row.is_estimate else "") + rests_on_text(row),
            *(["UNRELATED: no more than by chance"] if row.is_unrelated else []),
            *([result.asked.text] if result.asked else []),
            *next(one.caveats.lines for one in result.stores if one.name == row.store),
        ]
    )


def rests_on_text(row: StoreScore) -> str:
    """The shares that rest on assumed cells, in words."""
    optimum, store = (f"{float(share):.1%}" for share in row.assumed)
    text = f"{optimum} of the optimum and {store} of the store rest on assumed cells"
    return f"{text}, and so does every 0" if row.judge_assumes else text
