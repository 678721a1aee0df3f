"""Look a store over: everything that can be found with what there is, and what is missing else."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from memaudit.adapters.store import (
    ExportedStore,
    ExportWarning,
    Memory,
    document_lines,
    export_warning,
)
from memaudit.core.cost import DECLARED, cost_rule, default_rule
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.package import Experience, Package
from memaudit.core.text import counted
from memaudit.hygiene.against_units import (
    lost_updates,
    stale_facts,
    worth_nothing,
    wrongly_retired,
)
from memaudit.hygiene.cleanup_plan import same_words
from memaudit.hygiene.findings import (
    CONVERSATION,
    RULES,
    UNITS,
    Evidence,
    Finding,
    LintReport,
    evidence,
    in_order,
)
from memaudit.hygiene.limits import cut_off, guessed_system
from memaudit.hygiene.secrets import mask, masked, sensitive, without_secrets
from memaudit.hygiene.similar_memories import (
    Pair,
    clusters,
    contradictions,
    pairs_to_compare,
)
from memaudit.hygiene.smallest_store import smallest_stores
from memaudit.hygiene.statement_pairs import PairVerdict, compare, pair_model
from memaudit.hygiene.support import ConversationIndex, FoundSupport
from memaudit.models.session import ModelSession
from memaudit.natural.passes.memory_pairs import find_pair_verdicts
from memaudit.natural.passes.support import find_support
from memaudit.scoring.judge import Judge, judged_how
from memaudit.scoring.judged_store import (
    PARTS_OF_ONE,
    active_memories,
    judge_store,
    measured_store,
    writing_order,
)
from memaudit.scoring.limits import named_limits
from memaudit.scoring.written_store import DOCUMENT, MEMORY, WrittenStore

MOST_MEMORIES = 200_000
DOUBTFUL_FROM = 0.2
"""From this probability of either verdict by words, a model is asked about a pair."""

UNRELATED_FROM = 0.6
"""Share of memories that nothing in the conversation says, from which it is another one."""


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


def lint(store: ExportedStore, plan: LintPlan | None = None) -> LintReport:
    """Every finding, the smallest store that loses nothing, and what could not be measured."""
    plan = plan or LintPlan()
    if plan.system is not None:
        named_limits(plan.system)
    memories = _memories(store, plan.package)
    rule = default_rule(memory.text for memory in memories)
    package = plan.package
    if package is not None and package.cost_rule == DECLARED:
        package = package.recost(rule)
    rule = rule if package is None else package.cost_rule
    cost, total = store_costs(store, memories, package, rule)
    findings: list[Finding] = []
    unmeasured: dict[str, str] = {}
    notes: list[str] = []
    plan.progress("secrets and limits")
    findings += _sensitive(memories)
    findings += _limits(store, cost, plan.system, unmeasured)
    plan.progress("duplicates and contradictions")
    findings += _pairs(store, memories, cost, plan, notes)
    plan.progress("support")
    turns = _turns(package)
    if turns:
        findings += _support(memories, turns, cost, plan, notes)
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
        raise MemAuditError(
            f"{store.name!r} has {len(memories):,} memories, at most {MOST_MEMORIES:,} can be "
            "linted at once; import the memories of one user with --namespace"
        )
    if not any(memory.text.strip() for memory in memories):
        raise MemAuditError(f"{store.name!r}: no memory has a text; import it with another --view")
    return writing_order(memories)


def own_text(memory: Memory) -> str:
    """The text of an entry without the headings above it."""
    return memory.text.removeprefix("".join(f"{part}: " for part in memory.context))


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
        else {one.id: one.cost for one in measured_store(package, store).memories}
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
            total += max(size, entries[document.id])
    return cost, total


def _turns(package: Package | None) -> list[Experience]:
    return [one for one in package.experiences if one.text.strip()] if package is not None else []


def _sensitive(memories: Sequence[Memory]) -> Iterator[Finding]:
    for memory in memories:
        by_rule: dict[str, list[str]] = {}
        for one in sensitive(memory.text):
            by_rule.setdefault(one.rule, []).append(f"{one.what} {mask(one, memory.text)}")
        for rule, found in by_rule.items():
            shown = (evidence("memory", memory.id, memory.text),)
            yield Finding(rule, (memory.id,), "; ".join(dict.fromkeys(found)), shown)


def _limits(
    store: ExportedStore, cost: dict[str, Fraction], system: str | None, unmeasured: dict[str, str]
) -> Iterator[Finding]:
    known = system or guessed_system(store)
    if not store.documents:
        unmeasured["limits"] = "needs a file with a known limit, such as MEMORY.md"
    elif known is None:
        unmeasured["limits"] = "needs the system whose limits hold: --limits NAME"
    else:
        counted_before: set[str] = set()
        for one in cut_off(store, known):
            limit = one.limit
            new = set(one.memories) - counted_before
            counted_before |= new
            lost = f"{counted(len(one.memories), 'memory')} cut off" if one.memories else "cut off"
            yield Finding(
                "limits",
                one.memories,
                f"{one.document} has {one.size:,} {limit.unit}, {limit.system} reads the first "
                f"{limit.most:,}: {lost}",
                (),
                sum((cost.get(id, Fraction(0)) for id in new), Fraction(0)),
            )


def _owners(store: ExportedStore, memories: Sequence[Memory]) -> dict[tuple[str, str], list[int]]:
    """Places of memories by whose they are: two people may well differ."""
    owners: dict[tuple[str, str], list[int]] = {}
    for place, memory in enumerate(memories):
        user = "" if store.origin.format in PARTS_OF_ONE else memory.namespace or ""
        owners.setdefault((memory.example or "", user), []).append(place)
    return owners


def _pairs(
    store: ExportedStore,
    memories: Sequence[Memory],
    cost: dict[str, Fraction],
    plan: LintPlan,
    notes: list[str],
) -> Iterator[Finding]:
    """Duplicates and contradictions among the memories of each owner."""
    judged = "offline, an estimate by words" if plan.model is None else f"model:{plan.model}"
    notes.append(f"duplicates and contradictions: {judged}")
    ordered = ExportWarning.ORDER_UNKNOWN not in map(export_warning, store.warnings)
    for places in _owners(store, memories).values():
        own = [memories[place] for place in places]
        texts = [memory.text for memory in own]
        verdicts = _verdicts(texts, pairs_to_compare(texts), plan, store.name)
        together = clusters(texts, verdicts, pair_model().same_from)
        for members in together:
            yield _duplicates([own[place] for place in members], cost)
        for first, second in contradictions(verdicts, pair_model().conflict_from, together):
            yield _contradiction(own[first], own[second], cost, ordered)


def _verdicts(
    texts: Sequence[str], pairs: Sequence[Pair], plan: LintPlan, owner: str
) -> dict[Pair, PairVerdict]:
    found = dict(zip(pairs, compare([(texts[a], texts[b]) for a, b in pairs]), strict=True))
    if plan.model is None or plan.session is None:
        return found
    doubtful = [pair for pair, one in found.items() if max(one.same, one.conflict) >= DOUBTFUL_FROM]
    asked = [(texts[first], texts[second]) for first, second in doubtful]
    answers = find_pair_verdicts(asked, plan.session, plan.model, owner)
    decided = {
        pair: PairVerdict(float(answer == "same"), float(answer == "conflict"))
        for pair, answer in zip(doubtful, answers, strict=True)
        if answer is not None
    }
    return {pair: decided.get(pair, PairVerdict(0.0, 0.0)) for pair in found}


def _duplicates(members: Sequence[Memory], cost: dict[str, Fraction]) -> Finding:
    """The newest of those that say most is kept."""
    keep = max(
        enumerate(members), key=lambda one: (len(set(one[1].text.casefold().split())), one[0])
    )[1]
    others = sum((cost[one.id] for one in members if one is not keep), Fraction(0))
    same = all(same_words(one.text, keep.text) for one in members)
    return Finding(
        "duplicates",
        tuple(one.id for one in members),
        f"{counted(len(members), 'memory')} with {'the same text' if same else 'the same content'};"
        f" keep {keep.id}",
        tuple(map(_quoted, members)),
        others,
        keep.id,
    )


def _contradiction(
    first: Memory, second: Memory, cost: dict[str, Fraction], ordered: bool
) -> Finding:
    newer = _newer(first, second, ordered)
    what = "which is newer is not known" if newer is None else f"{newer.id} is newer"
    stale = [one for one in (first, second) if newer is not None and one is not newer]
    return Finding(
        "contradictions",
        (first.id, second.id),
        f"they disagree; {what}",
        (_quoted(first), _quoted(second)),
        sum((cost[one.id] for one in stale), Fraction(0)),
        newer.id if newer is not None else None,
    )


def _newer(first: Memory, second: Memory, ordered: bool) -> Memory | None:
    """The one with the later time, compared at the precision both have. Without times, the one
    listed later, if the store lists memories in the order of writing."""
    early, late = (one.updated_at or one.created_at for one in (first, second))
    if early is not None and late is not None:
        shown = min(len(early), len(late))
        if early[:shown] == late[:shown]:
            return None
        return second if early < late else first
    untimed = early is None and late is None
    return second if ordered and untimed and first.lines is None else None


def _quoted(memory: Memory) -> Evidence:
    return evidence("memory", memory.id, memory.text)


def _support(
    memories: Sequence[Memory],
    turns: Sequence[Experience],
    cost: dict[str, Fraction],
    plan: LintPlan,
    notes: list[str],
) -> list[Finding]:
    index = ConversationIndex(turns)
    found: list[FoundSupport | None]
    if plan.model is not None and plan.session is not None:
        asked = [index.to_check(without_secrets(own_text(memory))) for memory in memories]
        answers = find_support(asked, turns, plan.session, plan.model, "support")
        found = [
            None if one is None else FoundSupport(one.verdict, one.turn, (), masked(one.reason))
            for one in answers
        ]
        notes.append(f"support: model:{plan.model}")
    else:
        found = [index.support(without_secrets(own_text(memory))) for memory in memories]
        notes.append("support: offline, an estimate by words; read the nearest turn")
    unsaid = sum(one is not None and one.verdict == "not" for one in found)
    if len(memories) > 1 and unsaid >= UNRELATED_FROM * len(memories):
        notes.append(
            f"UNRELATED: nothing in the conversation says {unsaid:,} of {len(memories):,} "
            "memories; is it another conversation?"
        )
    if silent := sum(one is None for one in found):
        notes.append(f"{counted(silent, 'memory')} got no verdict on support")
    findings = []
    for memory, one in zip(memories, found, strict=True):
        if one is None or one.verdict == "supported":
            continue
        near = () if one.turn is None else (_turn(turns[one.turn]),)
        what = (
            "the conversation says it only in part"
            if one.verdict == "partly"
            else ("nothing in the conversation says it")
        )
        missing = ", ".join(one.missing[:5])
        detail = one.reason or (f"not said anywhere: {missing}" if missing else "")
        findings.append(
            Finding(
                "unsupported",
                (memory.id,),
                f"{what}; {detail}" if detail else what,
                (_quoted(memory), *near),
                cost[memory.id] if one.verdict == "not" else Fraction(0),
            )
        )
    return findings


def _turn(turn: Experience) -> Evidence:
    speaker = f"{turn.speaker}: " if turn.speaker else ""
    return evidence("nearest turn", turn.id, f"{speaker}{turn.text}")


def _with_units(
    report: LintReport,
    store: ExportedStore,
    package: Package,
    findings: list[Finding],
    notes: list[str],
    plan: LintPlan,
) -> LintReport:
    if plan.judge is None:
        raise MemAuditError("units need a judge; give --judge")
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
        unmeasured["lost-updates"] = "needs an earlier export: --before STORE"
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


def _priced(written: WrittenStore, costs: Mapping[str, Fraction]) -> WrittenStore:
    """The judged memories, each at what it takes; whole files are no choice beside their lines."""
    memories = tuple(replace(one, cost=costs[one.id]) for one in written.memories)
    return replace(written, memories=memories, documents=())


def _judged(
    store: ExportedStore, memories: Sequence[Memory], package: Package, judge: Judge
) -> WrittenStore:
    """Memories that are no longer active, judged as if they were."""
    revived = tuple(memory.model_copy(update={"state": "active"}) for memory in memories)
    return judge_store(package, store.model_copy(update={"memories": revived}), judge)
