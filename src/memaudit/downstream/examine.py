"""Questions through retrieval and reading: one row each with the whole chain of evidence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from memaudit.core.cost import words
from memaudit.core.exact import plain
from memaudit.core.package import Package
from memaudit.downstream.answers import Verdict
from memaudit.downstream.chain import LOST, Link, Stage, UnitChain, chains, stage_of
from memaudit.downstream.grading import Graded, grade
from memaudit.downstream.holding import Holding, StoredMemory
from memaudit.downstream.measures import Measures, measures
from memaudit.downstream.outcomes import Decision, decide
from memaudit.downstream.question import Question, questions
from memaudit.downstream.readers.protocol import Asked, Reader, Reply, State
from memaudit.downstream.retrievers import Ranking, Retriever


@dataclass(frozen=True, slots=True)
class Finding:
    """One question at one store."""

    package: str
    store: str
    question: Question
    retrieved: tuple[str, ...]
    reply: Reply
    chains: tuple[UnitChain, ...]
    stage: Stage
    verdict: Verdict
    decision: Decision
    why: tuple[str, ...]
    measures: Measures
    texts: Mapping[str, str]
    """Of every memory that the row names."""

    def to_json(self) -> dict[str, Any]:
        """The row; numbers are exact."""
        question, reply = self.question, self.reply
        return {
            "package": self.package,
            "store": self.store,
            "query": question.id,
            "kind": question.kind,
            "question": question.text,
            "gold": question.gold,
            "abstention": question.abstention,
            "outcome": self.decision.outcome.value,
            "layer": self.decision.layer.value,
            "stage": self.stage.value,
            "verdict": self.verdict.value,
            "why": list(self.why),
            "reply": reply.state.value,
            "answer": reply.answer,
            "used": list(reply.used),
            "retrieved": list(self.retrieved),
            "evidence": [_chain(chain, question) for chain in self.chains],
            "stale_units": list(question.stale),
            "measures": {
                name: None if value is None else plain(value)
                for name, value in self.measures.items()
            },
            "texts": dict(self.texts),
        }


def _chain(chain: UnitChain, question: Question) -> dict[str, Any]:
    return {
        "unit": chain.unit,
        "says": question.says.get(chain.unit, ""),
        "supports": chain.unit in question.supports,
        "stage": chain.stage.value,
        "needs": plain(chain.needs),
        "written": plain(chain.written),
        "kept": plain(chain.kept),
        "retrieved": plain(chain.retrieved),
        "memories": [_link(link) for link in chain.links],
    }


def _link(link: Link) -> dict[str, Any]:
    return {"id": link.memory, "covers": plain(link.covers), "kept": link.kept, "rank": link.rank}


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The questions of a package with what one store offers for each."""

    package: str
    holding: Holding
    questions: tuple[Question, ...]
    rankings: tuple[Ranking, ...]
    words_kept: int
    """Words of everything that the store keeps."""

    @property
    def asked(self) -> list[Asked]:
        """What a reader is asked."""
        known = {memory.id: memory for memory in self.holding.kept}
        return [
            Asked(self.package, question, tuple(known[id] for id in ranking))
            for question, ranking in zip(self.questions, self.rankings, strict=True)
        ]


def retrieve(
    package: Package, holding: Holding, retriever: Retriever, k: int, skip: int = 0
) -> Retrieved:
    """The k memories for every question of a package, without the first `skip` questions."""
    wanted = questions(package)[skip:]
    rankings = retriever.rank(holding.kept, wanted, k)
    kept = sum(words(memory.text) for memory in holding.kept)
    return Retrieved(package.name, holding, wanted, tuple(rankings), kept)


def lean(found: Retrieved) -> Retrieved:
    """The same without memories that no finding names, for runs that hold many at once."""
    named = {id for ranking in found.rankings for id in ranking}
    needed = {unit for question in found.questions for unit in question.needs}
    holding = found.holding
    # One memory, kept if any is, stands for all others: an empty store is another finding.
    first = next((m.id for m in (*holding.kept, *holding.written)), None)
    left = tuple(
        memory
        for memory in holding.written
        if memory.id in named or memory.id == first or needed & memory.covers.keys()
    )
    ids = {memory.id for memory in left}
    return replace(found, holding=replace(holding, written=left, kept_ids=holding.kept_ids & ids))


def findings(found: Retrieved, replies: Sequence[Reply]) -> Iterator[Finding]:
    """What came of every question, in order."""
    for asked, reply in zip(found.asked, replies, strict=True):
        yield _finding(found, asked, reply)


def examine(
    package: Package, holding: Holding, retriever: Retriever, k: int, reader: Reader
) -> list[Finding]:
    """All of it for one package and one store, without files."""
    found = retrieve(package, holding, retriever, k)
    return list(findings(found, reader.read(found.asked)))


def _finding(found: Retrieved, asked: Asked, reply: Reply) -> Finding:
    question, retrieved = asked.question, asked.memories
    ids = tuple(memory.id for memory in retrieved)
    evidence = chains(question, found.holding, ids)
    stage = stage_of(question, evidence)
    graded = grade(question, reply, retrieved)
    decision = decide(stage, graded.verdict)
    return Finding(
        package=found.package,
        store=found.holding.name,
        question=question,
        retrieved=ids,
        reply=reply,
        chains=evidence,
        stage=stage,
        verdict=graded.verdict,
        decision=decision,
        why=tuple(_why(found.holding, question, retrieved, evidence, stage, reply, graded)),
        measures={
            **measures(question, evidence, retrieved, reply, graded, decision.outcome),
            "words_kept": Fraction(found.words_kept),
        },
        texts=_texts(found.holding, evidence, ids),
    )


def _texts(
    holding: Holding, evidence: Sequence[UnitChain], retrieved: Sequence[str]
) -> dict[str, str]:
    """The texts of the memories that a row names, in order of writing."""
    named = {*retrieved, *(link.memory for chain in evidence for link in chain.links)}
    return {memory.id: memory.text for memory in holding.written if memory.id in named}


def _why(
    holding: Holding,
    question: Question,
    retrieved: Sequence[StoredMemory],
    evidence: Sequence[UnitChain],
    stage: Stage,
    reply: Reply,
    graded: Graded,
) -> Iterator[str]:
    """Remarks about the row: first the evidence, then the reply."""
    needed = [chain for chain in evidence if chain.unit in question.supports]
    if stage is Stage.NO_EVIDENCE:
        yield "question_without_evidence"
    if stage is Stage.NOTHING_NEEDED:
        yield "no_evidence_needed"
    if not holding.written:
        yield "empty_store"
    elif not holding.kept_ids:
        yield "nothing_kept"
    elif not retrieved:
        yield "retriever_returned_nothing"
    if any(0 < chain.written < chain.needs for chain in needed):
        yield "partly_written"
    if any(0 < chain.retrieved < chain.needs for chain in needed):
        yield "partly_retrieved"
    if len({chain.retrieved >= chain.needs for chain in needed}) > 1:
        yield "partly_supported"
    if holding.undecided & question.supports:
        yield "coverage_undecided"
    if graded.abstained:
        lucky = graded.verdict is Verdict.RIGHT and stage in LOST
        yield "abstained_in_the_dark" if lucky else "abstained"
    elif reply.state is not State.ANSWERED:
        yield reply.state.value
    elif stage in LOST:
        yield "answered_anyway"
    if graded.note:
        yield graded.note
    yield from reply.notes
