"""Which confusion labels are drawn from: the package's with annotators, or theirs with each other.

A package's labels are one reading of its cells, be it a person's, a model's or a rule's. Given that
a cell is labelled x, another reading says y with a chance that can be measured in two ways.

`package` takes x from the package and y from the annotators. Draws start from the package's labels
and say where its ratios might lie had any of these annotators labelled instead. Frames are drawn by
the package's label, so these chances do not depend on how many cells of which label a frame holds;
one annotator is enough; and where all annotators contradict the package, it shows.

`annotators` takes x from one annotator and y from another, in every pair and both ways round, with
each cell counting as often as the cells it stands for: a frame holds every covered cell but few of
the others, so without a key these chances are those of the frame's balance, not of the packages'.
Draws start from the consensus, and from the package's label where there is none, taken as one more
annotator's reading; they say how far readings like these spread around it.

The first is used unless the second is asked for: the ratios that need an interval are those of the
package, and what two annotators both hold against it is no confusion between them.

Annotators are the label sets that are no models; where there are only models, these. A label set
that is the package's own would meet itself: for `package` it is left out, unless there is no other.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Literal, get_args

from memaudit.audits.frames.population import Strata
from memaudit.audits.relabel.chances import Chances, Seen
from memaudit.audits.relabel.consensus import annotators, consensus
from memaudit.audits.relabel.labels import Labels, changes
from memaudit.audits.relabel.readings import Reading
from memaudit.core.errors import MemAuditError

Confusion = Literal["package", "annotators"]
CONFUSIONS: tuple[Confusion, ...] = get_args(Confusion)


def named_confusion(name: str) -> Confusion:
    """The confusion of a name; an error that lists them where there is none."""
    for known in CONFUSIONS:
        if name == known:
            return known
    raise MemAuditError(f"unknown confusion {name!r}; choose one of: {', '.join(CONFUSIONS)}")


def readers(readings: Sequence[Reading], own: Reading, confusion: Confusion) -> list[Reading]:
    """The label sets that the chances are measured with."""
    found = annotators(readings) or list(readings)
    if confusion == "package":
        return [one for one in found if _differs(one, own)] or found
    if len(found) < 2:
        raise MemAuditError(
            "--confusion annotators needs label sets of two annotators; give a second --labels"
        )
    return found


def measured_chances(
    readings: Sequence[Reading], own: Reading, strata: Mapping[str, Strata],
    confusion: Confusion = "package",
) -> Chances:  # fmt: skip
    """The chances, from the labels of all readers together."""
    found = readers(readings, own, confusion)
    seen = Counter(
        _with_package(found, own, strata)
        if confusion == "package"
        else _among_themselves(found, strata)
    )
    if not seen:
        raise MemAuditError(
            "the annotators share no cell, so nothing is known of their confusion; leave out "
            "--confusion annotators"
        )
    return Chances(seen)


def starting_labels(
    readings: Sequence[Reading], own: Reading, confusion: Confusion
) -> Mapping[str, Labels]:
    """The labels of the cells asked about that draws start from."""
    if confusion == "package":
        return own.labels
    agreed = consensus(readings)
    settled = {} if agreed is None else agreed.labels
    return {name: {**labels, **settled.get(name, {})} for name, labels in own.labels.items()}


def _with_package(
    found: Sequence[Reading], own: Reading, strata: Mapping[str, Strata]
) -> Iterator[Seen]:
    for reading in found:
        for package, labels in reading.labels.items():
            held, places = own.labels[package], strata[package]
            for at, label in labels.items():
                yield Seen(places.of(*at), held[at], label, reading.weight(package, at))


def _among_themselves(found: Sequence[Reading], strata: Mapping[str, Strata]) -> Iterator[Seen]:
    for one, other in permutations(found, 2):
        for package, labels in one.labels.items():
            theirs, places = other.labels.get(package, {}), strata[package]
            for at in labels.keys() & theirs.keys():
                weight = max(one.weight(package, at), other.weight(package, at))
                yield Seen(places.of(*at), labels[at], theirs[at], weight)


def _differs(reading: Reading, own: Reading) -> bool:
    return any(changes(own.labels[name], labels) for name, labels in reading.labels.items())
