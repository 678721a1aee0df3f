"""Stores that real systems wrote, scored on a whole conversation, where someone has the data."""

import random
import resource
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from memaudit.building.build_folder import BuildJob, plan_build
from memaudit.judges.label_files import read_labels
from memaudit.judges.label_judges import LabelJudge
from memaudit.judges.lexical import LexicalJudge
from memaudit.kernel.io.store_file import ExportedStore, Memory
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judging import judge_store
from memaudit.kernel.score.loss_diagnosis import diagnose_losses
from memaudit.kernel.score.score import StoreNumbers, StoreScorer
from memaudit.stores.registry import import_store
from tests.conversations.files import real_file
from tests.kernel.score.small_stores import exported

BUDGETS = (250, 500, 1000, 2000)
LABELS = "labels/locomo_conv26"


@cache
def conversation(units: Path | None = None) -> Package:
    """LoCoMo's conv-26 as one package, with its own units or labelled ones."""
    data = real_file("locomo/locomo10.json")
    labels = read_labels(units, None, [])
    (built,) = plan_build(BuildJob(data, conversations=("conv-26",), labels=labels)).built()
    return built.package


def mem0() -> ExportedStore:
    return import_store([real_file("stores/mem0/locomo_conv26_memories.jsonl")])


def certified(audit: StoreScorer, budget: int) -> StoreNumbers:
    """The numbers of the only store, all denominators proven and the diagnosis adding up."""
    (store,) = audit.stores
    numbers = audit.numbers(store, Fraction(budget))
    for ratio in (numbers.kept.package_ratio, numbers.kept.union_ratio, numbers.kept.ratio):
        assert ratio.optimum.certified
    assert numbers.best_optimum.certified
    (cut,) = numbers.policies
    assert cut.worth.cost <= budget
    assert (cut.ratio.value or 0) <= (numbers.best.ratio.value or 0) <= 1
    found = diagnose_losses(audit, store, Fraction(budget))
    assert sum(step.share for step in found.steps) + found.kept_share == 1
    assert all(step.value >= 0 for step in found.steps)
    assert found.kept_share == numbers.kept.ratio.value == numbers.kept.union_ratio.value
    return numbers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("coverage", "value"), [("coverage_pass_a", "138.5"), ("coverage_pass_b", "136")]
)
def test_mem0_as_labelled(coverage: str, value: str) -> None:
    """Labelled units, and one pass of labels at a time; what the store is worth is the labels'
    word alone, whatever the builder says of its own candidates; copies and halves count once."""
    package = conversation(real_file(f"{LABELS}/units.jsonl"))
    assert len(package.units) == 203
    judge = LabelJudge(
        real_file(f"{LABELS}/{coverage}.jsonl"), real_file(f"{LABELS}/memories.jsonl")
    )
    audit = StoreScorer(package, [judge_store(package, mem0(), judge)])
    scores = [certified(audit, budget) for budget in BUDGETS]
    assert (len(audit.stores[0].memories), audit.stores[0].cost) == (510, 4967)
    assert {score.written.value for score in scores} == {Fraction(value)}
    assert not any(score.fits for score in scores)
    optima = [score.kept.union_ratio.optimum.value for score in scores]
    assert optima == sorted(optima)


def ten_thousand() -> ExportedStore:
    """Pieces of what was said, drawn with a seed."""
    dice = random.Random(1)
    said = [turn.text.split() for turn in conversation().experiences if turn.text]
    memories = []
    for number in range(10_000):
        words, length = dice.choice(said), dice.randint(4, 14)
        start = dice.randrange(max(1, len(words) - length))
        text = " ".join(words[start : start + length])
        memories.append(Memory(id=f"m{number}", text=text))
    return exported(*memories, name="pieces")


def score_ten_thousand() -> int:
    """Score them at every budget, all of it proven; the most memory this process ever held."""
    package = conversation()
    store = judge_store(package, ten_thousand(), LexicalJudge())
    assert len(store.memories) == 10_000
    assert sum(len(memory.coverage) for memory in store.memories) > 1_000
    audit = StoreScorer(package, [store])
    for budget in BUDGETS:
        certified(audit, budget)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


@pytest.mark.slow
def test_ten_thousand_memories() -> None:
    """Scored and proven in a process of its own, which never holds 2 GB."""
    real_file("locomo/locomo10.json")
    code = f"from {__name__} import score_ten_thousand; print(score_ten_thousand())"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    most = int(ran.stdout.split()[-1])
    assert 10 << 20 < most < 2 << 30
