"""Who labelled: annotators, models, and the package itself; and which two of them are compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from memaudit.core.errors import MemAuditError
from memaudit.label_audit.cells import Frame, Label, LabelSet, label_of_value
from memaudit.natural.coverage_rules import PASS

Role = Literal["annotator", "consensus", "model", "package"]
CONSENSUS, PACKAGE = "consensus", "package"


@dataclass(frozen=True, slots=True)
class Rater:
    """A source of labels; the consensus has none of its own, they follow from the scale."""

    name: str
    role: Role
    labels: Mapping[str, Label]

    @property
    def title(self) -> str:
        """The name, and that it is a model where it is one."""
        return f"{self.name} (model)" if self.role == "model" else self.name


def raters(
    frame: Frame, annotators: Iterable[LabelSet], models: Iterable[LabelSet] = ()
) -> tuple[Rater, ...]:
    """Annotators, models, and the package's own labels where they are nobody's of these.

    One annotator may come in several files with different cells; the same cell in two of them would
    be two opinions under one name.
    """
    found = [*_merged("annotator", annotators), *_merged("model", models)]
    names = [one.name for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MemAuditError(
            f"{twice[0]!r} is an annotator and a model; give its labels once, or rename one"
        )
    for name in (CONSENSUS, PACKAGE):
        if name in names:
            raise MemAuditError(
                f"an annotator is called {name!r}, which has a meaning here; rename it"
            )
    if frame.key and not own_passes(frame, names):
        labels = {cell: label_of_value(keyed.value) for cell, keyed in frame.key.items()}
        found.append(Rater(PACKAGE, "package", labels))
    if len(found) < 2:
        raise MemAuditError(
            f"only {found[0].name!r} labelled these cells, and the package has no other labels; "
            "give a second label file"
            if found
            else "no labels to compare; give label files"
        )
    return tuple(found)


def own_passes(frame: Frame, names: Iterable[str]) -> list[str]:
    """Label passes among these that the package's own labels are: they would meet themselves."""
    own = {keyed.provenance for keyed in frame.key.values() if keyed.provenance.startswith(PASS)}
    return sorted(own & set(names))


def _merged(role: Role, sets: Iterable[LabelSet]) -> list[Rater]:
    labels: dict[str, dict[str, Label]] = {}
    for one in sets:
        own = labels.setdefault(one.annotator, {})
        if again := sorted(own.keys() & one.labels.keys()):
            raise MemAuditError(
                f"{one.annotator!r} labels the cell {again[0]!r} in two files; give each file "
                "once, and each annotator a name"
            )
        own.update(one.labels)
    return [Rater(name, role, own) for name, own in labels.items()]


def compared_pairs(found: Sequence[Rater]) -> list[tuple[Rater, Rater]]:
    """Whom to compare, in the order of the paper's table.

    Annotators with each other; then the package, each model, and models with the package and with
    each other. The consensus of two or more annotators comes before each of them.
    """
    annotators = [one for one in found if one.role == "annotator"]
    models = [one for one in found if one.role == "model"]
    package = [one for one in found if one.role == "package"]
    consensus = [Rater(CONSENSUS, "consensus", {})] if len(annotators) > 1 else []
    pairs = list(combinations(annotators, 2))
    for other in (*package, *models):
        pairs += [(one, other) for one in (*consensus, *annotators)]
    pairs += [(model, one) for model in models for one in package]
    pairs += combinations(models, 2)
    return pairs
