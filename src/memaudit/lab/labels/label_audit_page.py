"""A label audit as one HTML file: agreement, where disagreements concentrate, changed ratios."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import InvalidPackage, MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.file_model import validated
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.strict_json import floats, parse_json
from memaudit.kernel.version import VERSION
from memaudit.lab.labels.agreement_file import (
    AGREEMENT,
    DISPUTE_COLUMNS,
    PAIR_COLUMNS,
    RATER_COLUMNS,
    AgreementFile,
    concentrations,
)
from memaudit.lab.labels.coded_labels import SCALES
from memaudit.lab.labels.ratio_file import RATIOS, SHIFT_COLUMNS, RatioAuditFile, mean_columns
from memaudit.show.columns import Column, filled
from memaudit.show.page_kit import environment, one_file

TITLE = "How far the labels can be trusted"
MOST_CELLS = 12


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table on the page, from its columns."""

    caption: str
    columns: Sequence[Column[Any]]
    rows: Sequence[Any]

    @property
    def shown(self) -> list[Column[Any]]:
        """The columns that have a value in some row."""
        return filled(self.columns, self.rows)


@dataclass(frozen=True, slots=True)
class LabelAudit:
    """A label audit. Either part may be missing."""

    agreement: AgreementFile | None = None
    ratios: RatioAuditFile | None = None

    def agreement_tables(self) -> Iterator[PageTable]:
        """Pairs on both scales, raters, and groups of cells."""
        if (own := self.agreement) is None:
            return
        for name, scale in SCALES.items():
            title = f"{scale.title} (95% bootstrap intervals)"
            yield PageTable(title, PAIR_COLUMNS, own.rows(name))
        yield PageTable("Labels given", RATER_COLUMNS, own.raters)
        for where in concentrations(own):
            number = f"{where.disagreements:,} disagreements in {where.cells:,} cells"
            yield PageTable(f"{where.pair}, {where.scale}: {number}", where.columns, where.groups)

    def ratio_tables(self) -> Iterator[PageTable]:
        """Changes against the package's labels, and means under each label set."""
        if (own := self.ratios) is None:
            return
        yield PageTable(
            "Mean absolute change of ratios against the package's labels, and whether the ranking "
            "of stores survives",
            SHIFT_COLUMNS,
            own.rows,
        )
        names = [label_set.name for label_set in own.label_sets]
        yield PageTable("Mean ratios under each label set", mean_columns(names), own.ratios)

    def disputed(self) -> Iterator[PageTable]:
        """The most disputed cells."""
        if self.agreement is not None and self.agreement.disputed:
            cells = self.agreement.disputed[:MOST_CELLS]
            caption = f"{len(cells)} of {len(self.agreement.disputed)}, the most disputed first"
            yield PageTable(caption, DISPUTE_COLUMNS, cells)


def write_page(audit: LabelAudit, out: Path) -> None:
    """Write one self-contained HTML file."""
    page = one_file(
        environment("memaudit.lab.labels"), "audit.html", title=TITLE, audit=audit, version=VERSION
    )
    write_file(out, page)


def read_audit(paths: Iterable[Path]) -> LabelAudit:
    """Read a label audit from its JSON files."""
    agreement: AgreementFile | None = None
    ratios: RatioAuditFile | None = None
    advice = "write it again with --json"
    for path in paths:
        try:
            data = floats(parse_json(read_text(path), path.name))
        except InvalidPackage as error:
            raise MemAuditError(str(error.problems[0])) from None
        kind = data.get("format") if isinstance(data, dict) else None
        if (kind == AGREEMENT and agreement) or (kind == RATIOS and ratios):
            raise MemAuditError(f"{path.name}: second file of the same audit; give only one")
        if kind == AGREEMENT:
            agreement = validated(AgreementFile, data, path.name, advice)
        elif kind == RATIOS:
            ratios = validated(RatioAuditFile, data, path.name, advice)
        else:
            raise MemAuditError(
                f"{path.name}: not a file of memaudit audit agreement --json or audit ratios --json"
            )
    return LabelAudit(agreement, ratios)
