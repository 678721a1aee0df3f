"""Run every check that the inputs allow, and name the checks that were skipped."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from memaudit.building.build_folder import BuildJob, packages_at, plan_build
from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.exact import plain
from memaudit.kernel.io.files import open_regular
from memaudit.kernel.io.store_file import ExportedStore, Memory, document_lines
from memaudit.kernel.package.cost import DECLARED, cost_rule, default_rule
from memaudit.kernel.package.package import Experience, Package
from memaudit.kernel.score.judge import Judge, judged_how
from memaudit.kernel.score.judging import judge_store
from memaudit.kernel.score.priced_store import (
    DOCUMENT,
    MEMORY,
    JudgedStore,
    active_memories,
    price_store,
    writing_order,
)
from memaudit.kernel.score.store_match import written_from
from memaudit.kernel.words.text import counted
from memaudit.linting.against_units import lost_updates, stale_facts, worth_nothing, wrongly_retired
from memaudit.linting.findings import (
    CONVERSATION,
    RULES,
    UNITS,
    Finding,
    LintReport,
    evidence,
    in_order,
)
from memaudit.linting.over_limit import limit_findings
from memaudit.linting.secrets import mask, sensitive
from memaudit.linting.similar_memories import pair_findings
from memaudit.linting.smallest_store import smallest_stores
from memaudit.linting.support import own_text, support_findings
from memaudit.models.session import ModelSession
from memaudit.stores.system_budgets import named_limits

MOST_MEMORIES = 200_000
PACKAGE_MARK = b'"memaudit-package"'
HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class LintPlan:
    """What to lint with. A model, if there is one, compares pairs and checks support."""

    package: Package | None = None
    judge: Judge | None = None
    before: ExportedStore | None = None
    model: str | None = None
    session: ModelSession | None = None
    system: str | None = None
    """Whose limits hold; guessed where it is None."""
    seconds: float | None = None
    progress: Callable[[str], None] = field(default=lambda _: None)


def lint_target(path: Path, store: ExportedStore) -> Package:
    """The package at a path, or the conversation; of several the one that the store is about."""
    packages = packages_at(path) if path.is_dir() or _is_package(path) else _built(path)
    if len(packages) == 1:
        return packages[0]
    fitting = [package for package in packages if written_from(store, package)]
    if len(fitting) == 1:
        return fitting[0]
    raise MemAuditError(
        f"{path}: has {counted(len(packages), 'conversation')}, and the store {store.name!r} was "
        f"written for {'none' if not fitting else 'several'} of them; give the one to lint against"
    )


def _is_package(path: Path) -> bool:
    with open_regular(path) as file:
        return PACKAGE_MARK in file.read(HEAD_BYTES)


def _built(path: Path) -> list[Package]:
    """The packages of a conversation, with units where it has labelled questions."""
    packages = [job.package for job in plan_build(BuildJob(path)).built()]
    if not packages:
        raise MemAuditError(f"{path}: has no conversation")
    return packages


def lint(store: ExportedStore, plan: LintPlan | None = None) -> LintReport:
    """Every finding, the smallest store that loses nothing, and what could not be measured."""
    plan = plan or LintPlan()
    if plan.system is not None:
        named_limits(plan.system)
    memories = _memories(store, plan.package)
    rule = default_rule(memory.text for memory in memories)
    package = plan.package
    # Declared costs are of the package's candidates; a store has other memories.
    if package is not None and package.cost_rule == DECLARED:
        package = package.recost(rule)
    rule = rule if package is None else package.cost_rule
    cost, total = store_costs(store, memories, package, rule)
    findings: list[Finding] = []
    unmeasured: dict[str, str] = {}
    notes: list[str] = []
    plan.progress("secrets and limits")
    findings += _sensitive(memories)
    findings += limit_findings(store, cost, plan.system, unmeasured)
    plan.progress("duplicates and contradictions")
    findings += pair_findings(store, memories, cost, plan.model, plan.session, notes)
    plan.progress("support")
    turns = _turns(package)
    if turns:
        findings += support_findings(memories, turns, cost, plan.model, plan.session, notes)
    else:
        unmeasured["unsupported"] = f"needs {CONVERSATION}: give a package or a chat"
    report = LintReport(
        store.name,
        store.digest,
        len(memories),
        total,
        rule,
        (),
        unmeasured,
        costs=cost,
        model=plan.model or "",
    )
    if package is None or not any(package.weights.values()):
        for name in ("stale", "retired", "lost-updates", "junk", "redundant"):
            unmeasured[name] = f"needs {UNITS}"
        return replace(
            report, findings=in_order(findings), notes=tuple(notes), unmeasured=_sorted(unmeasured)
        )
    return _with_units(report, store, package, findings, notes, plan)


def _memories(store: ExportedStore, package: Package | None) -> list[Memory]:
    memories = active_memories(store, package) if package is not None else list(store.active)
    if not memories:
        raise MemAuditError(
            f"{store.name!r} has no active memory"
            + (f" of {package.name!r}" if package is not None and store.active else "")
            + "; there is nothing to look at"
        )
    if len(memories) > MOST_MEMORIES:
        raise ParameterError(
            "{store} has {number} memories, at most {most} can be linted at once; import the "
            "memories of one user with {namespace}",
            store=repr(store.name),
            number=f"{len(memories):,}",
            most=f"{MOST_MEMORIES:,}",
        )
    if not any(memory.text.strip() for memory in memories):
        raise ParameterError(
            "{store}: no memory has a text; import it with another {view}", store=repr(store.name)
        )
    return writing_order(memories)


def store_costs(
    store: ExportedStore, memories: Sequence[Memory], package: Package | None, rule: str
) -> tuple[dict[str, Fraction], Fraction]:
    """What each memory takes, and the whole store.

    An entry of a file takes its own lines: headings stay, whatever goes below them.
    """
    measure = cost_rule(rule)
    known = (
        {}
        if package is None
        else {memory.id: memory.cost for memory in price_store(package, store).memories}
    )
    cost, total = dict[str, Fraction](), Fraction(0)
    for memory in memories:
        whole = known.get(memory.id, Fraction(measure(memory.text, MEMORY, memory.metadata)))
        if memory.document is None:
            cost[memory.id] = whole
            total += whole
        else:
            own = Fraction(measure(own_text(memory), MEMORY, memory.metadata))
            cost[memory.id] = min(whole, own)
    used = {memory.document for memory in memories}
    entries = {id: Fraction(0) for id in used}
    for memory in memories:
        if memory.document is not None:
            entries[memory.document] += cost[memory.id]
    for document in store.documents:
        if document.id in used:
            lines = document_lines(document.text)[document.head :]
            size = Fraction(measure("".join(lines), DOCUMENT))
            # A file costs what its lines cost, and never less than its entries together.
            total += max(size, entries[document.id])
    return cost, total


def _turns(package: Package | None) -> list[Experience]:
    return (
        [turn for turn in package.experiences if turn.text.strip()] if package is not None else []
    )


def _sensitive(memories: Sequence[Memory]) -> Iterator[Finding]:
    for memory in memories:
        by_rule: dict[str, list[str]] = {}
        for secret in sensitive(memory.text):
            by_rule.setdefault(secret.rule, []).append(f"{secret.what} {mask(secret, memory.text)}")
        for rule, found in by_rule.items():
            shown = (evidence("memory", memory.id, memory.text),)
            yield Finding(rule, (memory.id,), "; ".join(dict.fromkeys(found)), shown)


def _with_units(
    report: LintReport,
    store: ExportedStore,
    package: Package,
    findings: list[Finding],
    notes: list[str],
    plan: LintPlan,
) -> LintReport:
    if plan.judge is None:
        raise ParameterError("units need a judge; give {judge}")
    plan.progress("units")
    written = _priced(judge_store(package, store, plan.judge), report.costs)
    how = judged_how(plan.judge.name, plan.judge.is_estimate)
    notes.append(f"units: judge {plan.judge.name}, {how}")
    findings += worth_nothing(package, written)
    findings += stale_facts(package, written)
    unmeasured = dict(report.unmeasured)
    retired = [memory for memory in store.memories if memory.state != "active"]
    if retired:
        gone = _judged(store, retired, package, plan.judge)
        states = {memory.id: memory.state for memory in retired}
        findings += wrongly_retired(package, written, gone, states)
    else:
        unmeasured["retired"] = "needs deleted or superseded memories: the export has none"
    if plan.before is not None:
        earlier = judge_store(package, plan.before, plan.judge)
        findings += lost_updates(package, earlier, written, store)
    else:
        unmeasured["lost-updates"] = "needs an earlier export of the store"
    plan.progress("the smallest store")
    fixed = report.cost - written.cost
    # Entries of files take less than their texts, which carry headings.
    solved = package if written.cost == report.cost else package.replace(cost_rule=DECLARED)
    smallest = smallest_stores(solved, written, plan.seconds, fixed, progress=plan.progress)
    if fixed:
        notes.append(
            f"headings, list marks and other text that stays in any case: {plain(fixed)} "
            f"{report.cost_rule}"
        )
    weighted = sum(bool(weight) for weight in package.weights.values())
    return replace(
        report,
        findings=in_order(findings),
        unmeasured=_sorted(unmeasured),
        notes=tuple(notes),
        package=package.name,
        smallest=smallest,
        units=weighted,
        unweighted_units=len(package.units) - weighted,
        is_estimate=plan.judge.is_estimate,
    )


def _sorted(unmeasured: Mapping[str, str]) -> dict[str, str]:
    return {rule: unmeasured[rule] for rule in RULES if rule in unmeasured}


def _priced(written: JudgedStore, costs: Mapping[str, Fraction]) -> JudgedStore:
    """The judged memories, each at what it takes; whole files are no choice beside their lines."""
    memories = tuple(replace(memory, cost=costs[memory.id]) for memory in written.memories)
    return replace(written, memories=memories, documents=())


def _judged(
    store: ExportedStore, memories: Sequence[Memory], package: Package, judge: Judge
) -> JudgedStore:
    """Memories that are no longer active, judged as if they were."""
    # Judges see active memories only.
    revived = tuple(memory.model_copy(update={"state": "active"}) for memory in memories)
    return judge_store(package, store.model_copy(update={"memories": revived}), judge)
