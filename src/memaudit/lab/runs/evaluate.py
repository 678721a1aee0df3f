"""The rows of one package: every budget, every writer, each a ratio to the certified optimum."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.number_text import rounded
from memaudit.kernel.package.optimum import Certificate
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.score import Ratio
from memaudit.kernel.score.store_value import StoreValuer
from memaudit.kernel.version import VERSION
from memaudit.lab.runs.run_files import RunRow
from memaudit.lab.writers.protocol import Writer
from memaudit.lab.writers.run_writer import WriterRunner


class EvaluatedPackage(WriterRunner):
    """A package with its writers, scorer and certificates."""

    def __init__(self, package: Package, seconds: float | None = None) -> None:
        super().__init__(package, seconds)
        self.scorer = StoreValuer(package, self.oracle.form)
        self._hashes: dict[Fraction, str | None] = {}

    def certificate(self, budget: Fraction) -> str | None:
        """The hash of the certificate at a budget, or None if the optimum is not certified."""
        if budget not in self._hashes:
            optimum = self.oracle.optimum(budget)
            certificate = optimum.certificate if optimum.certified else None
            self._hashes[budget] = certificate_hash(certificate) if certificate else None
        return self._hashes[budget]


def evaluate(
    subject: EvaluatedPackage,
    distribution: str,
    seed: int,
    budgets: Sequence[tuple[str, Fraction]],
    writers: Sequence[Writer],
    skip: int = 0,
) -> Iterator[RunRow]:
    """The rows of a package, in order of budgets and writers, without the first `skip`."""
    cells = [(given, budget, writer) for given, budget in budgets for writer in writers]
    for given, budget, writer in cells[skip:]:
        yield _row(subject, distribution, seed, given, budget, writer)


def _row(
    subject: EvaluatedPackage,
    distribution: str,
    seed: int,
    given: str,
    budget: Fraction,
    writer: Writer,
) -> RunRow:
    optimum = subject.oracle.optimum(budget)
    failed, score = "", None
    store: tuple[str, ...] = ()
    try:
        store = subject.written_by(writer, budget, seed)
        score = subject.scorer.worth(store)
    except MemAuditError as error:
        failed = str(error)
    ratio = Ratio(score.value if score else Fraction(0), optimum)
    share = ratio.value if score else None
    budget_shown = plain(budget)
    return RunRow.model_construct(  # made here, so not validated: a tenth of a sweep's time
        distribution=distribution,
        seed=seed,
        package=subject.package.name,
        digest=optimum.digest,
        budget=budget_shown,
        writer=writer.name,
        peeks=writer.peeks,
        value=rounded(score.value) if score else None,
        optimum=rounded(optimum.value),
        ratio=None if share is None else rounded(share),
        undefined=ratio.undefined,
        cost=plain(score.cost) if score else None,
        store=store,
        kinds=score.kinds if score else {},
        unit_values={kind: rounded(value) for kind, value in score.unit_values.items()}
        if score
        else {},
        invalidation=rounded(score.invalidation) if score else None,
        current=rounded(score.current) if score else None,
        stale=rounded(score.stale) if score else None,
        certificate=subject.certificate(budget),
        version=VERSION,
        failed=failed,
        budget_as_given="" if given == str(budget_shown) else given,
    )


def certificate_hash(certificate: Certificate) -> str:
    """The SHA-256 of a certificate's canonical JSON."""
    text = json.dumps(certificate.to_json(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
