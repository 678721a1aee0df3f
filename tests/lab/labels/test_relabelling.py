"""Packages under other labels."""

from memaudit.kernel.package.digest import digest
from memaudit.lab.labels.relabelling import changes, own_values, relabelled
from tests.lab.labels.tiny_package import F, package


def test_changes_are_what_differs() -> None:
    own = own_values(package())
    assert own == {("a", "u"): 1, ("b", "v"): 1}
    said = {("b", "v"): F(1, 2), ("a", "u"): F(1), ("c", "u"): F(0), ("a", "v"): F(1)}
    assert list(changes(own, said).items()) == [(("a", "v"), 1), (("b", "v"), F(1, 2))]


def test_relabelled() -> None:
    before = package()
    after = relabelled(before, {("a", "u"): F(0), ("b", "v"): F(1, 2), ("c", "v"): F(1)}, "ann")
    assert own_values(after) == {("b", "v"): F(1, 2), ("c", "v"): 1}
    assert [row.label for row in after.coverage] == ["partial", "full"]
    assert {row.provenance for row in after.coverage} == {"labels:ann"}
    assert digest(after) != digest(before)
    kept = relabelled(before, {("a", "u"): F(1, 2)}, "ann").coverage
    assert kept[0] is before.coverage[1]


def test_nothing_changed_is_the_same_package() -> None:
    before = package()
    assert relabelled(before, {}, "ann") is before
