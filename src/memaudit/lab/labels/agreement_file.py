"""What `audit agreement --json` writes, and its tables in the terminal and on pages."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from memaudit.kernel.io.file_model import ExactText, FileModel
from memaudit.kernel.number_text import percent, ratio, with_interval
from memaudit.kernel.stats.bootstrap import LEVEL
from memaudit.lab.labels.coded_labels import SCALES
from memaudit.lab.labels.frame import CONSENSUS, STRATUM, Role
from memaudit.show.columns import Column, column

AGREEMENT: Literal["memaudit-agreement"] = "memaudit-agreement"
UNDEFINED = "undefined"


class Ends(FileModel):
    """A bootstrap interval of 95%."""

    low: float
    high: float


class Estimate(FileModel):
    """A coefficient, None where it is not defined, with its interval if it has one.

    Packages are drawn where there are several, as cells of one package share their texts. With a
    single package its cells are drawn: nothing is known then about others.
    """

    value: float | None
    over_cells: Ends | None = None
    over_packages: Ends | None = None

    @property
    def interval(self) -> Ends | None:
        return self.over_packages or self.over_cells

    @property
    def text(self) -> str:
        if (ends := self.interval) is None:
            return ratio(self.value, missing=UNDEFINED)
        return with_interval(self.value, ends.low, ends.high, missing=UNDEFINED)


class Coefficients(FileModel):
    """A confusion table of cells, or of their weights, and its coefficients."""

    kappa: Estimate
    raw_agreement: Estimate
    categories: list[str]
    confusion: list[list[float | int]]


class Group(FileModel):
    """The compared cells of a group; the share is its part of all the pair's disagreements.

    `kappa` is None where the grouping is by one rater's own labels: it would be 0 or undefined
    whatever the other says.
    """

    by: str
    group: str
    cells: int
    kappa: Estimate | None
    disagreements: int
    share_of_disagreements: float | None
    rate: float


class ScaleAgreement(FileModel):
    """A pair on a scale; `natural` is None where all cells weigh the same."""

    cells: int
    left_out: dict[str, int]
    as_drawn: Coefficients
    natural: Coefficients | None
    groups: list[Group]


class RaterName(FileModel):
    """Whose labels they are."""

    name: str
    role: Role

    @property
    def title(self) -> str:
        """The name, marked if it is a model's."""
        return f"{self.name} (model)" if self.role == "model" else self.name


class RaterCounts(RaterName):
    """How often each label was given."""

    labels: dict[str, int]


class PairAgreement(FileModel):
    """Two raters on every scale."""

    first: RaterName
    second: RaterName
    kind: str
    scales: dict[str, ScaleAgreement]

    @property
    def title(self) -> str:
        return f"{self.first.title} - {self.second.title}"


class DisputedCell(FileModel):
    """A cell, how far apart its two most different values are, and how many pairs differ."""

    cell_id: str
    package: str
    candidate_id: str
    unit_id: str
    stratum: str
    labels: dict[str, str]
    gap: ExactText
    differing_pairs: int
    candidate_text: str
    unit_text: str

    @property
    def at(self) -> str:
        if not self.candidate_id:
            return self.cell_id
        return f"{self.package}: {self.candidate_id} x {self.unit_id}"


class AgreementFile(FileModel):
    """The content of `audit agreement --json`.

    `consensus` counts, by scale, the cells that annotators agree on and those they do not; it is
    empty for a single annotator. `own_passes` are the raters that gave the package its labels.
    """

    format: Literal["memaudit-agreement"] = AGREEMENT
    version: Literal[1] = 1
    cells: int
    packages: int
    cells_with_key: int
    draws: int
    seed: int
    level: float = LEVEL
    interval: Literal["over_packages", "over_cells"]
    raters: list[RaterCounts]
    own_passes: list[str]
    consensus: dict[str, dict[str, int]]
    pairs: list[PairAgreement]
    disputed: list[DisputedCell]
    notes: tuple[str, ...] = ()

    @property
    def has_partial(self) -> bool:
        """Whether anyone answered partial; otherwise both scales are the same."""
        return any(rater.labels["partial"] for rater in self.raters)

    def rows(self, scale: str) -> list["PairRow"]:
        """The table of a scale: every pair, and a second row in the natural balance of labels."""
        return [
            PairRow(pair, own, natural)
            for pair in self.pairs
            for own in (pair.scales[scale],)
            for natural in (False, True)
            if not natural or own.natural is not None
        ]


@dataclass(frozen=True, slots=True)
class PairRow:
    """A row of the table of a scale."""

    pair: PairAgreement
    own: ScaleAgreement
    is_natural: bool

    @property
    def measured(self) -> Coefficients:
        return self.own.natural if self.is_natural and self.own.natural else self.own.as_drawn

    @property
    def title(self) -> str:
        return "  natural balance" if self.is_natural else self.pair.title

    @property
    def scope(self) -> str:
        if self.is_natural:
            return f"represent {round(sum(map(sum, self.measured.confusion))):,}"
        agreed = "agreed " if CONSENSUS in self.pair.kind else ""
        return f"{self.own.cells:,} {agreed}cells"


PAIR_COLUMNS: list[Column[PairRow]] = [
    column("audit pair", lambda row: row.title, words=True),
    column("scope", lambda row: row.scope, words=True),
    column("Cohen's kappa", lambda row: row.measured.kappa.text),
    column("raw agreement", lambda row: row.measured.raw_agreement.text),
]


def _count(label: str) -> Column[RaterCounts]:
    words = label.replace("_", " ")
    return column(words, lambda rater: rater.labels.get(label, 0), show="{:,}".format)


RATER_COLUMNS: list[Column[RaterCounts]] = [
    column("labels by", lambda rater: rater.title, words=True),
    *map(_count, ("full", "partial", "none", "cannot_tell", "missing")),
]


@dataclass(frozen=True, slots=True)
class Concentration:
    """Where one pair disagrees, on the scale that is fair to both."""

    pair: str
    scale: str
    cells: int
    disagreements: int
    groups: list[Group]

    @property
    def columns(self) -> list[Column[Group]]:
        """The table of its groups."""
        return [
            column("cells by", lambda row: row.by, words=True),
            column("group", lambda row: row.group, words=True),
            column("cells", lambda row: row.cells, show="{:,}".format),
            column("of all cells", lambda row: row.cells / self.cells, show=percent),
            column("disagree", lambda row: row.disagreements, show="{:,}".format),
            column("of all disagreements", lambda row: row.share_of_disagreements, show=percent),
            column("rate", lambda row: row.rate, show=lambda rate: percent(rate, 1)),
            column("Cohen's kappa", lambda row: row.kappa and row.kappa.value, show=ratio),
        ]


def concentrations(audit: AgreementFile) -> Iterator[Concentration]:
    """The first pair of annotators, and the first of an annotator with a package or a model."""
    graded = {rater.name for rater in audit.raters if rater.labels["partial"]}
    people = {rater.name for rater in audit.raters if rater.role == "annotator"}
    # The consensus uses partial as soon as one annotator does.
    if graded & people:
        graded.add(CONSENSUS)
    within = [pair for pair in audit.pairs if pair.kind == "annotator-annotator"]
    across = [pair for pair in audit.pairs if pair.kind != "annotator-annotator"]
    # One pair of each sort: further pairs of the same people would repeat it.
    for pair in (*within[:1], *across[:1]):
        scale = "labels" if graded >= {pair.first.name, pair.second.name} else "covered"
        compared = pair.scales[scale]
        disagreements = sum(
            entry
            for i, row in enumerate(compared.as_drawn.confusion)
            for j, entry in enumerate(row)
            if i != j
        )
        groups = list(_ordered(compared.groups))
        if groups and disagreements:
            title = SCALES[scale].title
            yield Concentration(pair.title, title, compared.cells, int(disagreements), groups)


def _ordered(groups: list[Group]) -> Iterator[Group]:
    """Every grouping with at least two groups, those with most disagreements first."""
    by_grouping: dict[str, list[Group]] = {}
    for group in groups:
        by_grouping.setdefault(group.by, []).append(group)
    for by, members in by_grouping.items():
        # The finest grouping has too many rows for a page; the JSON has them.
        if by != STRATUM and len(members) > 1:
            yield from sorted(members, key=lambda group: -group.disagreements)


def _labels(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{rater}: {label}" for rater, label in labels.items())


DISPUTE_COLUMNS: list[Column[DisputedCell]] = [
    column("cell", lambda cell: cell.at, words=True),
    column("memory", lambda cell: cell.candidate_text, words=True),
    column("unit", lambda cell: cell.unit_text, words=True),
    column("labels", lambda cell: cell.labels, show=_labels, words=True),
]
