"""Values and losses by kind of unit."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.scoring.diagnosis import STEPS, diagnose
from memaudit.scoring.store_scores import ExportAudit
from memaudit.scoring.union import WrittenStore
from memaudit.scoring.unit_kinds import KindRow, kind_data, kind_rows, pooled
from tests.scoring.test_exported import LONG, MEALS, F, stores


def rows(store: WrittenStore, budget: int, *others: WrittenStore) -> list[KindRow]:
    """The rows of a store of MEALS."""
    audit = ExportAudit(MEALS, [store, *others])
    score = audit.score(store, F(budget))
    return kind_rows(MEALS, score.score.unit_values, diagnose(audit, store, F(budget)))


def test_by_hand() -> None:
    """At budget 5 OPT is 7: both candidates but `old`, and m1. `ended` was never written, `now` is
    in the best subset and not kept, `once` is kept; the best subset has no room for it."""
    current, supersession, stale = rows(LONG, 5)
    assert [one.kind for one in (current, supersession, stale)] == [
        "current", "supersession", "stale",
    ]  # fmt: skip
    assert (current.units, current.weight, current.written, current.share) == (1, 3, 3, 1)
    assert (current.kept, current.losses) == (
        0, {"generation": 0, "extraction": 0, "cost": 0, "selection": 3},
    )  # fmt: skip
    assert (supersession.written, supersession.share, supersession.kept) == (0, 0, 0)
    assert supersession.losses == {"generation": 0, "extraction": 3, "cost": 0, "selection": 0}
    assert (stale.kept, stale.losses) == (
        1, {"generation": 0, "extraction": 0, "cost": 1, "selection": -1},
    )  # fmt: skip
    assert kind_data(stale) == {
        "units": 1, "weight": 1.0, "value": 1.0, "share": 1.0, "kept": 1.0,
        "losses": {"generation": 0.0, "extraction": 0.0, "cost": 1.0, "selection": -1.0},
    }  # fmt: skip


def test_without_a_diagnosis() -> None:
    """What is written is known all the same; what was lost is not."""
    found = kind_rows(MEALS, {"current": F(3)}, None)
    assert [(one.kind, one.written, one.kept, one.losses) for one in found] == [
        ("current", 3, None, None), ("supersession", 0, None, None), ("stale", 0, None, None),
    ]  # fmt: skip
    assert kind_data(found[0])["losses"] is None


def test_no_weight_no_share() -> None:
    """0 of 0."""
    assert KindRow("fact", 1, F(0), F(0), None, None).share is None


@settings(max_examples=40, deadline=None)
@given(stores("a"), stores("b"), st.integers(4, 12))
def test_kinds_sum_to_the_diagnosis(first: WrittenStore, second: WrittenStore, budget: int) -> None:
    """Over all kinds, kept and each loss are those of the diagnosis; together they are OPT."""
    audit = ExportAudit(MEALS, [first, second])
    found = diagnose(audit, first, F(budget))
    kinds = kind_rows(MEALS, audit.score(first, F(budget)).score.unit_values, found)
    assert sum(one.kept or 0 for one in kinds) == found.kept_share * found.optimum
    for step in found.steps:
        assert sum((one.losses or {})[step.name] for one in kinds) == step.value
    total = sum((one.kept or 0) + sum((one.losses or {}).values()) for one in kinds)
    assert total == audit.common_optimum(F(budget)).value


def test_pooled() -> None:
    """Added up by kind; a package without a diagnosis adds to what is written alone."""
    told = KindRow("fact", 2, F(4), F(1), F(1), dict.fromkeys(STEPS, F(1)))
    silent = KindRow("fact", 1, F(2), F(2), None, None)
    other = KindRow("current", 1, F(1), F(0), None, None)
    current, fact = pooled([told, silent, other, told])
    assert (current.kind, current.kept, current.losses) == ("current", None, None)
    assert (fact.units, fact.weight, fact.written, fact.kept) == (5, 10, 4, 2)
    assert fact.losses == dict.fromkeys(STEPS, F(2))
    assert fact.share == Fraction(4, 10)
