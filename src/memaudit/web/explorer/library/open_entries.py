"""Opens what was found: each kind by the reader that the rest of the program uses."""

from dataclasses import replace

from pydantic import ValidationError

from memaudit.adapters.store import ExportedStore, read_store
from memaudit.core.errors import MemAuditError
from memaudit.core.optimum import Certificate
from memaudit.experiments.spec import is_fraction
from memaudit.formats.score_file import ScoreFile
from memaudit.io.certificates import read_certificates
from memaudit.io.packages import read_package, read_packages
from memaudit.io.strict_json import first_fault
from memaudit.label_audit.cells import Frame
from memaudit.label_audit.frame_files import read_frame
from memaudit.report.run_report.run_data import Run, open_run
from memaudit.web.explorer.library.diagnosis_folder import Diagnosed, read_diagnosed
from memaudit.web.explorer.library.entries import Found, read_object
from memaudit.web.explorer.library.label_audits import (
    AuditTables,
    LabelledFrame,
    labelled_frame,
    read_label_audit,
)
from memaudit.web.explorer.library.opened_package import Opened
from memaudit.web.explorer.library.run_packages import IS_OF_RUN, remade
from memaudit.web.explorer.library.score_file import Scores, read_scores

DAMAGED = (KeyError, TypeError, ValueError, IndexError, AttributeError)
"""What reading a run raises where its files say something else than a run does."""


def open_package(found: Found) -> Opened:
    """The package of a file, of a folder of tables, or of a run."""
    if IS_OF_RUN in found.facts:
        return Opened(found, remade(found))
    opened = Opened(found, read_package(found.path))
    _ = opened.digest  # read from the file while that is what was just read
    return opened


def open_folder(found: Found) -> dict[str, Opened]:
    """All packages of a folder in the published layout, by name."""
    return {
        package.name: Opened(replace(found, part=package.name), package)
        for package in read_packages(found.path)
    }


def part_of(packages: dict[str, Opened], found: Found) -> Opened:
    """One package of such a folder."""
    if found.part not in packages:
        raise MemAuditError(f"{found.place}: holds no package named {found.part!r}")
    known = packages[found.part]
    if known.found != found:  # as it was found: under its own name in addresses
        known = packages[found.part] = Opened(found, known.package)
    return known


def open_finished_run(found: Found) -> Run:
    """A run; one that is damaged is an error of one line."""
    try:
        run = open_run(found.path)
        fits = bool(run.grids) and len([is_fraction(one) for one in run.given]) == len(run.amounts)
    except DAMAGED as error:
        said = f"{type(error).__name__}: {error}"[:200]
        raise MemAuditError(f"{found.place}: its files do not fit together ({said})") from None
    if not fits:
        raise MemAuditError(f"{found.place}: its rows are not those of its manifest")
    return run


def open_store(found: Found) -> ExportedStore:
    """An exported store."""
    return read_store(found.path)


def open_scores(found: Found) -> tuple[ScoreFile, ...]:
    """A score file's sheets: one, or one a package."""
    data = read_object(found.path)
    sheets = data.get("packages")
    rows = [
        row for row in (sheets if isinstance(sheets, list) else [data]) if isinstance(row, dict)
    ]
    try:
        return tuple(ScoreFile.model_validate(row) for row in rows)
    except ValidationError as error:
        raise MemAuditError(f"{found.place}: {first_fault(error)}") from None


def open_score_sheets(found: Found) -> Scores:
    """The same with everything that the file holds."""
    open_scores(found)  # says what is wrong with shares that do not add up
    return read_scores(read_object(found.path), found.place)


def open_frame(found: Found) -> Frame:
    """A frame, with its key where that is there."""
    return read_frame(found.path)


def open_labelled_frame(found: Found) -> LabelledFrame:
    """A frame, and what the labels beside it say when compared."""
    return labelled_frame(found.path, open_frame(found))


def open_label_audit(found: Found) -> AuditTables:
    """A file of a label audit."""
    return read_label_audit(found.path)


def open_diagnosis(found: Found) -> Diagnosed:
    """A diagnosis, finished or not."""
    return read_diagnosed(found.path, found.place)


def open_certificates(found: Found) -> tuple[Certificate, ...]:
    """Certificates, not checked yet."""
    return tuple(read_certificates(found.path))
