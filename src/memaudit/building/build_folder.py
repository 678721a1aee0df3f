"""Build folders: what a build reads; packages and manifest, written resumably and read back."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from memaudit.building.annotations import METHOD, AnnotatedBuild, AnnotationRecipe, build_package
from memaudit.building.candidates import EXTRACT_RULES, PAIR_RULE
from memaudit.building.coverage_rules import RULE_TEXTS
from memaudit.building.evidence import CHANGE, UPDATE_KINDS
from memaudit.building.label_fitting import MISFIT_KINDS, Misfit
from memaudit.building.transcript import BY_TURN
from memaudit.conversations.records import Irregularity, LoadedConversation
from memaudit.conversations.registry import guess_format, iter_conversations
from memaudit.conversations.subset import Subset, apply_subset, read_subset
from memaudit.conversations.transcripts import dataset_hash
from memaudit.judges.label_files import NO_LABELS, Labels
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.files import read_text
from memaudit.kernel.io.packages import BUILD_FORMAT, examine, package_places, write_package
from memaudit.kernel.io.strict_json import floats, json_text, parse_json
from memaudit.kernel.package.cost import WORDS, default_rule
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import TABLES, Package, Query
from memaudit.kernel.package.provenance import is_exact
from memaudit.kernel.score.truth import REPLACED
from memaudit.kernel.version import VERSION
from memaudit.workspace.run_folder import locked, refuse_other_run
from memaudit.workspace.task_journal import TaskRunner, one_by_one, task_journal


@dataclass(frozen=True, slots=True)
class BuildJob:
    path: Path
    format: str | None = None
    subset: Path | None = None
    conversations: tuple[str, ...] = ()
    cost_rule: str | None = None
    """The one that counts the words of the conversations, if not given."""
    labels: Labels = NO_LABELS
    group: str = BY_TURN
    """What candidates compete within."""


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """A job with what its files contain."""

    job: BuildJob
    recipe: AnnotationRecipe
    sha256: str
    subset: Subset | None

    def loaded(self) -> Iterator[LoadedConversation]:
        """The selected conversations; one that is not in the file is an error."""
        seen: set[str] = set()
        wanted = set(self.job.conversations)
        conversations = (
            iter_conversations(self.job.path, self.recipe.format)
            if self.subset is None
            else apply_subset(self.subset, self.job.path)
        )
        for loaded in conversations:
            if not wanted or loaded.conversation.id in wanted:
                seen.add(loaded.conversation.id)
                yield loaded
        if missing := sorted(wanted - seen):
            raise MemAuditError(f"{self.job.path.name}: has no conversation {missing[0]!r}")

    def built(self) -> Iterator[AnnotatedBuild]:
        return (build_package(loaded, self.recipe) for loaded in self.loaded())


def plan_build(job: BuildJob) -> BuildPlan:
    """Read what must be known before the first package is built."""
    subset = None if job.subset is None else read_subset(job.subset)
    format = subset.dataset_format if subset is not None else job.format or guess_format(job.path)
    if subset is not None and job.format not in (None, format):
        raise MemAuditError(f"the subset is of format {format!r}, not {job.format!r}")
    plan = BuildPlan(
        job,
        AnnotationRecipe(format, job.cost_rule or WORDS, job.labels, job.group),
        dataset_hash(job.path),
        subset,
    )
    # Words cannot be counted in scripts without spaces, so the texts choose the rule, and all
    # packages of a build share it: costs must compare.
    if job.cost_rule is None:
        recipe = replace(plan.recipe, cost_rule=default_rule(_first_texts(plan)))
        plan = replace(plan, recipe=recipe)
    row = job.labels.without_conversation
    if row is not None and len(list(islice(plan.loaded(), 2))) > 1:
        raise row.wrong(
            "names no conversation, but several are built; add the field 'conversation' or "
            "build one of them"
        )
    return plan


FIRST_CHARACTERS = 1_000_000
"""The rule that counts words is decided on so much of the conversations."""


def _first_texts(plan: BuildPlan) -> Iterator[str]:
    seen = 0
    with suppress(MemAuditError):  # the build itself says what is wrong with the file
        for loaded in plan.loaded():
            for turn in loaded.conversation.turns:
                seen += len(turn.text)
                yield turn.text
            if seen >= FIRST_CHARACTERS:
                return


FORMAT, FORMAT_VERSION = BUILD_FORMAT, 1
MANIFEST = "manifest.json"

RESERVED = frozenset({"manifest", "manifest.json", "failures.jsonl"})
"""Names of a build's own files."""

# File systems allow 255 bytes; the hash, the ending and a temporary name come on top.
MAX_NAME_LENGTH = 100


@dataclass(frozen=True, slots=True)
class BuiltPackage:
    """What the manifest says of a package, and whether it was written: else it existed already."""

    row: dict[str, Any]
    kinds: dict[str, int]
    provenances: dict[str, int]
    irregularities: tuple[Irregularity, ...]
    misfits: tuple[Misfit, ...]
    unplaced: tuple[str, ...]
    repeated: int
    written: bool


def build_one(recipe: AnnotationRecipe, out: Path, loaded: LoadedConversation) -> BuiltPackage:
    """Build the package of a conversation into a folder."""
    built = build_package(loaded, recipe)
    package, misfits = built.package, built.misfits
    file = file_name(package.name)
    written = write_if_new(package, out / file)
    return BuiltPackage(
        {
            "name": package.name,
            "file": file,
            "digest": digest(package),
            "counts": {table: len(getattr(package, table)) for table in TABLES},
            "queries_without_units": sum(not query.required for query in package.queries),
            "replaced": {
                query.id: {"turns": query.attributes[REPLACED], "by": _newest(query)}
                for query in package.queries
                if REPLACED in query.attributes
            },
            "updates_of_one_turn": [
                query.id
                for query in package.queries
                if recipe.labels.units is None
                and query.kind in UPDATE_KINDS
                and REPLACED not in query.attributes
                and not query.attributes.get("abstention")
            ],
            "counts_nothing": not any(package.weights.values()),
            "quotes": {"checked": misfits.quotes, "found": misfits.quotes_found},
        },
        Counter(candidate.kind for candidate in package.candidates),
        Counter(row.provenance or "" for row in package.coverage),
        built.irregularities,
        tuple(misfits.rows),
        built.unplaced,
        built.repeated,
        written,
    )


def _newest(query: Query) -> str:
    """The turn that replaced what an update cites before it: the last of those it requires."""
    turns = [unit for unit in query.required if not unit.startswith(CHANGE)]
    return turns[-1] if turns else ""


def manifest_head(plan: BuildPlan, method: str) -> dict[str, Any]:
    """The part of a manifest that both methods share: what was read, and how."""
    recipe = plan.recipe
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "memaudit": VERSION,
        "method": method,
        "dataset": {"name": plan.job.path.name, "format": recipe.format, "sha256": plan.sha256},
        "subset": None if plan.subset is None else plan.subset.sha256,
        "conversations": list(plan.job.conversations) or None,
        "cost_rule": recipe.cost_rule,
        "group": recipe.group,
    }


def manifest(plan: BuildPlan, built: Sequence[BuiltPackage]) -> dict[str, Any]:
    """The manifest. Nothing in it depends on when or where the build ran."""
    recipe, labels = plan.recipe, plan.recipe.labels
    rows = [package.row for package in built]
    counts = Counter[str]()
    for row in rows:
        counts.update(row["counts"])
        counts["queries_without_units"] += row["queries_without_units"]
    misfits = [(package.row["name"], misfit) for package in built for misfit in package.misfits]
    misfits += [(misfit.id, misfit) for misfit in unused_labels(plan, (r["name"] for r in rows))]
    irregularities = [row for package in built for row in package.irregularities]
    return {
        **manifest_head(plan, METHOD),
        "candidate_rules": {
            **EXTRACT_RULES,
            **({"tombstone, compound_update": PAIR_RULE} if recipe.makes_updates else {}),
        },
        "labels": {
            "units": None if labels.units is None else labels.units.sha256,
            "memories": None if labels.memories is None else labels.memories.sha256,
            "passes": {file.name: file.sha256 for file in labels.passes},
            "quotes": {
                name: sum(row["quotes"][name] for row in rows) for name in ("checked", "found")
            },
            "misfit_counts": counted(misfit.what for _, misfit in misfits),
            "misfits": [{"package": name, **asdict(misfit)} for name, misfit in misfits],
        },
        "adjudication": None,
        "counts": {"packages": len(rows), **dict(sorted(counts.items()))},
        "candidates_by_kind": _summed(package.kinds for package in built),
        "coverage_by_provenance": by_provenance(
            _summed(package.provenances for package in built),
            RULE_TEXTS,
            "people's own labels, as they were brought",
        ),
        "dropped": {
            "repeated_texts": sum(package.repeated for package in built),
            "representations_without_a_session": [
                f"{package.row['name']}: {id}" for package in built for id in package.unplaced
            ],
        },
        "irregularity_counts": counted(row.what for row in irregularities),
        "irregularities": [asdict(row) for row in irregularities],
        "packages": rows,
    }


def by_provenance(
    rows: Mapping[str, int], rules: Mapping[str, str], other: str
) -> dict[str, dict[str, Any]]:
    """What a manifest says of coverage: rows by provenance, whether it is exact, and its rule."""
    return {
        name: {"rows": number, "exact": is_exact(name), "rule": rules.get(name, other)}
        for name, number in sorted(rows.items())
    }


def _summed(tallies: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for tally in tallies:
        total.update(tally)
    return dict(sorted(total.items()))


def unused_labels(plan: BuildPlan, built: Iterable[str]) -> list[Misfit]:
    """Label rows of conversations that were not built."""
    names = set(built)
    return [
        Misfit(
            row.file,
            row.line,
            name,
            "unknown conversation",
            name,
            MISFIT_KINDS["unknown conversation"],
        )
        for file in plan.recipe.labels.files
        for row in file.rows
        if (name := row.optional("conversation")) is not None and name not in names
    ]


def counted(whats: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(whats).items()))


def build_manifest(path: Path) -> dict[str, Any] | None:
    """The manifest of a build folder; None if the path is something else."""
    if not (path / MANIFEST).is_file():
        return None
    data = parse_json(read_text(path / MANIFEST), MANIFEST)
    return data if isinstance(data, dict) and data.get("format") == FORMAT else None


def refuse_other_builds(
    out: Path, plan: BuildPlan, method: str, more: Mapping[str, object] | None = None
) -> None:
    """Refuse a folder whose manifest has another dataset, method, cost rule or labels.

    `more` are further parts of the manifest that must be the same.
    """
    manifest = build_manifest(out)
    if manifest is None:
        return
    more = more or {}
    now = {**_identity(plan, method), **more}
    dataset, labels = (
        part if isinstance(part := manifest.get(name), dict) else {}
        for name in ("dataset", "labels")
    )
    before = {
        "dataset": dataset.get("sha256"),
        "method": manifest.get("method"),
        "subset": manifest.get("subset"),
        "conversations": manifest.get("conversations"),
        "cost rule": manifest.get("cost_rule"),
        "group": manifest.get("group", BY_TURN),
        "units": labels.get("units"),
        "memories": labels.get("memories"),
        "label passes": labels.get("passes") or {},
        **{name: floats(manifest.get(name)) for name in more},
    }
    refuse_other_run(out, "build", before, now)


def _identity(plan: BuildPlan, method: str) -> dict[str, Any]:
    labels = plan.recipe.labels
    return {
        "dataset": plan.sha256,
        "method": method,
        "subset": None if plan.subset is None else plan.subset.sha256,
        "conversations": list(plan.job.conversations) or None,
        "cost rule": plan.recipe.cost_rule,
        "group": plan.recipe.group,
        "units": None if labels.units is None else labels.units.sha256,
        "memories": None if labels.memories is None else labels.memories.sha256,
        "label passes": {file.name: file.sha256 for file in labels.passes},
    }


JOURNAL = ".build.jsonl"
"""What is built already, until the manifest says it. No package has a name with a dot in front."""

BuildProgress = Callable[[int], None]
"""Called with the number of packages that are there."""


def build_into(
    job: BuildJob,
    out: Path,
    progress: BuildProgress | None = None,
    run: TaskRunner = one_by_one,
) -> dict[str, Any]:
    """Build every package into a folder. The manifest is written last and covers all of them."""
    plan = plan_build(job)
    refuse_other_builds(out, plan, METHOD)
    with locked(out):
        refuse_other_builds(out, plan, METHOD)  # one may have finished meanwhile
        data, existing = _build(plan, out, progress, run)
    return {**data, "kept": existing}


def _build(
    plan: BuildPlan, out: Path, progress: BuildProgress | None, run: TaskRunner
) -> tuple[dict[str, Any], int]:
    """Write packages and the manifest; returns it and how many packages already existed."""
    packages: list[BuiltPackage] = []
    existing = 0
    # Builds of memaudit 0.1 could write folders; one of files that was killed there resumes here.
    settings = {**_identity(plan, METHOD), "form": "json"}
    is_there = partial(_is_there, out)
    try:
        with task_journal(out / JOURNAL, "build", settings, run, is_there, temporary=True) as kept:
            build = partial(build_one, plan.recipe, out)
            for built in kept.map(build, plan.loaded()):
                existing += not built.written or len(packages) < kept.existing
                packages.append(built)
                if progress is not None:
                    progress(len(packages))
            if not packages:
                refuse_an_empty_build(plan.job.path)
            data = manifest(plan, packages)
            write_file(out / MANIFEST, json_text(data, indent=2) + "\n")
    except MemAuditError as error:
        if not packages:
            raise
        raise MemAuditError(
            f"{error} ({len(packages)} packages are in {out}, without a manifest; a "
            "complete build keeps them)"
        ) from None
    return data, existing


def _is_there(out: Path, built: dict[str, Any]) -> bool:
    """Whether the package of a journal's row is still in the folder."""
    file: str = built["row"]["file"]
    return (out / file).exists()


def packages_at(path: Path) -> list[Package]:
    """The packages of a build folder, or of any path with packages."""
    return [place.read() for place in package_places(path, of_build=True)]


def file_name(package: str) -> str:
    """A file name that is valid everywhere; a changed one ends in part of its hash, so that none
    collide."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", package)[:MAX_NAME_LENGTH].lstrip(".")
    # Two names may become equal when signs in them are replaced.
    if plain != package or plain in RESERVED:
        plain = f"{plain}-{hashlib.sha256(package.encode()).hexdigest()[:8]}"
    return f"{plain}.json"


def refuse_an_empty_build(path: Path) -> NoReturn:
    """Raise for a file without conversations."""
    raise MemAuditError(f"{path}: contains no conversation; nothing was built")


def write_if_new(package: Package, path: Path) -> bool:
    """Write a package unless the same one already exists; whether it was written."""
    if os.path.lexists(path):
        existing, problems = examine(path)
        # By content: a file that was edited or cut off is written again, and write_package refuses
        # what is not ours.
        if not problems and len(existing) == 1 and digest(existing[0]) == digest(package):
            return False
    write_package(package, path)
    return True


def summary_row(number: int, what: str, deeper: int = 0) -> str:
    """One line of what a build prints."""
    return f"{number:>9,}{'  ' * deeper}  {what}"
