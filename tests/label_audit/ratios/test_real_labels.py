"""Two blind passes over a whole conversation, where someone has the data."""

from functools import cache

from memaudit.adapters.registry import import_store
from memaudit.core.package import Package
from memaudit.label_audit.audited_package import Case, case_of
from memaudit.label_audit.ratio_bounds import Bounds
from memaudit.label_audit.ratios import Answer, Question, audit_ratios
from memaudit.label_audit.ratios_summary import summarised
from memaudit.label_audit.readings import passed
from memaudit.natural.build_plan import Job, plan
from memaudit.natural.label_files import read_labels
from memaudit.scoring.judged_store import written
from memaudit.scoring.judges.labels import Labels
from tests.datasets.files import real_file
from tests.label_audit.ratios.tiny import F, serial

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
    (built,) = plan(Job(data, conversations=("conv-26",), labels=labels)).built()
    return built.package


def audited(case: Case, budget: int, *writers: str) -> Answer:
    """Both passes at one budget, with two draws."""
    readings = tuple(passed(name, [case]) for name in PASSES)
    return audit_ratios(
        Question((case,), readings, (F(budget),), writers, draws=2), serial, lambda *_: None
    )


def test_both_passes() -> None:
    """7,016 cells, 37 of them disputed; the first pass is the package's own and changes nothing.

    OPT within 500 words is 123.5 under both. estimated_gvt falls from 18.5 to 18 of it, which is
    also the lowest that any choice of labels for the disputed cells allows.
    """
    answer = audited(case_of(conversation()), 500, "gvt", "estimated_gvt")
    first, second, agreed = answer.readings
    assert (first.judged, second.judged, agreed.unsettled["disagreed"]) == (7016, 7016, 37)
    assert [len(answer.changed[one.name][0]) for one in answer.readings] == [0, 37, 0]
    for measured in answer.sets.values():
        best = measured[0].optima[F(500)]
        assert (best.value, best.certified) == (F("123.5"), True)
    at = "estimated_gvt", F(500)
    assert answer.sets["package"][0].ratios[at] == F("18.5") / F("123.5")
    assert answer.sets["pass:coverage_pass_b"][0].ratios[at] == 18 / F("123.5")
    assert answer.bounds[0][at] == Bounds(
        18 / F("123.5"), F("18.5") / F("123.5"), 18 / F("123.5"), F("18.5") / F("123.5"), False
    )
    assert summarised(answer).uncertified == 0


def test_what_mem0_wrote() -> None:
    """Its memories are labelled by the first pass; the second one's labels reach them by their
    words. Within 1,000 words the newest memories fall from 35 to 33.5 of 186."""
    judge = Labels(real_file(f"{LABELS}/{PASSES[0]}.jsonl"), real_file(f"{LABELS}/memories.jsonl"))
    store = import_store([real_file("stores/mem0/locomo_conv26_memories.jsonl")])
    case = case_of(conversation(), [written(conversation(), store, judge)])
    answer = audited(case, 1000, "recency_raw")
    at = store.name, F(1000)
    assert answer.changed["pass:coverage_pass_a"] == [()]
    assert len(answer.changed["pass:coverage_pass_b"][0]) == 55
    assert answer.sets["package"][0].ratios[at] == F(35, 186)
    assert answer.sets["pass:coverage_pass_b"][0].ratios[at] == F("33.5") / 186
    found = answer.bounds[0][at]
    assert isinstance(found, Bounds)
    assert found.exact
    assert summarised(answer).uncertified == 0
