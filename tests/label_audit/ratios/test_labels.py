"""Changed cells, and packages with them."""

from memaudit.core.digest import digest
from memaudit.label_audit.audited_package import changes, own_values, relabelled
from tests.label_audit.ratios.tiny import F, package


def test_changes_are_what_differs() -> None:
    """A cell the package does not list is not covered: calling it so changes nothing."""
    own = own_values(package())
    assert own == {("a", "u"): 1, ("b", "v"): 1}
    said = {("b", "v"): F(1, 2), ("a", "u"): F(1), ("c", "u"): F(0), ("a", "v"): F(1)}
    assert list(changes(own, said).items()) == [(("a", "v"), 1), (("b", "v"), F(1, 2))]


def test_relabelled() -> None:
    """Cells are changed, added and taken away; the others are the same rows."""
    before = package()
    after = relabelled(before, {("a", "u"): F(0), ("b", "v"): F(1, 2), ("c", "v"): F(1)}, "ann")
    assert own_values(after) == {("b", "v"): F(1, 2), ("c", "v"): 1}
    assert [row.label for row in after.coverage] == ["partial", "full"]
    assert {row.provenance for row in after.coverage} == {"labels:ann"}
    assert digest(after) != digest(before)
    kept = relabelled(before, {("a", "u"): F(1, 2)}, "ann").coverage
    assert kept[0] is before.coverage[1]


def test_nothing_changed_is_the_same_package() -> None:
    """So its digest is the package's own."""
    before = package()
    assert relabelled(before, {}, "ann") is before
