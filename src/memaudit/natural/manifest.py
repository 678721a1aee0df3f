"""The manifest of a build: what went in, by which rules, and what came out."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.package import TABLES
from memaudit.datasets.irregular import Irregularity
from memaudit.io.validate import BUILD_FORMAT
from memaudit.natural.annotations import METHOD, Built
from memaudit.natural.building import Plan
from memaudit.natural.extracts import RULES
from memaudit.natural.heuristics import ABOUT, is_exact
from memaudit.natural.labels.notes import DONE, Misfit
from memaudit.natural.updates import RULE

FORMAT, VERSION = BUILD_FORMAT, 1
NAME = "manifest.json"


@dataclass(slots=True)
class Tally:
    """Gathers what packages hold while they are built."""

    packages: list[dict[str, Any]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    provenances: Counter[str] = field(default_factory=Counter)
    irregularities: list[Irregularity] = field(default_factory=list)
    misfits: list[tuple[str, Misfit]] = field(default_factory=list)
    homeless: list[str] = field(default_factory=list)
    quotes: int = 0
    quotes_found: int = 0
    repeated: int = 0
    kept: int = 0

    def add(self, built: Built, file: str, written: bool) -> None:
        """One package more."""
        package = built.package
        counts = {table: len(getattr(package, table)) for table in TABLES}
        bare = [query.id for query in package.queries if not query.required]
        self.packages.append(
            {
                "name": package.name,
                "file": file,
                "digest": digest(package),
                "counts": counts,
                "queries_without_units": len(bare),
                "quotes": {"checked": built.misfits.quotes, "found": built.misfits.quotes_found},
            }
        )
        self.counts.update(counts)
        self.counts["queries_without_units"] += len(bare)
        self.kinds.update(candidate.kind for candidate in package.candidates)
        self.provenances.update(row.provenance or "" for row in package.coverage)
        self.irregularities += built.irregularities
        self.misfits += [(package.name, one) for one in built.misfits.found]
        self.homeless += [f"{package.name}: {id}" for id in built.homeless]
        self.quotes += built.misfits.quotes
        self.quotes_found += built.misfits.quotes_found
        self.repeated += built.repeated
        self.kept += not written


def manifest(plan: Plan, tally: Tally) -> dict[str, Any]:
    """The manifest; nothing in it depends on when or where the build ran."""
    recipe, labels = plan.recipe, plan.recipe.labels
    return {
        "format": FORMAT,
        "version": VERSION,
        "memaudit": version("memaudit"),
        "method": METHOD,
        "dataset": {"name": plan.job.path.name, "format": recipe.format, "sha256": plan.sha256},
        "subset": None if plan.subset is None else plan.subset.sha256,
        "conversations": list(plan.job.conversations) or None,
        "cost_rule": recipe.cost_rule,
        "candidate_rules": {
            **RULES,
            **({"tombstone, compound_update": RULE} if recipe.makes_updates else {}),
        },
        "labels": {
            "units": None if labels.units is None else labels.units.sha256,
            "memories": None if labels.memories is None else labels.memories.sha256,
            "passes": {one.name: one.sha256 for one in labels.passes},
            "quotes": {"checked": tally.quotes, "found": tally.quotes_found},
            "misfit_counts": _counted(one.what for _, one in tally.misfits),
            "misfits": [{"package": name, **asdict(one)} for name, one in tally.misfits],
        },
        "adjudication": None,
        "counts": {"packages": len(tally.packages), **dict(sorted(tally.counts.items()))},
        "candidates_by_kind": dict(sorted(tally.kinds.items())),
        "coverage_by_provenance": {
            name: {
                "rows": rows,
                "exact": is_exact(name),
                "rule": ABOUT.get(name, "people's own labels, as they were brought"),
            }
            for name, rows in sorted(tally.provenances.items())
        },
        "dropped": {
            "repeated_in_a_group": tally.repeated,
            "representations_without_a_session": tally.homeless,
        },
        "irregularity_counts": _counted(one.what for one in tally.irregularities),
        "irregularities": [asdict(one) for one in tally.irregularities],
        "packages": tally.packages,
    }


def unused(plan: Plan, built: Iterable[str]) -> list[Misfit]:
    """Label rows of conversations that were not built."""
    names = set(built)
    return [
        Misfit(row.file, row.line, name, "unknown conversation", name, DONE["unknown conversation"])
        for file in plan.recipe.labels.files
        for row in file.rows
        if (name := row.optional("conversation")) is not None and name not in names
    ]


def _counted(whats: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(whats).items()))
