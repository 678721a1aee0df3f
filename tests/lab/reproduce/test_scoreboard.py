"""The scoreboard: which published numbers there are, and what becomes of them."""

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from memaudit.lab.reproduce.controlled import reproduce_controlled
from memaudit.lab.reproduce.folder import Settings, remark_on
from memaudit.lab.reproduce.manifest import scoreboard_page
from memaudit.lab.reproduce.results import read_results
from memaudit.lab.reproduce.scoreboard import (
    NEEDS_ARCHIVE,
    NOT_AS_PRINTED,
    Scoreboard,
    archive_lines,
    compare,
    published,
    solver_lines,
)
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.summary import summarise
from memaudit.lab.sweeps.runs.sweep import run
from memaudit.workspace.engines import named_engine


def audit(rows: int, matches: int, largest: str) -> dict[str, Any]:
    """A solver audit with one backend."""
    return {"solvers": {"highs": {"rows": rows, "matches": matches, "max_difference": largest}}}


def test_table_one() -> None:
    """Rows, matches and the largest difference of the MILP; an exact third is not 0.0."""
    assert [line.verdict for line in solver_lines(audit(1200, 1200, "0"))] == ["agree"] * 3
    fewer = list(solver_lines(audit(1200, 1199, "1/3")))
    assert [line.verdict for line in fewer] == ["agree", "differ", "differ"]
    assert [line.ours for line in fewer] == ["1200", "1199", "0.3"]


def test_what_needs_the_archive() -> None:
    """Counted by hand from the paper's tables and text: no number is left out or doubled."""
    lines = list(archive_lines({}))
    assert Counter(line.verdict for line in lines) == {NEEDS_ARCHIVE: 54, NOT_AS_PRINTED: 41}
    assert all(bool(line.why) == (line.verdict == NOT_AS_PRINTED) for line in lines)
    assert {line.ours for line in lines} == {"-"}
    # Table 2: 2 + 3 + 3 + 2. Table 3: 3 + 5 + 7 + 3 + 2 + 2. Table 4: 6 rows of 3. Table 5: 3 rows
    # of 5. Table 6: 2 rules of 4. Section 6: 3 of the export, 3 + 1 of Estimated-GVT with its
    # interval of 2 and the human one's 3, 2 of A-Mem.
    assert Counter(line.where for line in lines) == {
        "section 2": 2,
        "table 2": 10,
        "section 6": 14,
        "table 3": 22,
        "appendix B": 4,
        "table 4": 18,
        "appendix C": 2,
        "table 6": 8,
        "table 5": 15,
    }
    assert len({(line.where, line.what) for line in lines}) == len(lines)


def test_the_papers_own_arithmetic() -> None:
    """Numbers as typed in here fit each other as they do in the paper."""
    at = {(line.where, line.what): line.published for line in archive_lines({})}
    cells = Decimal(at["table 3", "human-human, cells"])
    agreed = Decimal(at["table 3", "human-Gemini, agreed cells"])
    assert cells - agreed == Decimal(at["appendix B", "human-human disagreements"])
    raw = at["table 3", "human-human, raw agreement"]
    assert (agreed / cells).quantize(Decimal(raw)) == Decimal(raw)
    missed = Decimal(at["appendix B", "human-Gemini disagreements"])
    raw = at["table 3", "human-Gemini, raw agreement"]
    assert (1 - missed / agreed).quantize(Decimal(raw)) == Decimal(raw)


def test_every_figure_is_named() -> None:
    """Seven figures; one of them needs a dataset and a reader, and says which."""
    figures = published("archive")["figures"]
    assert [one["where"] for one in figures] == [f"figure {number}" for number in range(1, 8)]
    assert [one["where"][-1] for one in figures if not one["files"]] == ["7"]
    assert "memaudit study transfer" in figures[-1]["needs"]


def test_counts_in_words() -> None:
    """One of a kind has its own grammar."""
    lines = [compare("here", "this", "0.5", ours) for ours in (0.5, 0.6)]
    need = [line for line in archive_lines({}) if line.verdict == NEEDS_ARCHIVE]
    assert Scoreboard({}, (*lines, need[0]), (), {}).headline == (
        "1 agrees, 1 differs, 1 needs the published archive, 0 cannot be reproduced as printed"
    )
    assert Scoreboard({}, (*lines[1:], *need), (), {}).headline == (
        "0 agree, 1 differs, 54 need the published archive, 0 cannot be reproduced as printed"
    )


def test_other_settings_are_remarked_on() -> None:
    """Fewer seeds give other numbers, and the reader is told so; the defaults need no remark."""
    assert Settings().remark == ""
    assert (
        Settings(20, 1200, 64).remark
        == remark_on({"seeds": 20})
        == ("made with --seeds 20, the paper's numbers need the defaults; differences are expected")
    )
    assert Settings(20, 24, 3).remark.startswith("made with --seeds 20 --rows 24 --packages 3, ")


def test_a_difference_that_is_no_number() -> None:
    """What stands in a file is not divided by zero, nor spelled out to a billion digits."""
    for text in ("1/0", "1e999999999", "nan"):
        with pytest.raises(ValueError, match=r"divides by zero|out of range|not a finite"):
            list(solver_lines(audit(1200, 1200, text)))


@pytest.mark.slow
def test_the_page_lists_every_number(finished: Path) -> None:
    """One row a number, the counts on top, and where the own set's tables are."""
    board = read_results(finished, Settings(3, 24, 3)).scoreboard
    page = scoreboard_page(board)
    assert len(board.lines) == 118
    assert (board.counts[NEEDS_ARCHIVE], board.counts[NOT_AS_PRINTED]) == (54, 41)
    assert sum(board.counts.values()) == 118
    assert page.count("as printed; 3 seeds, 24 rows, 3 packages. ") == 1
    assert "This was made with --seeds 3" in scoreboard_page(board, Settings(3, 24, 3).remark)
    assert page.count("| needs the published archive |") == 54
    assert "| section 5 | no-tombstone OPT / OPT on update_chain, B = 6 | 0.513 | 0.513 |" in page
    assert "[tables/labels-own-set.md](tables/labels-own-set.md)" in page


@pytest.mark.parametrize(
    ("published", "ours", "verdict"),
    [
        ("0.523", 0.52349, "agree"),
        ("0.523", 0.52351, "differ"),
        ("2.00", 2.0, "agree"),
        ("2.00", 1.994, "differ"),
        ("0", 0.0, "agree"),
        ("0", 0.6, "differ"),
        ("0", 0.4, "differ"),
        ("0.0", 0.04, "differ"),
        ("0.000", 1e-9, "differ"),
        ("0.000", 0.0, "agree"),
        ("1", 1.4, "differ"),
        ("1200", 1200.0, "agree"),
        ("1200", 1199.6, "differ"),
        ("0.7", None, "differ"),
    ],
)
def test_agreement_is_to_the_printed_places(
    published: str, ours: float | None, verdict: str
) -> None:
    """As many places as the paper prints, no more; counts and zeros to the last place."""
    assert compare("here", "this", published, ours).verdict == verdict


def test_what_differs_is_seen_to_differ() -> None:
    """A number that would round to what was printed is shown in full."""
    assert compare("here", "this", "0.0", 0.04).ours == "0.04"
    assert compare("here", "this", "0.523", 0.61).ours == "0.610"


@pytest.mark.slow
def test_the_paper_comes_out(tmp_path: Path) -> None:
    """All 500 seeds; every number the paper states on controlled packages agrees."""

    def sweep(spec: RunSpec, folder: Path) -> dict[str, Any]:
        run(spec, folder, named_engine("processes"))
        return summarise(folder)

    lines = reproduce_controlled(tmp_path, sweep)
    assert len(lines) == 20
    assert [line for line in lines if line.verdict != "agree"] == []
    assert (tmp_path / "scoreboard.json").exists()
