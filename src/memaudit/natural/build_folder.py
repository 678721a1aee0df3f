"""Build folders: packages with one manifest beside them, written, claimed and read back."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from memaudit.core.digest import digest
from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.core.package import TABLES, Package
from memaudit.datasets.irregularities import Irregularity
from memaudit.io.atomic import write_file
from memaudit.io.draft import line
from memaudit.io.files import read_text
from memaudit.io.packages import BUILD_FORMAT, build_rows, read_packages
from memaudit.io.run_folder import make_folder, refuse_other_run
from memaudit.io.strict_json import floats, parse_json
from memaudit.natural.annotations import METHOD, Built
from memaudit.natural.build_plan import Job, Plan, file_name, plan, refuse_an_empty_build, store
from memaudit.natural.candidates import RULE, RULES
from memaudit.natural.coverage_rules import ABOUT, is_exact
from memaudit.natural.label_fitting import DONE, Misfit

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


def build_manifest(path: Path) -> dict[str, Any] | None:
    """The manifest of a build folder; None where the path is something else."""
    if not (path / NAME).is_file():
        return None
    data = parse_json(read_text(path / NAME), NAME)
    return data if isinstance(data, dict) and data.get("format") == FORMAT else None


def refuse_other_builds(
    out: Path, plan: Plan, method: str, more: Mapping[str, object] | None = None
) -> None:
    """An error where the folder's manifest is of another dataset, method, rule or labels.

    `more` are parts of the manifest that must be the same as well.
    """
    there = build_manifest(out)
    if there is None:
        return
    more = more or {}
    now = {**_identity(plan, method), **more}
    dataset, labels = (
        part if isinstance(part := there.get(name), dict) else {} for name in ("dataset", "labels")
    )
    before = {
        "dataset": dataset.get("sha256"),
        "method": there.get("method"),
        "subset": there.get("subset"),
        "conversations": there.get("conversations"),
        "cost rule": there.get("cost_rule"),
        "units": labels.get("units"),
        "memories": labels.get("memories"),
        "label passes": labels.get("passes") or {},
        **{name: floats(there.get(name)) for name in more},
    }
    refuse_other_run(out, "build", before, now)


def _identity(plan: Plan, method: str) -> dict[str, Any]:
    labels = plan.recipe.labels
    return {
        "dataset": plan.sha256,
        "method": method,
        "subset": None if plan.subset is None else plan.subset.sha256,
        "conversations": list(plan.job.conversations) or None,
        "cost rule": plan.recipe.cost_rule,
        "units": None if labels.units is None else labels.units.sha256,
        "memories": None if labels.memories is None else labels.memories.sha256,
        "label passes": {one.name: one.sha256 for one in labels.passes},
    }


FORMS = ("json", "folder")

Progress = Callable[[str, bool], None]
"""Called with a package's name and whether it was written (else it was there already)."""


def build_into(
    job: Job, out: Path, form: str = "json", progress: Progress | None = None
) -> dict[str, Any]:
    """Build every package into a folder; the manifest comes last, so it vouches for them all."""
    if form not in FORMS:
        raise MemAuditError(f"unknown form {form!r}; choose {' or '.join(FORMS)}")
    made = plan(job)
    refuse_other_builds(out, made, METHOD)
    make_folder(out)
    tally = Tally()
    try:
        for built in made.built():
            name = built.package.name
            file = file_name(name, form)
            written = store(built.package, out / file)
            tally.add(built, file, written)
            if progress is not None:
                progress(name, written)
    except MemAuditError as error:
        if not tally.packages:
            raise
        raise MemAuditError(
            f"{error} ({len(tally.packages)} packages are in {out}, without a manifest: a build "
            "that runs through keeps them)"
        ) from None
    if not tally.packages:
        refuse_an_empty_build(job.path, out)
    tally.misfits += [
        (one.id, one) for one in unused(made, (row["name"] for row in tally.packages))
    ]
    data = manifest(made, tally)
    text = line(data, indent=2) + "\n"
    write_file(out / NAME, text)
    return {**data, "kept": tally.kept}


def packages_at(path: Path) -> list[Package]:
    """The packages of a build folder, or of any path that holds packages."""
    data = build_manifest(path)
    if data is None:
        return read_packages(path)
    packages = []
    for row in build_rows(data):
        name = str(row["file"])
        try:
            found = read_packages(path / name)
        except InvalidPackage as error:
            raise InvalidPackage(error.problems, f"{path / name}") from None
        if [digest(one) for one in found] != [row.get("digest")]:
            raise MemAuditError(
                f"{path / name}: is not the package that the manifest names; build it again"
            )
        packages += found
    return packages
