"""The whole audit on the tiny package, worked out by hand, and on the shipped set."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from memaudit.building.build_folder import BuildJob, plan_build
from memaudit.judges.label_files import read_labels
from memaudit.judges.label_judges import LabelJudge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.labels import Label
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import Cell
from memaudit.kernel.score.judged_store import judge_store
from memaudit.kernel.score.priced_store import JudgedStore, WrittenMemory
from memaudit.kernel.score.score import OPTIMUM_IS_ZERO
from memaudit.lab.labels.audited_package import AuditedPackage, audited_package
from memaudit.lab.labels.frame import Frame, KeyedCell, LabelSet
from memaudit.lab.labels.frame_drawing import Design, draw
from memaudit.lab.labels.label_sources import (
    LabelSource,
    covered_or_not,
    source_of_annotator,
    source_of_pass,
    with_two_labels,
)
from memaudit.lab.labels.ratio_audit import RatioAudit, RatioAuditSpec, audit_ratios
from memaudit.lab.labels.ratio_audit_json import ratio_audit_data
from memaudit.lab.labels.ratio_audit_summary import changed_cells, ratio_notes, summarise
from memaudit.stores.registry import import_store
from tests.conversations.files import real_file
from tests.lab.labels.tiny_package import (
    F,
    audited,
    frame_of_cells,
    label_set,
    package,
    serial,
    source,
)

ONE, TWO = F(1), F(2)


def ask(*readings: LabelSource, cases: tuple[str, ...] = ("pets",), draws: int = 0) -> RatioAudit:
    """The audit of recency_raw and opt at budgets 1 and 2."""
    question = RatioAuditSpec(
        tuple(audited(name) for name in cases), readings, (ONE, TWO), ("opt", "recency_raw"), draws
    )
    return audit_ratios(question, serial, lambda *_: None)


def test_ratios_under_each_label_set() -> None:
    """ann says that c covers u as well: recency_raw, which keeps c, goes from 0 to 1 at budget 1
    and from 1/3 to 3/3 at budget 2. The optimum stays 2 and 3. opt keeps a, and a and b."""
    answer = ask(source("ann", cu="1", au="1"))
    assert answer.store_names == ("opt", "recency_raw")
    assert list(answer.scores) == ["package", "ann"]
    (base,), (found,) = answer.scores["package"], answer.scores["ann"]
    assert base.ratios == {
        ("opt", ONE): 1,
        ("recency_raw", ONE): 0,
        ("opt", TWO): 1,
        ("recency_raw", TWO): F(1, 3),
    }
    assert set(found.ratios.values()) == {F(1)}
    assert base.digest == digest(package()) != found.digest
    assert changed_cells(answer, answer.sources[0]) == 1
    numbers = summarise(answer)
    first, second, both = numbers.shifts["ann"]
    # Changes: opt 0, recency_raw 1 at budget 1; 0 and 2/3 at budget 2.
    assert (first.budget, first.change.mean, first.pairs) == (ONE, 0.5, 2)
    assert (second.budget, second.change.mean) == (TWO, pytest.approx(1 / 3))
    assert (both.budget, both.change.mean, both.pairs) == (None, pytest.approx(5 / 12), 4)
    # opt was first; now both are tied, which is another order, and tau has nothing to go by.
    assert not first.ranking.preserved
    assert math.isnan(first.ranking.tau.value)
    assert (numbers.uncertified, numbers.solved) == (0, 4)


def test_consensus() -> None:
    """ann and bob agree that cu is full and dispute bv: the consensus changes cu alone."""
    answer = ask(source("ann", cu="1", bv="1"), source("bob", cu="1", bv="0"))
    assert [one.name for one in answer.sources] == ["ann", "bob", "consensus"]
    assert answer.sources[2].unsettled == {"missing": 0, "cannot_tell": 0, "disagreed": 1}
    assert answer.relabellings["consensus"] == [((("c", "u"), F(1)),)]


def test_draws_of_labels() -> None:
    """Only one label set, which turns au, the only full cell judged, into a half for sure: every
    draw is that label set, so the interval is its ratio."""
    answer = ask(source("ann", au="0.5"), draws=3)
    assert answer.label_samples.odds.shares(F(1)) == {F(1, 2): 1}
    assert [run[0].ratios for run in answer.drawn_scores] == [answer.scores["ann"][0].ratios] * 3
    rows = {(row.store, row.budget): row for row in summarise(answer).rows}
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
    cells = frame_of_cells(("pets", "c", "v"), ("pets", "a", "u"), ("pets", "b", "v"))
    key = {"c0": KeyedCell(F(0), "", F(4)), "c1": KeyedCell(ONE, "", ONE)}
    keyed = Frame(cells.cells, key)
    ann = source_of_annotator(label_set("ann", "full", "full", "full"), keyed, [audited()])
    question = RatioAuditSpec((audited(),), (ann,), (ONE,), ("recency_raw",), 2, frame=keyed)
    answer = audit_ratios(question, serial, lambda *_: None)
    assert answer.label_samples.represented.cells == {"pets": [("a", "v"), ("b", "u"), ("c", "u")]}
    assert answer.label_samples.represented.number == answer.label_samples.represented.expected == 3
    assert answer.label_samples.expected_changes == 4
    assert [run[0].values["recency_raw", ONE] for run in answer.drawn_scores] == [3, 3]
    # As a label set, ann's labels change the one cell that was labelled.
    assert answer.scores["ann"][0].values["recency_raw", ONE] == 1
    bare = audit_ratios(replace(question, frame=Frame(cells.cells)), serial, lambda *_: None)
    assert [run[0].values["recency_raw", ONE] for run in bare.drawn_scores] == [1, 1]


def test_models_are_scored_apart() -> None:
    model = LabelSource("bot", {"pets": {("c", "u"): ONE, ("a", "u"): F(0)}}, "model")
    answer = ask(source("ann", cu="1"), source("bob", cu="1"), model)
    assert [one.name for one in answer.sources] == ["ann", "bob", "bot", "consensus"]
    assert answer.relabellings["consensus"] == [((("c", "u"), ONE),)]
    assert len(answer.relabellings["bot"][0]) == 2
    assert answer.label_samples.sources == ("ann", "bob")
    assert [one.name for one in ask(source("ann", cu="1"), model).sources] == ["ann", "bot"]


def test_few_draws_have_a_range() -> None:
    """au and bv turn into none half the time each. Of 8 draws the range is told, of 40 the middle:
    the 2.5 % tails of 40 draws hold one each, and the ends lie within those of all."""
    ann = source("ann", au="0", bv="1")
    few, many = (ask(ann, cases=("pets", "zoo"), draws=n) for n in (8, 40))
    for answer, is_range in ((few, True), (many, False)):
        row = summarise(answer).rows[-1]
        assert row.labels is not None
        assert row.labels.is_range is is_range
        at = row.store, row.budget
        means = [
            float(sum(there, F(0)) / len(there))
            for run in answer.drawn_scores
            if (there := [ratio for one in run if (ratio := one.ratios[at]) is not None])
        ]
        ends = (row.labels.low, row.labels.high)
        if is_range:
            assert ends == (min(means), max(means))
        else:
            assert min(means) <= ends[0] <= ends[1] <= max(means)
    assert RatioAuditSpec((), (), (), ()).draws == 100
    data = ratio_audit_data(few, summarise(few))
    assert {row["label_draws"]["interval"] for row in data["ratios"]} == {"range"}


def test_two_packages_have_intervals() -> None:
    """The change is 1/2 in one package and 0 in the other: the mean of drawn packages lies
    between, and draws of labels and packages together have an interval too."""
    answer = ask(source("ann", "one", cu="1"), cases=("one", "two"), draws=2)
    first = summarise(answer).shifts["ann"][0]
    assert (first.change.n, first.change.mean) == (2, 0.25)
    assert (first.change.low, first.change.high) == (0, 0.5)
    assert first.ranking.tau.low is not None
    assert all(row.both is not None for row in summarise(answer).rows)


def test_undefined_ratios_are_counted() -> None:
    """ann leaves nothing covered: OPT is 0 under ann, and there is no ratio, no change, no rank."""
    answer = ask(source("ann", au="0", bv="0"))
    numbers = summarise(answer)
    first, _, both = numbers.shifts["ann"]
    assert first.undefined == {OPTIMUM_IS_ZERO: 1}
    assert both.undefined == {OPTIMUM_IS_ZERO: 2}
    assert math.isnan(first.change.mean)
    assert (first.pairs, first.ranking.ranked) == (0, 0)


def test_an_exported_store() -> None:
    """The memory says `dog` as a does: ann's label of a is the memory's label too. Both package
    and store are measured against their union: 2 units of value for 1 word."""
    half = {"u": Cell(F(1, 2), "judge")}
    store = JudgedStore("s", (WrittenMemory("m", "dog", F(1), half),))
    question = RatioAuditSpec(
        (audited_package(package(), [store]),),
        (source("ann", au="1", bv="1"),),
        (ONE,),
        ("opt",),
        0,
    )
    answer = audit_ratios(question, serial, lambda *_: None)
    assert answer.scores["package"][0].ratios["s", ONE] == F(1, 2)
    assert answer.scores["ann"][0].ratios["s", ONE] == 1
    assert answer.relabellings["ann"] == [((("s/m", "u"), F(1)),)]
    assert ratio_audit_data(answer, summarise(answer))["basis"] == ["common union"]


def test_questions_without_sense() -> None:
    with pytest.raises(MemAuditError, match="no packages"):
        ask(source("ann", au="1"), cases=())
    with pytest.raises(MemAuditError, match="draws must be at least 0"):
        ask(source("ann", au="1"), draws=-1)
    with pytest.raises(MemAuditError, match="no label sets"):
        ask()


def noted(
    frame: Frame,
    draws: int = 1,
    held: Package | None = None,
    label: Label = "none",
) -> str:
    case = audited_package(held or package())
    labels = dict.fromkeys((one.id for one in frame.cells), label)
    sets = [LabelSet(name, labels) for name in ("ann", "bob")]
    readings = tuple(source_of_annotator(one, frame, [case]) for one in sets)
    question = RatioAuditSpec((case,), readings, (F(1),), ("recency_raw",), draws, frame=frame)
    return "\n".join(ratio_notes(audit_ratios(question, serial, lambda *_: None)))


def test_a_sample() -> None:
    """6 cells, 2 covered: 2 of the other 4 are drawn and stand for all 4. Every label turns into
    none, so 2 change in a draw: the covered ones."""
    frame = draw([package()], Design(zero_rate=Fraction(1, 2))).frame
    text = noted(frame)
    assert (
        "the range of 1 draw of the 4 cells asked about and the 2 uncovered cells they represent"
        in text
    )
    assert "about 2.0 labels change in a draw" in text
    assert "odds: how ann, bob labelled cells, given the package's label" in text
    assert "is understated" not in text
    assert "keep the package's label in all draws" not in text
    assert "the middle 95 % of 40 draws" in noted(frame, 40)
    assert noted(frame, draws=0) == ""


def test_what_is_not_drawn() -> None:
    frame = draw([package()], Design(zero_rate=Fraction(1, 2))).frame
    text = noted(Frame(frame.cells))
    assert "the frame has no key" in text
    assert "2 uncovered cells keep the package's label in all draws" in text
    census = draw([package()], Design(zero_rate=Fraction(1))).frame
    assert "by the key every cell represents only itself" in noted(census)


def test_a_package_that_changed() -> None:
    frame = draw([package()], Design(zero_rate=Fraction(1, 4))).frame
    drawn = {(one.candidate, one.unit) for one in frame.cells}
    cell = next(at for at in (("a", "v"), ("b", "u")) if at not in drawn)
    rows = [
        *package().model_dump()["coverage"],
        {"candidate": cell[0], "unit": cell[1], "value": 1},
    ]
    text = noted(frame, held=package(coverage=rows))
    assert (
        "the key represents 3 uncovered cells outside the frame, but these packages have 2" in text
    )


def test_people_who_know_no_partial() -> None:
    """The package calls au partial, ann full: that is ann's scale, and said; to whom partial is
    known nothing is."""
    half = package(coverage=[{"candidate": "a", "unit": "u", "value": 0.5}])
    frame = draw([half], Design(zero_rate=Fraction(0))).frame
    text = noted(frame, 0, half, "full")
    assert "ann answers full or none, never partial" in text
    assert "count as changed to full: 1" in text
    assert noted(frame, 0, half, "partial") == ""
    question = RatioAuditSpec(
        (audited_package(half),), (source("ann", au="1", bv="0.5"),), (F(1),), ("recency_raw",), 0
    )
    assert ratio_notes(audit_ratios(question, serial, lambda *_: None)) == []


LABELS = "labels/locomo_conv26"
PASSES = ("coverage_pass_a", "coverage_pass_b")


@cache
def conversation() -> Package:
    """LoCoMo's conv-26 with labelled units and memories; the first pass is its coverage."""
    labels = read_labels(
        real_file(f"{LABELS}/units.jsonl"),
        real_file(f"{LABELS}/memories.jsonl"),
        [real_file(f"{LABELS}/{name}.jsonl") for name in PASSES],
    )
    data = real_file("locomo/locomo10.json")
    (built,) = plan_build(BuildJob(data, conversations=("conv-26",), labels=labels)).built()
    return built.package


def audit_of_both_passes(case: AuditedPackage, budget: int, *writers: str) -> RatioAudit:
    readings = tuple(source_of_pass(name, [case]) for name in PASSES)
    return audit_ratios(
        RatioAuditSpec((case,), readings, (F(budget),), writers, draws=2), serial, lambda *_: None
    )


@pytest.mark.slow
def test_both_passes() -> None:
    """6,855 cells, 37 of them disputed; the first pass is the package's own and changes nothing.

    OPT within 500 words is 113.5 under the first pass and if all disputed cells are high, 112.5
    under the second and if all are low. estimated_gvt has 32.5 and 30.5. It is at its lowest and
    its highest where its own labels are at one end and all others at the other.
    """
    answer = audit_of_both_passes(audited_package(conversation()), 500, "gvt", "estimated_gvt")
    first, second, agreed = answer.sources
    assert (first.labelled_cells, second.labelled_cells, agreed.unsettled["disagreed"]) == (
        6855,
        6855,
        37,
    )
    assert [len(answer.relabellings[one.name][0]) for one in answer.sources] == [0, 37, 0]
    best = {name: measured[0].optima[F(500)] for name, measured in answer.scores.items()}
    assert all(one.certified for one in best.values())
    high, low = F("113.5"), F("112.5")
    assert {name: one.value for name, one in best.items()} == {
        "package": high,
        "pass:coverage_pass_a": high,
        "pass:coverage_pass_b": low,
        "consensus": high,
    }
    at = "estimated_gvt", F(500)
    assert answer.scores["package"][0].ratios[at] == F("32.5") / high
    assert answer.scores["pass:coverage_pass_b"][0].ratios[at] == F("30.5") / low
    assert summarise(answer).uncertified == 0


@pytest.mark.slow
def test_what_mem0_wrote() -> None:
    """Its memories are candidates of the package, with the labels of either pass.

    Within 1,000 words the 100 newest memories are 90 texts. They fall from 34.5 of 166 to 33 of
    165. Copies that count twice would have 0.5 more.
    """
    judge = LabelJudge(
        real_file(f"{LABELS}/{PASSES[0]}.jsonl"), real_file(f"{LABELS}/memories.jsonl")
    )
    store = import_store([real_file("stores/mem0/locomo_conv26_memories.jsonl")])
    case = audited_package(conversation(), [judge_store(conversation(), store, judge)])
    answer = audit_of_both_passes(case, 1000, "recency_raw")
    at = store.name, F(1000)
    assert answer.relabellings["pass:coverage_pass_a"] == [()]
    assert len(answer.relabellings["pass:coverage_pass_b"][0]) == 37
    assert len(case.scored.candidates) == len(conversation().candidates)
    assert answer.scores["package"][0].ratios[at] == F("34.5") / 166
    assert answer.scores["pass:coverage_pass_b"][0].ratios[at] == F(33, 165)
    assert summarise(answer).uncertified == 0


def test_two_labels_that_agree_move_nothing() -> None:
    """Two annotators who call a partial cell covered agree with the package: like for like, no
    ratio changes, while on three labels one does."""
    half = package(
        coverage=[
            {"candidate": "a", "unit": "u", "value": "0.5", "provenance": "pass:x"},
            {"candidate": "b", "unit": "v", "value": 1, "provenance": "pass:x"},
        ]
    )
    said = source("ann", au="1", bv="1")

    def changes(audited: AuditedPackage, labels: LabelSource) -> list[float]:
        spec = RatioAuditSpec((audited,), (labels,), (ONE, TWO), ("recency_raw",))
        answer = audit_ratios(spec, serial, lambda *_: None)
        return [shift.change.mean for shift in summarise(answer).shifts["ann"]]

    assert max(changes(audited_package(half), said)) > 0
    assert max(changes(audited_package(with_two_labels(half)), covered_or_not(said))) == 0
