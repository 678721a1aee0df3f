"""Questions through retrieval and reading: one finding each, nothing dropped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from memaudit.core.cost import words
from memaudit.core.package import Package
from memaudit.downstream.chain import LOST, Stage, UnitChain, chains, stage_of
from memaudit.downstream.finding import Finding
from memaudit.downstream.grading import Graded, grade
from memaudit.downstream.measures import measures
from memaudit.downstream.memory import Holding, StoredMemory
from memaudit.downstream.outcomes import decide
from memaudit.downstream.question import Question, questions
from memaudit.downstream.readers.protocol import Asked, Reader, Reply, State
from memaudit.downstream.retrievers.protocol import Ranking, Retriever
from memaudit.downstream.verdict import Verdict


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
