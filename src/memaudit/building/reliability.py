"""How reliable packages are by construction: what is exact, judged or doubtful."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from memaudit.building.build_folder import MANIFEST, build_manifest, packages_at
from memaudit.building.label_fitting import UNVERIFIED
from memaudit.building.label_passes import LabelSetAgreement, label_passes, pass_agreements
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import LABELS
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.provenance import is_exact
from memaudit.kernel.words.text import contains

VERDICTS = ("accepted", "corrected", "ambiguous", "rejected")
NO_PROVENANCE = "unsaid"
"""The provenance of rows without one."""


@dataclass(frozen=True, slots=True)
class Quotes:
    """Quotes of units: checked, found in the stream, and without a known turn."""

    checked: int
    found: int
    unplaced: int


@dataclass(frozen=True, slots=True)
class Reliability:
    """One row of the table; `verdicts` is None if nothing was adjudicated."""

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
    agreement: tuple[LabelSetAgreement, ...]

    @property
    def rows(self) -> int:
        return sum(sum(labels.values()) for labels in self.coverage.values())

    @property
    def exact_share(self) -> Fraction | None:
        """The share of coverage rows that follow from the texts; None if there are no rows."""
        exact = sum(
            sum(labels.values()) for name, labels in self.coverage.items() if is_exact(name)
        )
        return Fraction(exact, self.rows) if self.rows else None


def reliability_of(path: Path) -> Reliability:
    """The row of a package, a build folder or a published archive."""
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
            coverage.setdefault(row.provenance or NO_PROVENANCE, Counter())[label] += 1
        reached = {row.unit for row in package.coverage if row.value}
        uncovered += sum(unit.id not in reached for unit in package.units)
    labelled = [passes for package in packages if (passes := label_passes(package))]
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
        agreement=tuple(pass_agreements(labelled)),
    )


def _verdicts(manifest: Mapping[str, object]) -> dict[str, int] | None:
    """How many packages have which status, the verdicts first; None if nothing was adjudicated."""
    statuses = manifest.get("statuses")
    if manifest.get("adjudication") is None or not isinstance(statuses, dict):
        return None
    counts = {**dict.fromkeys(VERDICTS, 0), **dict(sorted(statuses.items()))}
    if not all(isinstance(count, int) and not isinstance(count, bool) for count in counts.values()):
        raise MemAuditError(f"{MANIFEST}: its statuses are not counts; run the build again")
    return counts


def _quotes(packages: Sequence[Package]) -> Quotes:
    checked = found = unplaced = 0
    for package in packages:
        texts = {experience.id: experience.text for experience in package.experiences}
        for unit in package.units:
            # A quote that was not found is no source of the unit, and has to be counted apart.
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
