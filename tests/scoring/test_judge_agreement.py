"""Two judges side by side: counts worked by hand, the command, and the labelled LoCoMo store."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.adapters.store import Memory
from memaudit.core.errors import MemAuditError
from memaudit.core.package import EvidenceUnit, Source
from memaudit.io.packages import write_package
from memaudit.natural.named_packages import natural_set
from memaudit.scoring.judge_agreement import (
    Detection,
    all_pairs,
    judge_agreement,
    same_session_pairs,
)
from memaudit.scoring.judges.protocol import Cells
from memaudit.scoring.union import Cell
from tests.cli.running import failure, run
from tests.datasets.files import real_file

F = Fraction
UNITS = [
    EvidenceUnit(id="u", kind="fact", sources=(Source(id="t1", session="s1"),)),
    EvidenceUnit(id="v", kind="fact", sources=(Source(id="t2", session="s2"),)),
]
MEMORIES = [
    Memory(id="m", text="one", metadata={"session": "s1"}),
    Memory(id="n", text="two", metadata={"session": "s2"}),
    Memory(id="o", text="three"),
]
PAIRS = all_pairs(MEMORIES, UNITS)


def cells(**rows: str) -> Cells:
    """`m_u="1"`: memory m covers unit u in full."""
    found: dict[str, dict[str, Cell]] = {}
    for name, value in rows.items():
        memory, unit = name.split("_")
        found.setdefault(memory, {})[unit] = Cell(F(value), "test")
    return found


FIRST = cells(m_u="1", m_v="1/2", n_v="1/2", o_u="0")
SECOND = cells(m_u="1", n_u="1", n_v="1")


def test_by_hand() -> None:
    """Six cells: (1, 1), (1/2, 0), (0, 1), (1/2, 1), (0, 0) and (0, 0).

    Same in 3 of 6. By chance: full 1/6 * 3/6, none 3/6 * 3/6, together 1/3; kappa is
    (1/2 - 1/3) / (2/3) = 1/4.
    """
    found = judge_agreement(FIRST, SECOND, PAIRS)
    assert (found.judged, found.undecided, found.same_value) == (6, 0, 3)
    assert found.covered == Detection(both=2, only_first=1, only_second=1)
    assert found.full == Detection(both=1, only_first=0, only_second=2)
    assert (found.covered.precision, found.covered.recall, found.covered.f1) == (
        F(2, 3), F(2, 3), F(2, 3),
    )  # fmt: skip
    assert (found.full.precision, found.full.recall, found.full.f1) == (F(1), F(1, 3), F(1, 2))
    assert found.kappa == F(1, 4)


def test_undecided_cells_are_no_zeros() -> None:
    """They are counted, and left out of everything else."""
    found = judge_agreement(FIRST, SECOND, PAIRS, {("n", "u"), ("x", "u")})
    assert (found.judged, found.undecided) == (5, 1)
    assert found.covered.only_second == 0


def test_sessions() -> None:
    """A memory is compared on the units of its own session; without any that is an error."""
    assert same_session_pairs(MEMORIES, UNITS) == [("m", "u"), ("n", "v")]
    with pytest.raises(MemAuditError, match="names a session"):
        same_session_pairs(MEMORIES[2:], UNITS)


def test_nothing_covered() -> None:
    """0 of 0 is undefined, not 0 or 1."""
    found = judge_agreement({}, {}, PAIRS)
    assert found.kappa is None
    assert (found.full.precision, found.full.recall, found.full.f1) == (None, None, None)


@st.composite
def judged(draw: st.DrawFn) -> Cells:
    """Some cells of PAIRS."""
    listed = draw(st.dictionaries(st.sampled_from(PAIRS), st.sampled_from(["0", "1/2", "1"])))
    return cells(**{f"{memory}_{unit}": value for (memory, unit), value in listed.items()})


@given(judged(), judged())
def test_turned_round(first: Cells, second: Cells) -> None:
    """Precision one way is recall the other; F1 and kappa are the same; a judge equals itself."""
    one, other = judge_agreement(first, second, PAIRS), judge_agreement(second, first, PAIRS)
    assert one.kappa == other.kappa
    for a, b in ((one.covered, other.covered), (one.full, other.full)):
        assert (a.precision, a.recall, a.f1) == (b.recall, b.precision, b.f1)
    itself = judge_agreement(first, first, PAIRS)
    assert itself.kappa in (1, None)
    assert itself.same_value == itself.judged == len(PAIRS)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A package, a store of three of its facts, and labels that know of the first alone."""
    package = next(iter(natural_set()))
    write_package(package, tmp_path / "p.json")
    useful = {row.candidate: row.unit for row in package.coverage if row.value == 1}
    facts = [one for one in package.candidates if one.kind == "fact" and one.id in useful][:3]
    lines = [json.dumps({"id": one.id, "text": one.text}) + "\n" for one in facts]
    (tmp_path / "export.jsonl").write_text("".join(lines))
    assert run("import", tmp_path / "export.jsonl", "--out", tmp_path / "s.json").exit_code == 0
    label = {"memory_id": facts[0].id, "unit_id": useful[facts[0].id], "coverage": 1}
    (tmp_path / "l.jsonl").write_text(json.dumps(label) + "\n")
    return tmp_path / "p.json", tmp_path / "s.json", tmp_path / "l.jsonl"


def test_command(files: tuple[Path, Path, Path]) -> None:
    """Cells and ratios under both judges; the ratios are those of `memaudit gate`."""
    package, store, labels = files
    words = ("judge", package, store, "--judge", "lexical", "--against", f"labels:{labels}")
    result = run(*words, "--budget", "10,40", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert (data["judge"]["name"], data["judge"]["is_an_estimate"]) == ("lexical", True)
    found = data["agreement"]["any_coverage"]
    assert found["both"] + found["only_against"] == 1
    assert [row["budget"] for row in data["ratios"]] == [10, 40]
    assert all(row["uncertified_optima"] == 0 for row in data["ratios"])
    for side, name in (("judge", "lexical"), ("against", f"labels:{labels}")):
        ratio = data["ratios"][1]["kept"][side]
        bar = ("gate", package, store, "--budget", "40", "--judge", name, "--min-ratio")
        assert run(*bar, ratio - 1e-6).exit_code == 0
        assert run(*bar, ratio + 1e-6).exit_code == 1
    text = run(*words, "--budget", "40").stdout
    assert "lexical (an ESTIMATE)" in text
    assert "kappa" in text


def test_wrong_input(files: tuple[Path, Path, Path]) -> None:
    """One clear line."""
    package, store, labels = files
    words = ("judge", package, store, "--judge", "lexical", "--against")
    assert "unknown judge" in failure(*words, "me")
    assert "labels:FILE only" in failure(*words, "pointer", "--label-memories", labels)
    assert "names a session" in failure(*words, "lexical", "--same-session")


def test_labelled_locomo(tmp_path: Path) -> None:
    """The lexical estimate finds nearly all that labels have, and much that they have not.

    Labels were given session by session, so cells are compared within a memory's session.
    """
    dataset = real_file("locomo/locomo10.json")
    labels = real_file("labels/locomo_conv26/coverage_pass_a.jsonl")
    memories = real_file("stores/mem0/locomo_conv26_memories.jsonl")
    units = labels.with_name("units.jsonl")
    made = run("build", dataset, "--conversation", "conv-26", "--units", units, "--out",
               tmp_path / "built")  # fmt: skip
    assert made.exit_code == 0, made.output
    assert run("import", memories, "--out", tmp_path / "s.json").exit_code == 0
    result = run(
        "judge", tmp_path / "built" / "conv-26.json", tmp_path / "s.json", "--judge", "lexical",
        "--against", f"labels:{labels}", "--label-memories", labels.with_name("memories.jsonl"),
        "--same-session", "--budget", "250", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    found = data["agreement"]["any_coverage"]
    assert found["recall"] > 0.9
    assert 0.3 < found["precision"] < 0.45
    (row,) = data["ratios"]
    assert row["uncertified_optima"] == 0
    assert row["kept"]["judge"] > 2 * row["kept"]["against"] > 0
    assert row["upper_pruned"]["judge"] > row["upper_pruned"]["against"]
