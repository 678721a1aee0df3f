"""The whole audit on the tiny package, worked out by hand, and on the shipped set."""

import math
from dataclasses import replace

import pytest

from memaudit.core.digest import digest
from memaudit.core.errors import MemAuditError
from memaudit.label_audit.audited_package import case_of
from memaudit.label_audit.cells import Frame, KeyedCell
from memaudit.label_audit.ratio_bounds import Bounds
from memaudit.label_audit.ratios import Answer, Question, audit_ratios
from memaudit.label_audit.ratios_json import answer_data, changed_cells
from memaudit.label_audit.ratios_summary import summarised
from memaudit.label_audit.readings import Reading, annotated, passed
from memaudit.natural.label_passes import label_passes
from memaudit.natural.named_packages import natural_set
from memaudit.scoring.ratio import ZERO
from memaudit.scoring.union import Cell, WrittenMemory, WrittenStore
from tests.label_audit.ratios.tiny import F, case, frame, package, reading, said, serial

ONE, TWO = F(1), F(2)


def ask(*readings: Reading, cases: tuple[str, ...] = ("pets",), draws: int = 0) -> Answer:
    """The audit of recency_raw and opt at budgets 1 and 2."""
    question = Question(
        tuple(case(name) for name in cases), readings, (ONE, TWO), ("opt", "recency_raw"), draws
    )
    return audit_ratios(question, serial, lambda *_: None)


def test_ratios_under_each_label_set() -> None:
    """ann says that c covers u as well: recency_raw, which keeps c, goes from 0 to 1 at budget 1
    and from 1/3 to 3/3 at budget 2. The optimum stays 2 and 3. opt keeps a, and a and b."""
    answer = ask(reading("ann", cu="1", au="1"))
    assert answer.entries == ("opt", "recency_raw")
    assert list(answer.sets) == ["package", "ann"]
    (base,), (found,) = answer.sets["package"], answer.sets["ann"]
    assert base.ratios == {
        ("opt", ONE): 1, ("recency_raw", ONE): 0, ("opt", TWO): 1, ("recency_raw", TWO): F(1, 3),
    }  # fmt: skip
    assert set(found.ratios.values()) == {F(1)}
    assert base.digest == digest(package()) != found.digest
    assert changed_cells(answer, answer.readings[0]) == 1
    numbers = summarised(answer)
    first, second, both = numbers.shifts["ann"]
    # Changes: opt 0, recency_raw 1 at budget 1; 0 and 2/3 at budget 2.
    assert (first.budget, first.change.mean, first.pairs) == (ONE, 0.5, 2)
    assert (second.budget, second.change.mean) == (TWO, pytest.approx(1 / 3))
    assert (both.budget, both.change.mean, both.pairs) == (None, pytest.approx(5 / 12), 4)
    # opt was first; now both are tied, which is another order, and tau has nothing to go by.
    assert not first.ranking.preserved
    assert first.ranking.tau.value is None
    assert (numbers.uncertified, numbers.solved) == (0, 4)


def test_the_unit_that_moves_it() -> None:
    """u alone: F changes by 0 and 2 at each budget, OPT by nothing, the ratios by 0, 1, 0, 2/3."""
    (moved,) = ask(reading("ann", cu="1", bv="1")).moved["ann"]
    assert (moved.package, moved.unit, moved.text) == ("pets", "u", "There is a dog.")
    assert moved.cells == ((("c", "u"), F(0), F(1)),)
    assert (moved.value, moved.optimum, moved.ratio) == (1, 0, F(5, 12))
    assert (moved.size, moved.lost, moved.optima) == (F(5, 12), 0, {ONE: 0, TWO: 0})


def test_units_are_told_apart() -> None:
    """au at 1/2 takes 1 of OPT at both budgets (b, c or the half are left), bv at 0 takes 1 of
    OPT at budget 2 alone; recency_raw at budget 2 loses b's 1."""
    found = {one.unit: one for one in ask(reading("ann", au="0.5", bv="0")).moved["ann"]}
    assert found["u"].optima == {ONE: -1, TWO: -1}
    assert found["v"].optima == {ONE: 0, TWO: -1}
    # Values by entry and budget: u takes 1 of opt twice; v takes 1 of both at budget 2.
    assert (found["u"].value, found["v"].value) == (F(-1, 2), F(-1, 2))


def test_consensus_and_bounds() -> None:
    """ann and bob agree that cu is full and dispute bv: the consensus changes cu alone. Bounds
    hold for every set: at budget 2 recency_raw has F from 0 to 3 over OPT from 2 to 3."""
    answer = ask(reading("ann", cu="1", bv="1"), reading("bob", cu="1", bv="0"))
    assert [one.name for one in answer.readings] == ["ann", "bob", "consensus"]
    assert answer.readings[2].unsettled == {"missing": 0, "cannot_tell": 0, "disagreed": 1}
    assert answer.changed["consensus"] == [((("c", "u"), F(1)),)]
    assert answer.boxes[0].low == {("b", "v"): 0, ("c", "u"): 0}
    bounds = answer.bounds[0]["recency_raw", TWO]
    assert isinstance(bounds, Bounds)
    # Lowest: bv = cu = 0 is 0 / 2. Highest: cu = 1, bv = 1 is 3 / 3.
    assert bounds == Bounds(F(0), F(1), F(0), F(1), False)
    assert answer.moved["consensus"][0].unit == "u"


def test_bounds_hold_every_reported_ratio() -> None:
    """On the shipped set under all its passes: every ratio of every label set, package by package
    and in the mean, lies within its bounds, and all optima are certified."""
    cases = [case_of(one) for one in natural_set()[:5]]
    kept = label_passes(cases[0].package)
    assert kept is not None
    readings = tuple(passed(one.name, cases) for one in kept.passes)
    budgets = (F(30), F(60))
    question = Question(tuple(cases), readings, budgets, ("gvt", "estimated_gvt"), draws=2)
    answer = audit_ratios(question, serial, lambda *_: None)
    for place, found in enumerate(answer.bounds):
        for at, bounds in found.items():
            assert isinstance(bounds, Bounds)
            for measured in answer.sets.values():
                ratio = measured[place].ratios[at]
                assert ratio is not None
                assert bounds.low <= ratio <= bounds.high
    numbers = summarised(answer)
    assert numbers.uncertified == 0
    for row in numbers.rows:
        assert row.bounds is not None
        for interval in row.ratios.values():
            assert float(row.bounds.low) - 1e-9 <= interval.mean <= float(row.bounds.high) + 1e-9
    data = answer_data(answer, numbers)
    assert [one["name"] for one in data["label_sets"]] == [one.name for one in answer.readings]
    assert len(data["per_package"]) == 5


def test_draws_of_labels() -> None:
    """Only one label set, which turns au, the only full cell judged, into a half for sure: every
    draw is that label set, so the interval is its ratio."""
    answer = ask(reading("ann", au="0.5"), draws=3)
    assert answer.doubts.chances.shares(F(1)) == {F(1, 2): 1}
    assert [run[0].ratios for run in answer.draws] == [answer.sets["ann"][0].ratios] * 3
    rows = {(row.entry, row.budget): row for row in summarised(answer).rows}
    labels = rows["recency_raw", TWO].labels
    assert labels is not None
    # bv and the half of au: OPT is 2 at budget 2, recency_raw keeps b, worth 1.
    assert (labels.draws, labels.mean, labels.low, labels.high) == (3, 0.5, 0.5, 0.5)
    assert labels.is_range
    assert rows["recency_raw", TWO].both is None


def test_cells_outside_the_frame_turn_too() -> None:
    """cv was drawn, uncovered, and stands for itself, av, bu and cu; ann calls it full. So every
    draw has all four of them full: then every candidate covers something of both units, or all of
    u, and recency_raw, which keeps c at budget 1, has 3 of 3."""
    cells = frame(("pets", "c", "v"), ("pets", "a", "u"), ("pets", "b", "v"))
    key = {"c0": KeyedCell(F(0), "", F(4)), "c1": KeyedCell(ONE, "", ONE)}
    keyed = Frame(cells.cells, key)
    ann = annotated(said("ann", "full", "full", "full"), keyed, [case()])
    question = Question((case(),), (ann,), (ONE,), ("recency_raw",), 2, frame=keyed)
    answer = audit_ratios(question, serial, lambda *_: None)
    assert answer.doubts.outside.cells == {"pets": [("a", "v"), ("b", "u"), ("c", "u")]}
    assert answer.doubts.outside.number == answer.doubts.outside.expected == 3
    assert answer.doubts.expected == 4
    assert [run[0].values["recency_raw", ONE] for run in answer.draws] == [3, 3]
    # As a label set, ann's labels change the one cell that was labelled.
    assert answer.sets["ann"][0].values["recency_raw", ONE] == 1
    bare = audit_ratios(replace(question, frame=Frame(cells.cells)), serial, lambda *_: None)
    assert [run[0].values["recency_raw", ONE] for run in bare.draws] == [1, 1]


def test_draws_around_the_consensus() -> None:
    """ann and bob agree on every cell, against the package: between them there is no confusion, so
    every draw is the consensus. From the package's labels, au and bv would each turn into partial
    half the time."""
    sides = tuple(reading(name, au="0.5", bv="1", cv="0") for name in ("ann", "bob"))
    question = Question((case(),), sides, (ONE, TWO), ("opt", "recency_raw"), 3)
    found = audit_ratios(replace(question, confusion="annotators"), serial, lambda *_: None)
    assert [run[0].ratios for run in found.draws] == [found.sets["consensus"][0].ratios] * 3
    assert found.doubts.expected == 0
    assert audit_ratios(question, serial, lambda *_: None).doubts.expected == 1


def test_models_are_scored_apart() -> None:
    """A model's labels are a label set of their own; the consensus is that of ann and bob."""
    model = Reading("bot", {"pets": {("c", "u"): ONE, ("a", "u"): F(0)}}, "model")
    answer = ask(reading("ann", cu="1"), reading("bob", cu="1"), model)
    assert [one.name for one in answer.readings] == ["ann", "bob", "bot", "consensus"]
    assert answer.changed["consensus"] == [((("c", "u"), ONE),)]
    assert len(answer.changed["bot"][0]) == 2
    assert answer.doubts.readers == ("ann", "bob")
    assert [one.name for one in ask(reading("ann", cu="1"), model).readings] == ["ann", "bot"]


def test_few_draws_have_a_range() -> None:
    """au and bv turn into none half the time each. Of 8 draws the range is told, of 40 the middle:
    the 2.5 % tails of 40 draws hold one each, and the ends lie within those of all."""
    ann = reading("ann", au="0", bv="1")
    few, many = (ask(ann, cases=("pets", "zoo"), draws=n) for n in (8, 40))
    for answer, is_range in ((few, True), (many, False)):
        row = summarised(answer).rows[-1]
        assert row.labels is not None
        assert row.labels.is_range is is_range
        at = row.entry, row.budget
        means = [
            float(sum(there, F(0)) / len(there))
            for run in answer.draws
            if (there := [ratio for one in run if (ratio := one.ratios[at]) is not None])
        ]
        ends = (row.labels.low, row.labels.high)
        if is_range:
            assert ends == (min(means), max(means))
        else:
            assert min(means) <= ends[0] <= ends[1] <= max(means)
    assert Question((), (), (), ()).draws == 100
    data = answer_data(few, summarised(few))
    assert {row["label_draws"]["interval"] for row in data["ratios"]} == {"range"}


def test_two_packages_have_intervals() -> None:
    """The change is 1/2 in one package and 0 in the other: the mean of drawn packages lies
    between, and draws of labels and packages together have an interval too."""
    answer = ask(reading("ann", "one", cu="1"), cases=("one", "two"), draws=2)
    first = summarised(answer).shifts["ann"][0]
    assert (first.change.n, first.change.mean) == (2, 0.25)
    assert (first.change.low, first.change.high) == (0, 0.5)
    assert first.ranking.tau.low is not None
    assert all(row.both is not None for row in summarised(answer).rows)


def test_undefined_ratios_are_counted() -> None:
    """ann leaves nothing covered: OPT is 0 under ann, and there is no ratio, no change, no rank."""
    answer = ask(reading("ann", au="0", bv="0"))
    numbers = summarised(answer)
    first, _, both = numbers.shifts["ann"]
    assert first.undefined == {ZERO: 1}
    assert both.undefined == {ZERO: 2}
    assert math.isnan(first.change.mean)
    assert (first.pairs, first.ranking.ranked) == (0, 0)
    assert answer.moved["ann"][0].lost == 0
    bounds = answer.bounds[0]["opt", ONE]
    assert isinstance(bounds, Bounds)
    assert bounds.sometimes_undefined


def test_an_exported_store() -> None:
    """The memory says `dog` as a does: ann's label of a is the memory's label too. Both package
    and store are measured against their union: 2 units of value for 1 word."""
    half = {"u": Cell(F(1, 2), "judge")}
    store = WrittenStore("s", (WrittenMemory("m", "dog", F(1), half),))
    question = Question(
        (case_of(package(), [store]),), (reading("ann", au="1", bv="1"),), (ONE,), ("opt",), 0
    )
    answer = audit_ratios(question, serial, lambda *_: None)
    assert answer.sets["package"][0].ratios["s", ONE] == F(1, 2)
    assert answer.sets["ann"][0].ratios["s", ONE] == 1
    assert answer.changed["ann"] == [((("s/m", "u"), F(1)),)]
    assert answer_data(answer, summarised(answer))["basis"] == ["common union"]


def test_questions_without_sense() -> None:
    """One clear line."""
    with pytest.raises(MemAuditError, match="no packages"):
        ask(reading("ann", au="1"), cases=())
    with pytest.raises(MemAuditError, match="--draws -1"):
        ask(reading("ann", au="1"), draws=-1)
    with pytest.raises(MemAuditError, match="no label sets"):
        ask()
