"""The offline judge: its labels, its draws, its file, and what it does with parts."""

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from memaudit.building.named_packages import natural_set, natural_stores, store_files
from memaudit.judges.label_judges import LabelJudge
from memaudit.judges.offline_judge import named_offline_judge
from memaudit.judges.registry import named_judge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.package import EvidenceUnit
from memaudit.kernel.package.unit_parts import part_units
from memaudit.kernel.score.judge import MemoryText, ask_judge
from memaudit.kernel.score.judging import judge_store
from tests.kernel.score.long_stores import long_package, long_store

CHOIR = EvidenceUnit(id="choir", kind="fact", text="Maren's choir meets on Wednesdays.")
RUN = EvidenceUnit(id="run", kind="event", text="Oskar ran ten kilometres on 13 October 2024.")
UNITS = (CHOIR, RUN)


def judged(*texts: str, units: tuple[EvidenceUnit, ...] = UNITS) -> list[dict[str, Fraction]]:
    memories = [MemoryText(f"m{place}", text) for place, text in enumerate(texts)]
    found = ask_judge(named_offline_judge("offline"), memories, units)
    return [
        {unit: cell.value for unit, cell in found.cells[memory.id].items()} for memory in memories
    ]


def test_paraphrase_blur_and_strangers() -> None:
    """And of equal alternatives of a unit the better one counts."""
    full, partial, nothing = judged(
        "Oskar ran 10 kilometres on 2024-10-13.",
        "Oskar ran ten kilometres.",
        "The kettle was broken and nobody minded.",
    )
    assert (full, partial, nothing) == ({"run": 1}, {"run": Fraction(1, 2)}, {})
    rehearsals = "Rehearsals of the altos are on Mondays."
    unit = CHOIR.model_copy(update={"alternatives": (rehearsals,)})
    first, second = judged(CHOIR.text, rehearsals, units=(unit, RUN))
    assert first == second == {"choir": 1}


def test_length_earns_nothing() -> None:
    """Words of all units in no order cover little, and a store as one text what it covers in
    pieces."""
    package = long_package("allotment-choir")
    words = sorted({word for unit in package.units for word in unit.text.split()})
    texts = [memory.text for memory in long_store("allotment-choir", "sentences").memories]
    scattered, in_one, *pieces = judged(
        "; ".join(words), " ".join(texts), *texts, units=package.units
    )
    assert len(scattered) < 0.15 * len(package.units)
    together = {unit for piece in pieces for unit in piece}
    assert len(in_one.keys() & together) > 0.9 * len(together)
    assert len(in_one) < 1.1 * len(together)


def test_parts_go_with_their_statement() -> None:
    """In full all of them, in part the core and the parts whose words are there."""
    parts = part_units(
        RUN, [("what", "ran ten kilometres"), ("who", "Oskar"), ("when", "on 13 October 2024")]
    )
    full, partial = judged(
        "Oskar ran 10 kilometres on 2024-10-13.", "Oskar ran ten kilometres.", units=tuple(parts)
    )
    assert full == dict.fromkeys((part.id for part in parts), 1)
    assert partial == {parts[0].id: 1, parts[1].id: 1}


def test_draws_follow_the_probabilities() -> None:
    """Over many draws a label is as frequent as it is likely; equal texts have equal labels."""
    package = long_package("small-bakery")
    judge = named_offline_judge("offline").for_package(package)
    texts = [memory.text for memory in long_store("small-bakery", "sentences").memories]
    known = judge.known(package.units)
    likely = np.stack([covered for covered, _ in known.of(texts)])
    draws = np.zeros_like(likely)
    for draw in range(200):
        drawn = judge.drawn(draw)
        values = [
            drawn.values(text, *row) for text, row in zip(texts, known.of(texts), strict=True)
        ]
        draws += np.stack(values) > 0
    assert abs(draws.sum() / 200 / likely.sum() - 1) < 0.1
    unsure = (likely > 0.3) & (likely < 0.7)
    assert abs(draws[unsure].mean() / 200 - likely[unsure].mean()) < 0.05
    memories = [MemoryText("a", texts[0]), MemoryText("b", texts[0])]
    cells = [judge.drawn(draw).judge(memories, package.units).cells for draw in range(6)]
    assert all(own["a"] == own["b"] for own in cells)
    assert judge.drawn(3).judge(memories, package.units).cells == cells[3]


def test_the_published_error_adds_up() -> None:
    """All pairs of the held-out conversations, by kind of unit."""
    error = named_offline_judge("offline").file.error
    assert sum(row.total for row in error.rows) == error.pairs > 200_000
    assert len(error.conversations) == 8
    for full in (False, True):
        precision, recall = error.rates(full)
        assert precision > 0.7
        assert recall > 0.75


def test_wrong_names_and_files(tmp_path: Path) -> None:
    with pytest.raises(MemAuditError, match=r"unknown judge 'offline:magic'; offline judges are"):
        named_judge("offline:magic")
    file = tmp_path / "judge.json"
    data = json.loads(named_offline_judge("offline").file.model_dump_json())
    for wrong, message in (
        ({}, "memaudit study train-judge"),
        ({**data, "mean": data["mean"][:-1]}, "one number per feature"),
        ({**data, "embedder": "minilm"}, r"embeddings of minilm.*train it again"),
    ):
        file.write_text(json.dumps(wrong))
        with pytest.raises(MemAuditError, match=message):
            named_judge(f"offline:{file}")
    renamed = {**data, "features": ["other", *data["features"][1:]]}
    file.write_text(json.dumps(renamed))
    with pytest.raises(MemAuditError, match="other features; train it again"):
        named_judge(f"offline:{file}").judge([MemoryText("m", "x")], UNITS)


@pytest.mark.slow
def test_on_a_set_it_never_saw() -> None:
    """As docs/explanation/offline-judge.md says, on the stores of the natural set."""
    judge = named_judge("offline")
    with store_files() as found:
        labels = LabelJudge(found.labels, found.memories)
    counts: Counter[tuple[float, float]] = Counter()
    for store in natural_stores()[:3]:
        for package in natural_set():
            sides = (judge_store(package, store, one).memories for one in (labels, judge))
            for true, said in zip(*sides, strict=True):
                for unit in package.asked_units:
                    pair = (one.coverage.get(unit.id) for one in (true, said))
                    first, second = (0.0 if cell is None else float(cell.value) for cell in pair)
                    counts[first, second] += 1
    assert counts.total() == 81_925

    def rates(least: float) -> tuple[float, float]:
        hits = sum(n for (true, said), n in counts.items() if min(true, said) >= least)
        claimed = sum(n for (_, said), n in counts.items() if said >= least)
        wanted = sum(n for (true, _), n in counts.items() if true >= least)
        return hits / claimed, hits / wanted

    assert rates(0.5) == pytest.approx((0.846, 0.881), abs=0.01)
    assert rates(1) == pytest.approx((0.633, 0.708), abs=0.01)


PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "offline-judge.md"


def test_the_page_shows_the_error_of_the_file() -> None:
    error = named_offline_judge("offline").file.error
    rows = [f"Of {error.pairs:,} pairs:"]
    for name, full in (("any coverage", False), ("full coverage", True)):
        precision, recall = error.rates(full)
        rows.append(f"| {name} | {precision:.3f} | {recall:.3f} |")
    for kind in sorted({row.kind for row in error.rows}):
        cells = {row.judged: row for row in error.rows if row.kind == kind}
        shown = (
            f"{cells[said].none:,} / {cells[said].partial} / {cells[said].full}"
            for said in ("none", "partial", "full")
        )
        rows.append(f"| {kind} | {' | '.join(shown)} |")
    page = PAGE.read_text()
    assert [row for row in rows if row not in page] == []
