"""The offline judge on a public conversation that it was not fitted to, labelled by others."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memaudit.api import build, import_store, labels, score
from memaudit.judges.offline_judge import named_offline_judge
from memaudit.kernel.package.package import Package

Likely = NDArray[np.floating[Any]]
DATA = Path(__file__).parents[4] / "shared" / "data"
LABELS, CAPTURES = DATA / "labels" / "locomo_conv26", DATA / "captures" / "conv-26"
pytestmark = pytest.mark.skipif(not CAPTURES.exists(), reason="the shared data are not here")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def package() -> Package:
    (built,) = build(
        DATA / "locomo" / "locomo10.json", conversation="conv-26", units=LABELS / "units.jsonl"
    )
    return built


def rates(likely: Likely, least: float, truth: NDArray[np.bool]) -> tuple[float, float]:
    called = likely >= least
    right = float((called & truth).sum())
    return right / called.sum(), right / truth.sum()


@pytest.mark.parametrize(
    ("folder", "passes", "same_session", "any_coverage", "full"),
    [
        (LABELS, "ab", True, (0.88, 0.76), (0.77, 0.87)),
        (LABELS, "ab", False, (0.62, 0.76), (0.57, 0.87)),
        (CAPTURES, "a", False, (0.79, 0.77), (0.70, 0.79)),
    ],
)
def test_precision_and_recall(
    package: Package,
    folder: Path,
    passes: str,
    same_session: bool,
    any_coverage: tuple[float, float],
    full: tuple[float, float],
) -> None:
    """The least that is asked of it. Pairs across sessions of the first set were never labelled, so
    there precision is a lower bound."""
    memories = rows(folder / "memories.jsonl")
    units = rows(LABELS / "units.jsonl")
    place = {row["memory_id"]: at for at, row in enumerate(memories)}
    order = {row["unit_id"]: at for at, row in enumerate(units)}
    truth = np.zeros((len(memories), len(units)))
    for name in passes:
        for cell in rows(folder / f"coverage_pass_{name}.jsonl"):
            at = place[cell["memory_id"]], order[cell["unit_id"]]
            truth[at] = max(truth[at], float(cell["coverage"]))
    judge = named_offline_judge("offline").for_package(package)
    known = judge.known(package.units)
    assert [whole.id for whole in known.wholes] == list(order)
    found = known.of([str(row["text"]) for row in memories])
    covered, fully = (np.stack([row[side] for row in found]) for side in (0, 1))
    looked_at = np.ones_like(truth, dtype=bool)
    if same_session:
        looked_at = np.array(
            [[unit["session"] == memory["session"] for unit in units] for memory in memories]
        )
    for likely, least, level, wanted in (
        (covered, judge.file.partial_from, 0.25, any_coverage),
        (fully, judge.file.full_from, 0.75, full),
    ):
        precision, recall = rates(likely[looked_at], least, truth[looked_at] >= level)
        assert precision >= wanted[0]
        assert recall >= wanted[1]


@pytest.mark.slow
def test_the_scores_of_real_systems_lie_in_the_intervals(package: Package) -> None:
    exports = CAPTURES / "exports"
    stores = [
        import_store(exports / "mem0-sessions.json", "mem0", times="none"),
        import_store(exports / "langmem-sessions.json", "langmem", times="none"),
    ]
    budgets = [250, 500, 1000, 2000]
    by_labels = labels(CAPTURES / "coverage_pass_a.jsonl", CAPTURES / "memories.jsonl")
    true = score(package, stores, judge=by_labels, budgets=budgets, stores_only=True)
    judged = score(package, stores, judge="offline", budgets=budgets, stores_only=True)
    inside = {"mem0": 0, "langmem": 0}
    for known, row in zip(true, judged, strict=True):
        assert row.interval is not None
        low, high = row.interval
        inside[row.store] += low <= (known.score or 0) <= high
        assert row.store != "mem0" or high - low < 0.2, row
        assert not row.is_unrelated
    # LangMem's long notes are scored too low; at 1,000 words Mem0 misses its interval by 0.0001.
    assert inside["mem0"] >= 3
    assert inside["langmem"] >= 2
    whole = judged.verdict("mem0").complete_interval
    assert whole is not None
    assert whole[0] <= (true.verdict("mem0").complete.value or 0) <= whole[1]
