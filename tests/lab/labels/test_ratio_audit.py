"""The whole audit on the tiny package, worked out by hand, and on the shipped set."""

from functools import cache

import pytest

from memaudit.building.build_folder import BuildJob, plan_build
from memaudit.building.named_packages import short_set
from memaudit.judges.label_files import read_labels
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.score import OPTIMUM_IS_ZERO
from memaudit.lab.labels.frame import PACKAGE, LabelSet
from memaudit.lab.labels.frame_drawing import Design, draw
from memaudit.lab.labels.label_sources import (
    LabelSource,
    covered_or_not,
    source_of_annotator,
    source_of_pass,
    with_two_labels,
)
from memaudit.lab.labels.ratio_audit import (
    DEFAULT_WRITERS,
    PackageTask,
    RatioAudit,
    RatioAuditSpec,
    audit_ratios,
    score_label_sets,
)
from memaudit.lab.labels.ratio_file import Shift
from memaudit.lab.labels.ratio_summary import ratio_audit_file
from memaudit.lab.sweeps.runs.sweep import EvaluatedPackage
from memaudit.lab.sweeps.writers import registry
from memaudit.lab.sweeps.writers.registry import WRITERS, named_writer
from tests.conversations.files import real_file
from tests.lab.labels.tiny_package import F, package, serial, source

ONE, TWO = F(1), F(2)


def ask(*readings: LabelSource, cases: tuple[str, ...] = ("pets",)) -> RatioAudit:
    """The audit of recency_raw and opt at budgets 1 and 2."""
    packages = tuple(package(name) for name in cases)
    spec = RatioAuditSpec(packages, readings, (ONE, TWO), ("opt", "recency_raw"))
    return audit_ratios(spec, serial)


def changed(answer: RatioAudit, name: str) -> list[dict[tuple[str, str], F]]:
    """The cells that a label set changes, package by package."""
    own = {
        one.name: {(r.candidate, r.unit): r.value for r in one.coverage}
        for one in answer.spec.packages
    }
    (given,) = (one for one in answer.sources if one.name == name)
    return [
        {at: value for at, value in given.labels.get(name, {}).items() if value != cells.get(at, 0)}
        for name, cells in own.items()
    ]


def shifts_of(answer: RatioAudit, name: str) -> list[Shift]:
    (own,) = (one for one in ratio_audit_file(answer).label_sets if one.name == name)
    return own.shifts


def test_ratios_under_each_label_set() -> None:
    """ann says that c covers u as well: recency_raw, which keeps c, goes from 0 to 1 at budget 1
    and from 1/3 to 3/3 at budget 2. The optimum stays 2 and 3. opt keeps a, and a and b."""
    answer = ask(source("ann", cu="1", au="1"))
    assert answer.label_sets == ("package", "ann")
    scores = answer.packages[0].scores
    assert scores["package"].ratios == {
        ("opt", ONE): 1,
        ("recency_raw", ONE): 0,
        ("opt", TWO): 1,
        ("recency_raw", TWO): F(1, 3),
    }
    assert set(scores["ann"].ratios.values()) == {F(1)}
    assert scores["package"].digest == digest(package()) != scores["ann"].digest
    numbers = ratio_audit_file(answer)
    assert numbers.label_sets[0].changed_cells == 1
    first, second, both = numbers.label_sets[0].shifts
    # Changes: opt 0, recency_raw 1 at budget 1; 0 and 2/3 at budget 2.
    assert (first.budget, first.ratio_mad.mean, first.pairs) == (1, 0.5, 2)
    assert (second.budget, second.ratio_mad.mean) == (2, pytest.approx(1 / 3))
    assert (both.budget, both.ratio_mad.mean, both.pairs) == (None, pytest.approx(5 / 12), 4)
    # opt was first; now both are tied, which is another order, and tau has nothing to go by.
    assert first.ranking.text == "1 tie"
    assert first.ranking.tau_b.value is None
    assert (numbers.uncertified_optima, numbers.solved_optima) == (0, 4)
    assert type(numbers).model_validate(numbers.model_dump()) == numbers


def test_consensus() -> None:
    """ann and bob agree that cu is full and dispute bv: the consensus changes cu alone."""
    answer = ask(source("ann", cu="1", bv="1"), source("bob", cu="1", bv="0"))
    assert [one.name for one in answer.sources] == ["ann", "bob", "consensus"]
    assert answer.sources[2].unsettled == {"missing": 0, "cannot_tell": 0, "disagreed": 1}
    assert changed(answer, "consensus") == [{("c", "u"): ONE}]
    note = "consensus: 1 cell without a consensus (annotators disagree)"
    assert note in ratio_audit_file(answer).notes


def test_models_are_scored_apart() -> None:
    model = LabelSource("bot", {"pets": {("c", "u"): ONE, ("a", "u"): F(0)}}, "model")
    answer = ask(source("ann", cu="1"), source("bob", cu="1"), model)
    assert [one.name for one in answer.sources] == ["ann", "bob", "bot", "consensus"]
    assert changed(answer, "consensus") == [{("c", "u"): ONE}]
    assert len(changed(answer, "bot")[0]) == 2
    assert [one.name for one in ask(source("ann", cu="1"), model).sources] == ["ann", "bot"]


def test_two_packages_have_intervals() -> None:
    """The change is 1/2 in one package and 0 in the other: the mean of drawn packages lies
    between. A single package has no interval."""
    two = shifts_of(ask(source("ann", "one", cu="1"), cases=("one", "two")), "ann")[0].ratio_mad
    assert (two.packages, two.mean, two.low, two.high) == (2, 0.25, 0, 0.5)
    one = shifts_of(ask(source("ann", cu="1")), "ann")[0].ratio_mad
    assert (one.packages, one.mean, one.low, one.high) == (1, 0.5, None, None)


def test_undefined_ratios_are_counted() -> None:
    """ann leaves nothing covered: OPT is 0 under ann, and there is no ratio, no change, no rank."""
    answer = ask(source("ann", au="0", bv="0"))
    first, _, both = shifts_of(answer, "ann")
    assert first.undefined == {OPTIMUM_IS_ZERO: 1}
    assert both.undefined == {OPTIMUM_IS_ZERO: 2}
    assert first.ratio_mad.mean is None
    assert (first.pairs, first.ranking.ranked) == (0, 0)
    note = "undefined ratios: 0 under the package's labels, 2 pairs of package and budget"
    assert any(line.startswith(note) for line in ratio_audit_file(answer).notes)


def test_questions_without_sense() -> None:
    with pytest.raises(MemAuditError, match="no packages"):
        ask(source("ann", au="1"), cases=())
    with pytest.raises(MemAuditError, match="no label sets"):
        ask()
    with pytest.raises(MemAuditError, match="two packages are called 'x'"):
        ask(source("ann", "x", au="1"), cases=("x", "y", "x"))


def task(held: Package, writers: tuple[str, ...], *budgets: F, seed: int = 0) -> PackageTask:
    return PackageTask(held, writers, budgets, {PACKAGE: ()}, seed)


def test_writers_keep_what_they_keep_in_sweeps() -> None:
    one = short_set()[0]
    writers = ("gvt", "random_feasible", "reservoir_raw", "estimated_gvt")
    found = score_label_sets(task(one, writers, F(60), seed=7))
    subject = EvaluatedPackage(one)
    assert found.failed == {}
    assert found.stores == {
        (name, F(60)): subject.written_by(named_writer(name), F(60), 7) for name in writers
    }


def test_a_writer_that_fails_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Greedy:
        name = "all"
        peeks = False

        def write(self, view: object, budget: object, seed: int) -> tuple[str, ...]:  # noqa: ARG002
            return ("a", "b", "c")

    monkeypatch.setitem(registry.WRITERS, "all", Greedy())
    found = score_label_sets(task(package(), ("all", "recency_raw"), TWO, F(3)))
    assert list(found.failed) == [("all", TWO)]
    assert "broke the rules: cost 3 exceeds the budget 2" in found.failed["all", TWO]
    assert found.stores["all", F(3)] == ("a", "b", "c")
    spec = RatioAuditSpec((package(),), (source("ann", au="1"),), (TWO,), ("all",))
    (row,) = ratio_audit_file(audit_ratios(spec, serial)).ratios
    assert row.missing == {"writer failed": 1}


def test_writers_by_default() -> None:
    assert DEFAULT_WRITERS[0] == "gvt"
    assert all(not WRITERS[name].peeks for name in DEFAULT_WRITERS[1:])
    assert "recency_raw" in DEFAULT_WRITERS
    assert not any("embedding" in name for name in DEFAULT_WRITERS)


def test_people_who_know_no_partial() -> None:
    """The package calls au partial, ann full: that is ann's scale, and said; to whom partial is
    known nothing is."""
    half = package(coverage=[{"candidate": "a", "unit": "u", "value": 0.5}])
    frame = draw([half], Design(zero_rate=F(0))).frame

    def noted(said: LabelSource) -> str:
        spec = RatioAuditSpec((half,), (said,), (ONE,), ("recency_raw",))
        return "\n".join(ratio_audit_file(audit_ratios(spec, serial)).notes)

    full = LabelSet("ann", {cell.id: "full" for cell in frame.cells})
    text = noted(source_of_annotator(full, frame, [half]))
    assert "ann answers full or none, never partial" in text
    assert "count as changed to full: 1" in text
    assert noted(source("ann", au="1", bv="0.5")) == ""


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


@pytest.mark.slow
def test_both_passes() -> None:
    """6,855 cells, 37 of them disputed; the first pass is the package's own and changes nothing.

    OPT within 500 words is 113.5 under the first pass and if all disputed cells are high, 112.5
    under the second and if all are low. estimated_gvt has 32.5 and 30.5.
    """
    passes = tuple(source_of_pass(name, [conversation()]) for name in PASSES)
    spec = RatioAuditSpec((conversation(),), passes, (F(500),), ("gvt", "estimated_gvt"))
    answer = audit_ratios(spec, serial)
    first, second, agreed = answer.sources
    assert (first.labelled_cells, second.labelled_cells, agreed.unsettled["disagreed"]) == (
        6855,
        6855,
        37,
    )
    assert [len(changed(answer, one.name)[0]) for one in answer.sources] == [0, 37, 0]
    scores = answer.packages[0].scores
    best = {name: measured.optima[F(500)] for name, measured in scores.items()}
    assert all(one.certified for one in best.values())
    high, low = F("113.5"), F("112.5")
    assert {name: one.value for name, one in best.items()} == {
        "package": high,
        "pass:coverage_pass_a": high,
        "pass:coverage_pass_b": low,
        "consensus": high,
    }
    at = "estimated_gvt", F(500)
    assert scores["package"].ratios[at] == F("32.5") / high
    assert scores["pass:coverage_pass_b"].ratios[at] == F("30.5") / low


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

    def changes(held: Package, labels: LabelSource) -> list[float]:
        spec = RatioAuditSpec((held,), (labels,), (ONE, TWO), ("recency_raw",))
        return [shift.ratio_mad.mean or 0 for shift in shifts_of(audit_ratios(spec, serial), "ann")]

    assert max(changes(half, said)) > 0
    assert max(changes(with_two_labels(half), covered_or_not(said))) == 0
