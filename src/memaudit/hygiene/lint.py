"""Look a store over: everything that can be found with what there is, and what is missing else."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from memaudit.adapters.store import ExportedStore, Memory
from memaudit.core.cost import DECLARED, cost_rule, default_rule
from memaudit.core.errors import MemAuditError
from memaudit.core.package import Experience, Package
from memaudit.core.text import content_key, counted
from memaudit.hygiene.against_units import (
    lost_updates,
    stale_facts,
    worth_nothing,
    wrongly_retired,
)
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
from memaudit.hygiene.secrets import mask, sensitive
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
from memaudit.scoring.judged_store import (
    PARTS_OF_ONE,
    active_memories,
    judge_store,
    writing_order,
)
from memaudit.scoring.judges import Judge, judged_how
from memaudit.scoring.written_store import MEMORY, WrittenStore

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
    package = plan.package
    memories = _memories(store, package)
    measured = [memory.text for memory in memories]
    rule = (
        default_rule(measured)
        if package is None or package.cost_rule == DECLARED
        else package.cost_rule
    )
    measure = cost_rule(rule)
    cost = {one.id: Fraction(measure(one.text, MEMORY, one.metadata)) for one in memories}
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
        store.name, store.digest, len(memories), sum(cost.values(), Fraction(0)), rule, (),
        unmeasured, files=store.origin.files, model=plan.model or "",
    )  # fmt: skip
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
        for one in cut_off(store, known):
            limit = one.limit
            lost = f"{counted(len(one.memories), 'memory')} cut off" if one.memories else "cut off"
            yield Finding(
                "limits", one.memories,
                f"{one.document} has {one.size:,} {limit.unit}, {limit.system} reads the first "
                f"{limit.most:,}: {lost}",
                (), sum((cost.get(id, Fraction(0)) for id in one.memories), Fraction(0)),
            )  # fmt: skip


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
    for places in _owners(store, memories).values():
        own = [memories[place] for place in places]
        texts = [memory.text for memory in own]
        verdicts = _verdicts(texts, pairs_to_compare(texts), plan, store.name)
        together = clusters(texts, verdicts, pair_model().same_from)
        for members in together:
            yield _duplicates([own[place] for place in members], cost)
        for first, second in contradictions(verdicts, pair_model().conflict_from, together):
            yield _contradiction(own[first], own[second], cost)


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
    same = len({content_key(one.text) for one in members}) == 1
    return Finding(
        "duplicates", tuple(one.id for one in members),
        f"{counted(len(members), 'memory')} with {'the same text' if same else 'the same content'};"
        f" keep {keep.id}",
        tuple(map(_quoted, members)), others, keep.id,
    )  # fmt: skip


def _contradiction(first: Memory, second: Memory, cost: dict[str, Fraction]) -> Finding:
    times = [one.updated_at or one.created_at for one in (first, second)]
    if first.lines is not None and not all(times):
        newer, what = None, "which is newer is not known"
    else:
        later = times[0] is None or times[1] is None or times[0] <= times[1]
        newer = second if later else first
        what = f"{newer.id} is newer"
    stale = [one for one in (first, second) if newer is not None and one is not newer]
    return Finding(
        "contradictions", (first.id, second.id), f"they disagree; {what}",
        (_quoted(first), _quoted(second)), sum((cost[one.id] for one in stale), Fraction(0)),
        newer.id if newer is not None else None,
    )  # fmt: skip


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
        asked = [index.to_check(memory.text) for memory in memories]
        answers = find_support(asked, turns, plan.session, plan.model, "support")
        found = [
            None if one is None else FoundSupport(one.verdict, one.turn, (), one.reason)
            for one in answers
        ]
        notes.append(f"support: model:{plan.model}")
    else:
        found = [index.support(memory.text) for memory in memories]
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
                "unsupported", (memory.id,), f"{what}; {detail}" if detail else what,
                (_quoted(memory), *near),
                cost[memory.id] if one.verdict == "not" else Fraction(0),
            )
        )  # fmt: skip
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
    measured = package if package.cost_rule != DECLARED else package.recost(report.cost_rule)
    plan.progress("units")
    written = judge_store(measured, store, plan.judge)
    how = judged_how(plan.judge.name, plan.judge.is_estimate)
    notes.append(f"units: judge {plan.judge.name}, {how}")
    findings += worth_nothing(measured, written)
    findings += stale_facts(measured, written)
    unmeasured = dict(report.unmeasured)
    retired = [memory for memory in store.memories if memory.state != "active"]
    if retired:
        gone = _judged(store, retired, measured, plan.judge)
        states = {memory.id: memory.state for memory in retired}
        findings += wrongly_retired(measured, written, gone, states)
    else:
        unmeasured["retired"] = "needs deleted or superseded memories: the export has none"
    if plan.before is not None:
        earlier = judge_store(measured, plan.before, plan.judge)
        findings += lost_updates(measured, earlier, written, store)
    else:
        unmeasured["lost-updates"] = "needs an earlier export: --before STORE"
    plan.progress("the smallest store")
    smallest = smallest_stores(measured, written, plan.seconds, progress=plan.progress)
    weighted = sum(bool(weight) for weight in measured.weights.values())
    return replace(
        report, cost=written.cost, cost_rule=measured.cost_rule, findings=in_order(findings),
        unmeasured=_sorted(unmeasured), notes=tuple(notes), package=package.name,
        smallest=smallest, units=weighted, unweighted_units=len(measured.units) - weighted,
        is_estimate=plan.judge.is_estimate,
    )  # fmt: skip


def _sorted(unmeasured: Mapping[str, str]) -> dict[str, str]:
    return {rule: unmeasured[rule] for rule in RULES if rule in unmeasured}


def _judged(
    store: ExportedStore, memories: Sequence[Memory], package: Package, judge: Judge
) -> WrittenStore:
    """Memories that are no longer active, judged as if they were."""
    revived = tuple(memory.model_copy(update={"state": "active"}) for memory in memories)
    return judge_store(package, store.model_copy(update={"memories": revived}), judge)
