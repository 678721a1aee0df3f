"""What the page says is what the rows say, worked out another way."""

import shutil
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.sweeps.runs.report.frontier_curves import choose_packages, frontier_curves
from memaudit.lab.sweeps.runs.report.page import build_report, losses
from memaudit.lab.sweeps.runs.report.run_grids import FinishedRunData, open_run, rank_writers
from memaudit.lab.sweeps.runs.summary import summarise
from memaudit.lab.sweeps.writers.registry import WRITERS
from memaudit.show.encoding import OPT_LOOK, looks
from memaudit.show.page_charts import grouped, members_by_name, plot
from memaudit.workspace.journal import read_journal
from memaudit.workspace.run_folder import ROWS
from tests.lab.sweeps.runs.report.conftest import rewrite


@pytest.fixture(scope="module")
def run(plain_run: Path) -> FinishedRunData:
    return open_run(plain_run)


def test_the_ranking_is_that_of_the_summary(run: FinishedRunData, tmp_path: Path) -> None:
    shutil.copytree(run.folder, tmp_path, dirs_exist_ok=True)
    ranking = summarise(tmp_path)["ranking"]
    found = rank_writers(run)
    assert [(p.member.name, p.mean, p.low, p.high) for p in found.places] == [
        (row["writer"], row["mean_ratio"], row["ci_low"], row["ci_high"]) for row in ranking
    ]
    assert [(n.first, n.second) for n in found.neighbours] == [
        (a.member, b.member) for a, b in zip(found.places[:-1], found.places[1:], strict=True)
    ]


def test_neighbours_differ_by_the_difference_of_their_means(run: FinishedRunData) -> None:
    found = rank_writers(run)
    for place, pair in zip(found.places, found.neighbours, strict=False):
        after = found.places[place.number]
        assert pair.difference.mean == pytest.approx(
            (place.mean or 0) - (after.mean or 0), abs=2e-6
        )
        assert pair.p_holm >= pair.difference.p


def test_values_by_kind_add_up_to_the_rows(run: FinishedRunData) -> None:
    members = [member for member in run.members.values() if member.name != "opt"]
    found = losses(run, members)
    assert found is not None
    values, optima, kept = defaultdict(list), [], defaultdict(list)
    for row in read_journal(run.folder / ROWS):
        values[row["writer"]].append(row["value"])
        kept[row["writer"]].append(len(row["store"]))
        if row["writer"] == "opt":
            optima.append(row["optimum"])
    assert sum(found.values.best) == pytest.approx(fmean(optima))
    for mix in found.values.writers:
        assert mix.total == pytest.approx(fmean(values[mix.member.name]))
        assert sum(mix.gaps) == pytest.approx(mix.total - fmean(optima))
    for mix in found.kept.writers:
        assert mix.total == pytest.approx(fmean(kept[mix.member.name]))
    assert found.truths[0].member is None


def test_without_rows_of_opt_there_are_no_losses(run_without_opt: Path) -> None:
    run = open_run(run_without_opt)
    assert losses(run, list(run.members.values())) is None
    assert "The run has no rows of OPT" in build_report(run_without_opt)


def test_a_writer_that_loses_one_kind_only(run: FinishedRunData) -> None:
    found = losses(run, [run.members["no_tombstone_opt"]])
    assert found is not None
    worst = found.values.largest_loss(found.values.writers[0])
    assert worst is not None
    assert worst[0] == "supersession"  # what only tombstones and compound updates preserve well
    assert 0.5 < worst[1] <= 1


def test_no_sign_stands_above_the_line(run: FinishedRunData) -> None:
    shown = choose_packages(run)
    assert shown == [("base", 0), ("base", 1), ("update_chain", 0)]
    for curve in frontier_curves(run, shown):
        optimum = dict(curve.optima)
        for one in curve.reached:
            assert one.value is not None
            assert one.value <= optimum[one.budget] + 1e-9
            line = max(value for budget, value in curve.steps if budget <= one.budget)
            assert line == pytest.approx(optimum[one.budget])
        picture = plot(curve)
        assert all(0 <= point.x <= 340 and 0 <= point.y <= 236 for point in picture.points)
        assert len(picture.points) == len(curve.reached)


def test_a_package_that_is_another_one_now_is_refused(plain_run: Path, tmp_path: Path) -> None:
    shutil.copytree(plain_run, tmp_path, dirs_exist_ok=True)
    rewrite(tmp_path, lambda row: row.update(digest="0" * 64))
    with pytest.raises(MemAuditError, match=r"base, seed 0: the package made now has digest"):
        frontier_curves(open_run(tmp_path), [("base", 0)])


def test_groups_of_writers() -> None:
    members = members_by_name(
        {"opt": True, "mem0_style": False, "recency_raw": False, "gone": False}, WRITERS
    )
    assert [m.group for m in members.values()] == ["reference", "proxy", "deployable", "deployable"]
    assert members["opt"].look == OPT_LOOK
    assert members_by_name({"gone": True}, WRITERS)["gone"].look.hollow
    assert members["mem0_style"].look == looks(["mem0_style"])["mem0_style"]
    assert members["gone"].label == "gone"
    assert [group for group, _ in grouped(list(members.values()))] == [
        "deployable",
        "proxy",
        "reference",
    ]
