"""A whole audit of a small frame, worked by hand."""

from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.labels.agreement import audit_agreement
from memaudit.lab.labels.agreement_file import AgreementFile, Group, ScaleAgreement
from memaudit.lab.labels.frame import Frame, FrameCell, LabelSet
from memaudit.lab.labels.frame_files import read_frame
from memaudit.lab.labels.pair_agreement import PACKAGE_LABEL
from tests.lab.labels.small_frames import frame, labels, plain_cell

KEY = "ffpnnnnn"
ANN = "ffpnnfn?"
BEN = "fppnnnn."
WEIGHTS = {place: Fraction(5, 2) for place in range(3, 8)}


@pytest.fixture(scope="module")
def audit() -> AgreementFile:
    """Eight cells; the five that the package does not cover stand for 5/2 each."""
    held = frame(8, KEY, WEIGHTS)
    cells = tuple(
        plain_cell(place, f"p{place % 2}", "fact" if place < 5 else "summary") for place in range(8)
    )
    return audit_agreement(
        Frame(cells, held.key),
        [labels("ann", ANN), labels("ben", BEN)],
        [labels("bot", "fnnnnnnn")],
        draws=200,
    )


def pair(found: AgreementFile, title: str, scale: str) -> ScaleAgreement:
    return next(one.scales[scale] for one in found.pairs if one.title == title)


def rounded(number: Fraction) -> float:
    return round(float(number), 9)


def test_annotators(audit: AgreementFile) -> None:
    """Seven cells compared, f-f, f-p, p-p, n-n three times, f-n.

    Rows none 3, partial 1, full 3; columns none 4, partial 2, full 1: expected (12 + 2 + 3) / 49,
    so kappa is (5/7 - 17/49) / (32/49) = 18/32. Weighted: n-n weighs 15/2 and f-n 5/2, in all 13;
    agreed 19/2; rows 15/2, 1, 9/2; columns 10, 2, 1: expected (75 + 2 + 9/2) / 169.
    """
    one = pair(audit, "ann - ben", "labels")
    assert one.cells == 7
    assert one.left_out == {"missing": 1, "cannot_tell": 0, "disagreed": 0}
    assert one.as_drawn.confusion == [[3, 0, 0], [0, 1, 0], [1, 1, 1]]
    assert one.as_drawn.kappa.value == Fraction(9, 16)
    assert one.as_drawn.raw_agreement.value == rounded(Fraction(5, 7))
    assert one.natural is not None
    expected = Fraction(163, 338)
    assert one.natural.raw_agreement.value == rounded(Fraction(19, 26))
    assert one.natural.kappa.value == rounded((Fraction(19, 26) - expected) / (1 - expected))


def test_covered_or_not(audit: AgreementFile) -> None:
    """Covered by both 3, by the first alone 1, by none 3."""
    one = pair(audit, "ann - ben", "covered")
    assert one.as_drawn.confusion == [[3, 0], [1, 3]]


def test_consensus(audit: AgreementFile) -> None:
    assert audit.consensus["labels"] == {
        "agreed": 5,
        "disagreed": 2,
        "cannot_tell": 1,
        "missing": 0,
    }
    assert audit.consensus["covered"]["agreed"] == 6
    one = pair(audit, "consensus - package", "labels")
    assert one.cells == 5
    kinds = {one.title: one.kind for one in audit.pairs}
    assert kinds["consensus - package"] == "consensus-package"
    assert one.left_out == {"missing": 0, "cannot_tell": 1, "disagreed": 2}
    assert one.as_drawn.kappa.value == 1
    assert pair(audit, "consensus - bot (model)", "covered").cells == 6
    assert pair(audit, "bot (model) - package", "labels").as_drawn.raw_agreement.value == 6 / 8


def test_groups(audit: AgreementFile) -> None:
    groups = {(one.by, one.group): one for one in pair(audit, "ann - ben", "labels").groups}
    assert groups[PACKAGE_LABEL, "package-positive"] == Group(
        by=PACKAGE_LABEL,
        group="package-positive",
        cells=3,
        # Rows full 2, partial 1, columns full 1, partial 2: (2/3 - 4/9) / (5/9).
        kappa={"value": 0.4},
        disagreements=1,
        share_of_disagreements=0.5,
        rate=rounded(Fraction(1, 3)),
    )
    for name in ("candidate kind", "summary"), ("stratum", "summary / event / same session"):
        summary = groups[name]
        assert (summary.cells, summary.disagreements) == (2, 1)
        assert summary.kappa is not None
        assert summary.kappa.value == 0  # ben says none throughout: no better than chance
    own = pair(audit, "ann - package", "labels").groups[0]
    assert (own.by, own.kappa) == (PACKAGE_LABEL, None)


def test_disputed(audit: AgreementFile) -> None:
    first, second, third = audit.disputed[:3]
    assert (first.cell_id, first.gap, first.differing_pairs) == ("c001", 1, 5)
    assert first.labels == {"ann": "full", "ben": "partial", "bot": "none", "package": "full"}
    assert (second.cell_id, second.gap, second.differing_pairs) == ("c005", 1, 3)
    assert (third.cell_id, third.gap, third.differing_pairs) == ("c002", 0.5, 3)
    assert len(audit.disputed) == 3


def test_intervals(audit: AgreementFile) -> None:
    """Packages are drawn where there are several, else cells."""
    kappa = pair(audit, "ann - ben", "labels").as_drawn.kappa
    assert kappa.over_cells is None
    assert kappa.interval == kappa.over_packages is not None
    alone = audit_agreement(frame(8, KEY), [labels("ann", ANN), labels("ben", BEN)], draws=200)
    kappa = pair(alone, "ann - ben", "labels").as_drawn.kappa
    assert kappa.over_packages is None
    assert kappa.over_cells is not None
    assert kappa.over_cells.low <= (kappa.value or 0) <= kappa.over_cells.high


def test_little_is_known() -> None:
    cells = tuple(
        FrameCell(f"c{place:03}", "p", "m", "u", "unknown", "unknown", None, "", "", "")
        for place in range(3)
    )
    found = audit_agreement(Frame(cells), [labels("a", "nnn"), labels("b", "nnn")], draws=5)
    one = pair(found, "a - b", "labels")
    assert one.natural is None
    assert one.groups == []
    assert one.as_drawn.kappa.value is None
    assert one.as_drawn.kappa.interval is None
    assert one.as_drawn.raw_agreement.over_packages is None
    assert found.disputed == []
    assert not found.has_partial
    with pytest.raises(MemAuditError, match="no cells"):
        audit_agreement(Frame(()), [labels("a", "n"), labels("b", "n")])


def test_nothing_in_common() -> None:
    found = audit_agreement(frame(4), [labels("a", "ff"), labels("b", "..nn")], draws=5)
    one = pair(found, "a - b", "labels")
    assert (one.cells, one.left_out["missing"]) == (0, 4)
    assert one.as_drawn.kappa.value is None
    assert one.as_drawn.raw_agreement.value is None


def noted(held: Frame, *sets: LabelSet, models: tuple[LabelSet, ...] = ()) -> str:
    return "\n".join(audit_agreement(held, sets, models, draws=10).notes)


def test_two_steps_against_three() -> None:
    """ann and ben say 0 or 1, the package says 0.5 too: their 1 against it is no disagreement that
    they could have avoided. On the covered scale they agree in full with the package."""
    held = frame(6, "fppnnn")
    ann, ben = labels("ann", "fffnnn"), labels("ben", "fffnnn")
    text = noted(held, ann, ben)
    assert "ann, ben never answered partial, package did" in text
    assert "the covered scale is the fair one" in text
    found = audit_agreement(held, [ann, ben], draws=10)
    kappas = {
        scale: pair(found, "consensus - package", scale).as_drawn.kappa.value
        for scale in ("labels", "covered")
    }
    # Labels: 4 of 6 agree, by chance (3 x 3 + 0 x 2 + 3 x 1) / 36 = 1/3.
    assert kappas == {"labels": 0.5, "covered": 1}


def test_whoever_may_say_partial() -> None:
    held = frame(6, "fppnnn")
    assert "never answered" not in noted(held, labels("ann", "ffpnnn"), labels("ben", "fppnnn"))
    text = noted(frame(6, "fffnnn"), labels("ann", "ffnnnn"))
    assert "nobody answered partial: both scales are the same" in text
    assert "never answered" not in text
    model = labels("bot", "fffnnn")
    text = noted(held, labels("ann", "ffpnnn"), models=(model,))
    assert "bot (model) never answered partial, ann, package did" in text
    # Who covers nothing has had no occasion.
    assert "never answered" not in noted(held, labels("ann", "ffpnnn"), labels("ben", "nnnnnn"))


def test_published_columns(tmp_path: Path) -> None:
    """The published label is the coverage from 0.5 on; the coverage is the key if it is there."""
    file = tmp_path / "annotation_cells.csv"
    row = "instance_id,candidate_id,unit_id,candidate_text,evidence_text"
    file.write_text(
        f"cell_id,{row},gemini_label,gemini_coverage\n"
        "c000,q,m,u,a,b,1,0.5\nc001,q,n,u,a,b,0,0.0\nc002,q,o,u,a,b,1,1.0\n"
    )
    text = noted(read_frame(tmp_path), labels("ann", "fnf"))
    assert "ann never answered partial, package did" in text
    file.write_text(f"cell_id,{row},gemini_label\nc000,q,m,u,a,b,1\nc001,q,n,u,a,b,0\n")
    assert "never answered partial" not in noted(read_frame(tmp_path), labels("ann", "fn"))
