"""Near ties: whether rounding an irrational h could hide a better store."""

from fractions import Fraction
from itertools import chain, combinations

from memaudit.core.package import Candidate, Coverage, EvidenceUnit, Experience, Package
from memaudit.core.response import Response, Saturating, Sqrt
from memaudit.solvers.brute import BruteForce
from memaudit.solvers.form import Form, integer_form
from memaudit.solvers.protocol import Limits
from memaudit.solvers.reference import greedy
from memaudit.solvers.solve import near_ties
from tests.solvers.random_forms import random_form


def two_choices(response: Response, first: Fraction, second: Fraction) -> Form:
    """One of two memories fits; each covers a unit of its own."""
    package = Package(
        name="two",
        experiences=(Experience(id="e0", index=0), Experience(id="e1", index=1)),
        candidates=tuple(
            Candidate(id=f"m{i}", experience=f"e{i}", kind="fact", cost=Fraction(1)) for i in (0, 1)
        ),
        units=tuple(
            EvidenceUnit(id=f"u{i}", kind="fact", weight=Fraction(1), response=response)
            for i in (0, 1)
        ),
        coverage=(
            Coverage(candidate="m0", unit="u0", value=first),
            Coverage(candidate="m1", unit="u1", value=second),
        ),
    )
    return integer_form(package).at(Fraction(1), 1)


def by_enumeration(form: Form, chosen: tuple[int, ...]) -> bool:
    """The definition, store by store."""

    def signature(store: tuple[int, ...]) -> list[int]:
        amounts = form.cover(store)
        return [
            level.value(amounts.get(unit, 0))
            if level.response.is_rational
            else amounts.get(unit, 0)
            for unit, level in enumerate(form.levels)
        ]

    every = range(len(form.rows))
    stores = chain.from_iterable(combinations(every, size) for size in range(len(every) + 1))
    return any(
        form.feasible(store)
        and form.value(store) > form.low(chosen)
        and signature(store) != signature(chosen)
        for store in stores
    )


def test_agrees_with_the_definition() -> None:
    """On small forms the search finds a near tie exactly where enumeration does."""
    answers = set()
    for seed in range(300):
        form = random_form(seed, irrational=True)
        best = BruteForce().solve(form, Limits()).chosen
        for chosen in (best, greedy(form), best[:-1]):
            if len(form.rows) <= 8:
                answer = near_ties(form, chosen, Limits())
                assert answer == by_enumeration(form, chosen)
                answers.add(answer)
    assert answers == {True, False}


def test_clear_winners_are_decided() -> None:
    """sqrt(1/2) and sqrt(1/3) are far apart."""
    assert near_ties(two_choices(Sqrt(), Fraction(1, 2), Fraction(1, 3)), (0,), Limits()) is False


def test_equal_irrational_values_cannot_be_told_apart() -> None:
    """Two units with the same irrational value tie, and 32 bits cannot say which is more."""
    form = two_choices(Saturating(), Fraction(1, 2), Fraction(1, 2))
    assert near_ties(form, (0,), Limits()) is True


def test_giving_up_is_said() -> None:
    """Without nodes there is no answer."""
    form = two_choices(Sqrt(), Fraction(1, 2), Fraction(1, 3))
    assert near_ties(form, (0,), Limits(nodes=0)) is None
