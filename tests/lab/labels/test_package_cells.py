"""Label passes inside packages, as label sets of a frame."""

from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.building.annotations import AnnotationRecipe, build_package
from memaudit.building.build_folder import BuildJob, build_into, packages_at
from memaudit.building.label_passes import (
    CONVERSATION,
    LISTED,
    SESSION,
    LabelPass,
    label_passes,
    label_passes_json,
    pass_agreements,
)
from memaudit.building.named_packages import short_set
from memaudit.judges.label_files import read_labels
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import LABEL_PASSES
from memaudit.kernel.package.package import Package
from memaudit.lab.labels.agreement import audit_agreement
from memaudit.lab.labels.frame_drawing import judged_frame
from memaudit.lab.labels.package_cells import judged_cells, pass_label_sets
from tests.building.talks import DIET, Row, load, write_rows
from tests.conversations.files import real_file
from tests.lab.labels.small_frames import grid


def package_of(
    frame: str, judged: int, passes: list[LabelPass], homes: dict[str, int], pass_a: dict[str, str]
) -> Package:
    """A raw turn in session s1 and two supplied memories in s1 and s2; units by session.

    The package is scored by pass a: `pass_a` has its values, by cells such as `m1 u1`.
    """
    supplied = {"kind": "fact", "cost": 1, "generator": "labels:memories"}
    rows = [("r1", "u1", 1, "exact:inclusion")]
    rows += [(*at.split(), value, "pass:a") for at, value in pass_a.items()]  # type: ignore[misc]
    return Package.model_validate(
        {
            "name": "p",
            "experiences": [{"id": "e1", "session": "s1"}, {"id": "e2", "session": "s2"}],
            "candidates": [
                {"id": "r1", "experience": "e1", "kind": "raw", "cost": 1, "generator": "rule:raw"},
                {"id": "m1", "experience": "e1", **supplied},
                {"id": "m2", "experience": "e2", **supplied},
            ],
            "units": [
                {"id": id, "kind": "fact", "sources": [{"id": f"e{at}", "session": f"s{at}"}]}
                for id, at in homes.items()
            ],
            "coverage": [
                dict(zip(("candidate", "unit", "value", "provenance"), row, strict=True))
                for row in rows
            ],
            "attributes": {LABEL_PASSES: label_passes_json(frame, judged, passes)},
        }
    )


def passed(frame: str, judged: int) -> Package:
    """Pass a covers m1 x u1, pass b 7/10 of it and m2 x u1."""
    passes = [
        LabelPass("a", "0", {("m1", "u1"): (Fraction(1), "says so")}),
        LabelPass("b", "1", {("m1", "u1"): (Fraction(7, 10), ""), ("m2", "u1"): (Fraction(1), "")}),
    ]
    return package_of(frame, judged, passes, {"u1": 1, "u2": 2}, {"m1 u1": "1"})


def test_judged() -> None:
    """By session, by conversation, or what any pass lists; the raw turn was never judged.

    What pass b lists across sessions, m2 with u1, it judged too.
    """
    assert judged_cells(passed("session", 2)) == {("m1", "u1"), ("m2", "u2"), ("m2", "u1")}
    assert judged_cells(passed("conversation", 4)) == {
        (m, u) for m in ("m1", "m2") for u in ("u1", "u2")
    }
    assert judged_cells(passed("listed", 2)) == {("m1", "u1"), ("m2", "u1")}
    with pytest.raises(MemAuditError, match="which 3 cells its passes judged is not clear"):
        judged_cells(passed("session", 3))
    with pytest.raises(MemAuditError, match="grid: has no label passes"):
        judged_frame([grid("tenth")], [])


def test_a_unit_said_in_two_sessions() -> None:
    package = passed("session", 2)
    first, second = package.units
    again = second.model_copy(update={"sources": (*second.sources, *first.sources)})
    package = package.replace(units=(first, again))
    assert judged_cells(package) == {("m1", "u1"), ("m2", "u2"), ("m2", "u1")}


def test_label_sets() -> None:
    """What a pass does not list it judged none; 7/10 is partial; reasons are notes."""
    package = passed("conversation", 4)
    frame, _ = judged_frame([package], [])
    sets = pass_label_sets(frame, [package])
    place = {(cell.candidate, cell.unit): cell.id for cell in frame.cells}
    said = {one.annotator: {at: one.labels[id] for at, id in place.items()} for one in sets}
    assert said == {
        "pass:a": {
            ("m1", "u1"): "full",
            ("m1", "u2"): "none",
            ("m2", "u1"): "none",
            ("m2", "u2"): "none",
        },
        "pass:b": {
            ("m1", "u1"): "partial",
            ("m1", "u2"): "none",
            ("m2", "u1"): "full",
            ("m2", "u2"): "none",
        },
    }
    assert sets[0].notes == {place["m1", "u1"]: "says so"}


def test_the_first_pass_is_the_key() -> None:
    packages = short_set()
    frame, passes = judged_frame(packages, ["pass:coverage"])
    first = passes["pass:coverage"]
    assert set(first.labels) == set(frame.key)
    words = {Fraction(0): "none", Fraction(1, 2): "partial", Fraction(1): "full"}
    assert {id: words[one.value] for id, one in frame.key.items()} == first.labels


BOTH = ["pass:a", "pass:b"]


def package_with_passes(frame: str, judged: int) -> Package:
    """Pass a covers m1 x u1 and half of m2 x u3; pass b half of m1 x u1, m1 x u2 and the same half.

    Each session has two units.
    """
    full, half = (Fraction(1), ""), (Fraction(1, 2), "")
    passes = [
        LabelPass("a", "0", {("m1", "u1"): full, ("m2", "u3"): half}),
        LabelPass("b", "1", {("m1", "u1"): half, ("m1", "u2"): full, ("m2", "u3"): half}),
    ]
    homes = {"u1": 1, "u2": 1, "u3": 2, "u4": 2}
    return package_of(frame, judged, passes, homes, {"m1 u1": "1", "m2 u3": "1/2"})


@pytest.mark.parametrize(("kind", "cells"), [(SESSION, 4), (CONVERSATION, 8), (LISTED, 3)])
def test_judged_cells(kind: str, cells: int) -> None:
    package = package_with_passes(kind, cells)
    frame, passes = judged_frame([package], BOTH)
    assert len(frame.cells) == cells
    assert {one.candidate for one in frame.cells} == {"m1", "m2"}
    found = audit_agreement(frame, list(passes.values()), draws=50)
    one = found.pairs[0].scales["labels"]
    assert one.as_drawn.confusion == [[cells - 3, 0, 1], [0, 1, 0], [0, 1, 0]]
    assert one.natural is None
    held = label_passes(package)
    assert held is not None
    kappa = pass_agreements([held])[0].kappa
    assert one.as_drawn.kappa.value == (None if kappa is None else pytest.approx(float(kappa)))
    assert found.own_passes == ["pass:a"]


def test_the_other_pass_against_the_package() -> None:
    frame, passes = judged_frame([package_with_passes(SESSION, 4)], ["pass:b"])
    found = audit_agreement(frame, list(passes.values()), draws=50)
    (one,) = found.pairs
    assert one.title == "pass:b - package"
    assert one.scales["labels"].as_drawn.confusion == [[1, 0, 0], [0, 1, 1], [1, 0, 0]]


def test_wrong_input() -> None:
    with pytest.raises(MemAuditError, match=r"has no 'pass:c'; its passes: pass:a, pass:b"):
        judged_frame([package_with_passes(SESSION, 4)], ["pass:c"])
    with pytest.raises(MemAuditError, match="no packages"):
        judged_frame([], BOTH)


def test_units_that_no_source_places(tmp_path: Path) -> None:
    """Judged session by session: three memories and three units in s1, one of each in s2.

    u2 names its session alone: it cites no turn, and no turn holds its quote. u3 cites a turn of
    the other session. Both are judged in s1, where people place them: 3 x 3 + 1 x 1 cells.
    """
    units: list[Row] = [
        {"unit_id": "u1", "text": "Ann ate no meat.", "session": "s1", "turns": ["t1"]},
        {"unit_id": "u2", "text": "Ann is polite.", "session": "s1", "quote": "not said"},
        {"unit_id": "u3", "text": "Ann travels.", "session": "s1", "turns": ["t3"]},
        {"unit_id": "u4", "text": "Ann eats fish.", "session": "s2", "turns": ["t3"]},
    ]
    memories: list[Row] = [
        {"memory_id": f"m{n}", "text": f"Memory {n}.", "session": "s1" if n < 4 else "s2"}
        for n in range(1, 5)
    ]
    passes: list[list[Row]] = [
        [{"memory_id": "m1", "unit_id": "u2", "coverage": 1}],
        [
            {"memory_id": "m1", "unit_id": "u2", "coverage": 0.5},
            {"memory_id": "m2", "unit_id": "u3", "coverage": 1},
        ],
    ]
    labels = read_labels(
        write_rows(tmp_path / "u.jsonl", units),
        write_rows(tmp_path / "m.jsonl", memories),
        [
            write_rows(tmp_path / f"{name}.jsonl", rows)
            for name, rows in zip("ab", passes, strict=True)
        ],
    )
    package = build_package(load(tmp_path, DIET), AnnotationRecipe("chat", labels=labels)).package
    held = label_passes(package)
    assert held is not None
    assert (held.frame, held.judged) == (SESSION, 10)
    frame, found = judged_frame([package], BOTH)
    assert {(one.candidate, one.unit) for one in frame.cells} == {
        *((f"m{n}", f"u{u}") for n in (1, 2, 3) for u in (1, 2, 3)),
        ("m4", "u4"),
    }
    by_unit = {one.unit: one.same_session for one in frame.cells}
    # u3 was said in s2, though it is judged in s1; that is another question.
    assert by_unit == {"u1": True, "u2": True, "u3": False, "u4": True}
    pair = audit_agreement(frame, list(found.values()), draws=10).pairs[0]
    assert pair.scales["labels"].as_drawn.confusion == [[8, 0, 1], [0, 0, 0], [0, 1, 0]]


@pytest.mark.slow
def test_two_blind_passes_over_locomo(tmp_path: Path) -> None:
    """6,855 judged cells of a real conversation: 643 texts in the session of their first copy, and
    2 cells of copies in other sessions.

    Pass a lists 540 cells and pass b 536; 524 of them are in both, so 12 are in b alone and 16 in a
    alone, and 6,303 in neither. Covered or not: observed 6827/6855, expected (540 x 536 + 6315 x
    6319) / 6855^2, so kappa is 0.9718.
    """
    labels = Path("labels/locomo_conv26")
    files = {
        name: real_file(str(labels / f"{name}.jsonl"))
        for name in ("units", "memories", "coverage_pass_a", "coverage_pass_b")
    }
    job = BuildJob(
        real_file("locomo/locomo10.json"),
        conversations=("conv-26",),
        labels=read_labels(
            files["units"], files["memories"], [files["coverage_pass_a"], files["coverage_pass_b"]]
        ),
    )
    build_into(job, tmp_path / "built")
    names = ["pass:coverage_pass_a", "pass:coverage_pass_b"]
    frame, passes = judged_frame(packages_at(tmp_path / "built"), names)
    found = audit_agreement(frame, list(passes.values()), draws=100)
    on_labels, covered = found.pairs[0].scales.values()
    assert covered.cells == 6855
    assert covered.as_drawn.confusion == [[6303, 12], [16, 524]]
    assert covered.as_drawn.kappa.value == pytest.approx(0.9718, abs=0.00005)
    assert on_labels.as_drawn.confusion == [[6303, 12, 0], [16, 241, 2], [0, 7, 274]]
    assert len(found.disputed) == 12 + 16 + 2 + 7
