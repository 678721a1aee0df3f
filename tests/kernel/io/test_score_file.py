"""Shares that no diagnosis writes, counts that count nothing, scores above 1, other versions."""

import json
from copy import deepcopy
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from memaudit.board.board_of_scores import board_of_scores
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.score.score_files import read_scores
from tests.kernel.score.small_stores import meals_scores


@cache
def written() -> dict[str, Any]:
    """A store that fits its budget, as `memaudit score --json` prints it."""
    return meals_scores(7).to_json()


def row(store: str, kept: str) -> dict[str, Any]:
    """It keeps a share of OPT, and loses the others to extraction."""
    one: dict[str, Any] = deepcopy(written()["scores"][0])
    shares = {
        "generation": "0",
        "extraction": str(1 - Fraction(kept)),
        "cost": "0",
        "selection": "0",
    }
    losses = {name: {"share": share} for name, share in shares.items()}
    one["diagnosis"] = {"kept": kept, "losses": losses}
    return {**one, "store": store, "score": round(float(Fraction(kept)), 9)}


def write(folder: Path, file: str, *rows: dict[str, Any], **changes: Any) -> None:
    digests = {"digest": f"digest {file}", "union_digest": f"union {file}"}
    data = {**written(), **digests, "package": file, "stores": [], "scores": rows, **changes}
    (folder / f"{file}.json").write_text(json.dumps(data))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1e999999999", "'1e999999999' is not a share"),
        ("1e-999999999", "is not a share"),
        ("1_0/20", "is not a share"),
        ("\u0661/2", "is not a share"),
        ("0.5", "is not a share"),
        ("-1/2", "is not a share"),
        ("1/0", "divides by zero"),
        ("3/2", "less than or equal to 1"),
        ("9" * 5000, "expected a share as text"),
        (0.5, "expected a share as text"),
    ],
)
def test_shares(tmp_path: Path, text: object, said: str) -> None:
    """One line, at once: the number is never written out."""
    one = row("s", "1/2")
    one["diagnosis"]["kept"] = text
    write(tmp_path, "p", one)
    with pytest.raises(MemAuditError, match=rf"^p\.json: scores\.0\.diagnosis.*kept: .*{said}"):
        read_scores(tmp_path)


def test_long_shares_are_rounded_in_means(tmp_path: Path) -> None:
    """By hand: 1/3 and 2/3 have the mean 1/2; so have shares of odd denominators, nearly."""
    large = 10**900 + 1
    write(tmp_path, "a", row("s", "1/3"), row("t", f"{large // 3}/{large}"))
    write(tmp_path, "b", row("s", "2/3"), row("t", f"{2 * large // 3}/{large + 2}"))
    write(tmp_path, "c", row("s", "1/2"), row("t", f"{large // 2}/{large + 6}"))
    ((_, standings),) = board_of_scores(read_scores(tmp_path)).budgets
    shares = {
        row.store: {name: Fraction(share) for name, share in (row.shares or {}).items()}
        for row in standings
    }
    assert shares["s"]["kept"] == Fraction(1, 2)
    assert sum(shares["t"].values()) == 1
    assert 0 < abs(shares["t"]["kept"] - Fraction(1, 2)) < Fraction(1, 10**50)
    assert len(str(shares["t"]["kept"])) < 200


def test_counts(tmp_path: Path) -> None:
    one = row("s", "1/2")
    one["written"]["memories"] = 10**400
    write(tmp_path, "p", one)
    with pytest.raises(
        MemAuditError, match=r"scores\.0\.written\.memories: input should be less than"
    ):
        read_scores(tmp_path)


def test_too_many_pairs(tmp_path: Path) -> None:
    """500 stores would be 124,750 comparisons."""
    write(tmp_path, "p", *(row(f"s{number}", "1/2") for number in range(500)))
    with pytest.raises(MemAuditError, match="more than 100,000 pairs of stores"):
        board_of_scores(read_scores(tmp_path))


def test_a_score_is_at_most_1(tmp_path: Path) -> None:
    """So is what a policy or the best subset keeps. Over the package alone it may be more."""
    one = row("s", "1/2")
    one["package_ratio"]["value"] = 1.5
    write(tmp_path, "p", one)
    assert board_of_scores(read_scores(tmp_path)).stores
    for place in ("score", "kept", "best_subset"):
        wrong = deepcopy(one)
        if place == "score":
            wrong["score"] = 1.5
        else:
            wrong[place]["ratio"] = 1.5
        write(tmp_path, "p", wrong)
        with pytest.raises(MemAuditError, match=rf"^p\.json: scores\.0\.{place}"):
            read_scores(tmp_path)


@pytest.mark.parametrize("version", [1, 3, "2"])
def test_other_versions_are_refused(tmp_path: Path, version: object) -> None:
    """In one line that says what to do, whatever else is in the file, alone or in a run."""
    old = {
        "format": "memaudit-scores",
        "version": version,
        "package": "p",
        "judge": "lexical",
        "scores": [{"store": "s", "common_union_ratio": {"value": 1.5}}],
    }
    for data in (old, {**old, "packages": [old]}):
        (tmp_path / "p.json").write_text(json.dumps(data))
        with pytest.raises(MemAuditError) as caught:
            read_scores(tmp_path)
        assert str(caught.value).startswith("p.json: ")
        assert f"version {version!r} of the format is not read" in str(caught.value)
        assert "score the stores again" in str(caught.value)
        assert "\n" not in str(caught.value)
