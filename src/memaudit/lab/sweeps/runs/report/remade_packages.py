"""Packages generated again from distribution and seed, with optima and certificates checked now."""

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.kernel.checker import verify
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import exact
from memaudit.kernel.io.package_check import header_data, table_data
from memaudit.kernel.io.strict_json import json_text
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.optimum import Certificate, Optimum
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.frontier import frontier
from memaudit.lab.sweeps.runs.report.run_grids import FinishedRunData, RunRowData
from memaudit.lab.sweeps.runs.spec import named_source
from memaudit.lab.sweeps.runs.sweep import EvaluatedPackage, certificate_hash
from memaudit.show.page_charts import OPT, FrontierCurve, WriterPoint

CLOSE = 1e-6
"""Rows round their numbers. A larger difference is a different number."""


@dataclass(frozen=True, slots=True)
class RemadePackage:
    """A package of the run with its rows; `subject` scores stores and solves."""

    distribution: str
    seed: int
    subject: EvaluatedPackage
    rows: Sequence[RunRowData]

    @property
    def package(self) -> Package:
        return self.subject.package

    def at(self, budget: Fraction) -> list[RunRowData]:
        """The rows at a budget, one per writer."""
        return [row for row in self.rows if exact(row["budget"]) == budget]

    def optimum(self, budget: Fraction) -> Optimum:
        """OPT, solved and verified now. It must equal the optimum of certified rows."""
        best = self.subject.oracle.optimum(budget)
        for row in self.at(budget):
            if row["certificate"] and best.certified and abs(row["optimum"] - best.value) > CLOSE:
                raise MemAuditError(
                    f"{self.package.name!r} at budget {row['budget']}: the rows say its optimum is "
                    f"{row['optimum']}, solving it gives {float(best.value)}; run the sweep again"
                )
        return best


def remake(run: FinishedRunData, wanted: Sequence[tuple[str, int]]) -> list[RemadePackage]:
    """The packages with these distributions and seeds, in the order given."""
    rows = run.rows_of(wanted)
    return [_remade(run, name, seed, rows[name, seed]) for name, seed in wanted]


def _remade(
    run: FinishedRunData, name: str, seed: int, rows: Sequence[RunRowData]
) -> RemadePackage:
    distribution = named_source(name)
    package = distribution.package(seed if distribution.draws else 0)
    made = digest(package)
    version = run.manifest["versions"]["memaudit"]
    # A row vouches for the package by its digest: a page about another package would be wrong
    # without a word.
    for row in rows:
        if row["digest"] != made:
            raise MemAuditError(
                f"{name}, seed {seed}: the package made now has digest {made[:12]}, the run's rows "
                f"say {row['digest'][:12]}; build the report with memaudit {version}, or run "
                "the sweep again"
            )
        if unknown := sorted(set(row["store"]) - package.candidate.keys()):
            raise MemAuditError(
                f"{name}, seed {seed}: a row's store has {unknown[0][:60]!r}, which is not a "
                "candidate of its package; run the sweep again"
            )
    return RemadePackage(name, seed, EvaluatedPackage(package, run.spec.get("seconds")), rows)


MOST_CURVES, FEWEST_CURVES = 6, 3
MOST_CANDIDATES, MOST_BUDGET = 200, 2000
"""For larger packages a curve takes long, and OPT is shown only at the run's budgets."""


def choose_packages(run: FinishedRunData) -> list[tuple[str, int]]:
    """The first package of every distribution, or more of each if there are few."""
    names = [grid.distribution for grid in run.grids][:MOST_CURVES]
    # One or two distributions would give one or two curves, which show no spread.
    each = math.ceil(FEWEST_CURVES / len(names))
    chosen = []
    for grid in run.grids[: len(names)]:
        different = run.seeds if grid.distinct > 1 else run.seeds[:1]
        chosen += [(grid.distribution, seed) for seed in different[:each]]
    return chosen


def frontier_curves(run: FinishedRunData, packages: Sequence[RemadePackage]) -> list[FrontierCurve]:
    return [_curve(run, remade) for remade in packages]


def _curve(run: FinishedRunData, remade: RemadePackage) -> FrontierCurve:
    largest = max(run.amounts)
    # An eighth beyond the largest budget, so that the curve does not end at its last point.
    last = max(1, math.ceil(largest * Fraction(9, 8)))
    steps: tuple[tuple[int, float], ...] = ()
    if len(remade.package.candidates) <= MOST_CANDIDATES and last <= MOST_BUDGET:
        rises = frontier(remade.package, last).steps()
        steps = tuple((budget, float(value)) for budget, value in rises if budget < last)
    optima = {exact(row["budget"]): row["optimum"] for row in remade.rows if row["certificate"]}
    return FrontierCurve(
        distribution=remade.distribution,
        seed=remade.seed,
        steps=steps,
        last=last,
        optima=tuple(sorted(optima.items())),
        reached=tuple(
            WriterPoint(run.members[row["writer"]], exact(row["budget"]), row["value"])
            for row in remade.rows
            if row["writer"] != OPT
        ),
    )


MOST_BYTES = 450_000
"""Longer files are not embedded in the page."""


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file embedded in the page as a data URL. Empty if the file is too long."""

    name: str
    address: str
    bytes: int


@dataclass(frozen=True, slots=True)
class VerifiedProof:
    """The checker's verdict now, and whether the run's rows name the same certificate."""

    status: str
    note: str
    solver: str
    valid: bool
    reason: str
    leaves: int
    words: int
    sha256: str
    recorded: str
    package_file: AttachedFile
    certificate_file: AttachedFile | None

    @property
    def same_as_recorded(self) -> bool:
        return self.sha256 != "" and self.sha256 == self.recorded


def verify_proof(remade: RemadePackage, budget: Fraction) -> VerifiedProof:
    """Verify the certificate of a package's optimum, independently of the solver's own check."""
    optimum = remade.optimum(budget)
    certificate = optimum.certificate
    # Every row of a budget has the hash of the same certificate.
    recorded = next((row["certificate"] or "" for row in remade.at(budget)), "")
    package_file = _attached("package.json", package_text(remade.package))
    if certificate is None:
        return VerifiedProof(
            optimum.status,
            optimum.note,
            optimum.solver,
            False,
            optimum.note,
            0,
            0,
            "",
            recorded,
            package_file,
            None,
        )
    verdict = verify(remade.package, certificate)
    return VerifiedProof(
        status=optimum.status,
        note=optimum.note,
        solver=optimum.solver,
        valid=verdict.valid,
        reason=verdict.reason,
        leaves=verdict.leaves,
        words=len(certificate.proof),
        sha256=certificate_hash(certificate),
        recorded=recorded,
        package_file=package_file,
        certificate_file=_attached("certificate.json", certificate_text(certificate)),
    )


def package_text(package: Package) -> str:
    """The package as one JSON file."""
    return (
        json_text({**header_data(package), "digest": digest(package), **table_data(package)}) + "\n"
    )


def certificate_text(certificate: Certificate) -> str:
    """The certificate as one JSON file, in the canonical form that is hashed."""
    return json.dumps(certificate.to_json(), sort_keys=True, separators=(",", ":"))


def _attached(name: str, text: str) -> AttachedFile:
    data = text.encode()
    if len(data) > MOST_BYTES:
        return AttachedFile(name, "", len(data))
    code = base64.b64encode(data).decode("ascii")
    return AttachedFile(name, f"data:application/json;base64,{code}", len(data))
