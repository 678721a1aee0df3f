"""How reliable packages are by construction: what is exact, what is judged, what is in doubt."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.core.package import Package
from memaudit.core.text import contains
from memaudit.natural.build_folder import NAME, build_manifest, packages_at
from memaudit.natural.coverage_rules import LABELS, is_exact
from memaudit.natural.label_fitting import UNVERIFIED
from memaudit.natural.label_passes import Agreement, agreements, label_passes

VERDICTS = ("accepted", "corrected", "ambiguous", "rejected")
UNSAID = "unsaid"
"""The provenance of rows that name none."""


@dataclass(frozen=True, slots=True)
class Quotes:
    """Quotes of units: looked up in the stream, found there, and those of no known turn."""

    checked: int
    found: int
    unplaced: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """One row of the table; `verdicts` is None where nothing was adjudicated."""

    name: str
    packages: int
    verdicts: Mapping[str, int] | None
    experiences: int
    queries: int
    queries_without_units: int
    units: int
    units_by_kind: Mapping[str, int]
    units_uncovered: int
    candidates: Mapping[str, int]
    coverage: Mapping[str, Mapping[str, int]]
    quotes: Quotes
    agreement: tuple[Agreement, ...]

    @property
    def rows(self) -> int:
        """Coverage rows in all."""
        return sum(sum(labels.values()) for labels in self.coverage.values())

    @property
    def exact_share(self) -> Fraction | None:
        """The share of coverage rows that follow from the texts; None where there are none."""
        exact = sum(
            sum(labels.values()) for name, labels in self.coverage.items() if is_exact(name)
        )
        return Fraction(exact, self.rows) if self.rows else None


def reliability_of(path: Path) -> Reliability:
    """The row of a package, a build folder, or a published archive."""
    manifest = build_manifest(path)
    verdicts = None if manifest is None else _verdicts(manifest)
    return reliability(str(path), packages_at(path), verdicts)


def reliability(
    name: str, packages: Sequence[Package], verdicts: Mapping[str, int] | None = None
) -> Reliability:
    """The row of these packages together."""
    coverage: dict[str, Counter[str]] = {}
    kinds: Counter[str] = Counter()
    unit_kinds: Counter[str] = Counter()
    uncovered = 0
    for package in packages:
        kinds.update(candidate.kind for candidate in package.candidates)
        unit_kinds.update(unit.kind for unit in package.units)
        for row in package.coverage:
            label = row.label or LABELS.get(row.value, "other")
            coverage.setdefault(row.provenance or UNSAID, Counter())[label] += 1
        reached = {row.unit for row in package.coverage if row.value}
        uncovered += sum(unit.id not in reached for unit in package.units)
    labelled = [found for package in packages if (found := label_passes(package))]
    return Reliability(
        name=name,
        packages=len(packages),
        verdicts=verdicts,
        experiences=sum(len(package.experiences) for package in packages),
        queries=sum(len(package.queries) for package in packages),
        queries_without_units=sum(not q.required for package in packages for q in package.queries),
        units=unit_kinds.total(),
        units_by_kind=dict(sorted(unit_kinds.items())),
        units_uncovered=uncovered,
        candidates=dict(sorted(kinds.items())),
        coverage={name: dict(sorted(labels.items())) for name, labels in sorted(coverage.items())},
        quotes=_quotes(packages),
        agreement=tuple(agreements(labelled)),
    )


def _verdicts(manifest: Mapping[str, object]) -> dict[str, int] | None:
    """How many packages were accepted, and so on; None where nobody adjudicated them."""
    statuses = manifest.get("statuses")
    if manifest.get("adjudication") is None or not isinstance(statuses, dict):
        return None
    found = {name: statuses.get(name, 0) for name in VERDICTS}
    if not all(isinstance(count, int) and not isinstance(count, bool) for count in found.values()):
        raise MemAuditError(f"{NAME}: its statuses are no counts; build the folder again")
    return found


def _quotes(packages: Sequence[Package]) -> Quotes:
    checked = found = unplaced = 0
    for package in packages:
        texts = {experience.id: experience.text for experience in package.experiences}
        for unit in package.units:
            if unit.attributes.get(UNVERIFIED):
                checked += 1
            for source in unit.sources:
                if not source.text:
                    continue
                if source.id not in texts:
                    unplaced += 1
                else:
                    checked += 1
                    found += contains(texts[source.id], source.text)
    return Quotes(checked, found, unplaced)
