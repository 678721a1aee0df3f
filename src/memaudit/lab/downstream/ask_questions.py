"""Questions through retrieval and reading: one row each, with its chain of evidence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.package.cost import text_words
from memaudit.kernel.version import VERSION
from memaudit.lab.downstream.answer_readers import (
    AnswerReader,
    ReaderReply,
    ReadingTask,
    ReplyState,
)
from memaudit.lab.downstream.answers import RULE as ANSWER_RULE
from memaudit.lab.downstream.answers import AnswerVerdict
from memaudit.lab.downstream.evidence_trace import LOST, EvidenceStage, UnitChain, chains, stage_of
from memaudit.lab.downstream.grading import Grade, Measures, grade, measures
from memaudit.lab.downstream.outcomes import OutcomeDecision, decide
from memaudit.lab.downstream.question import RULE as CURRENT_RULE
from memaudit.lab.downstream.question import (
    SUPERSEDED_RULE,
    PackageQuestion,
    ServedStore,
    StoredMemory,
)
from memaudit.lab.downstream.retrievers import Ranking, Retriever

LIBRARIES = ("bm25s", "wordllama")
"""What else could change a row, by its version."""


@dataclass(frozen=True, slots=True)
class ReadingSetup:
    """How the stores are read: the same for all of them."""

    retriever: Retriever
    k: int
    reader: AnswerReader

    def __post_init__(self) -> None:
        if self.k < 1:
            raise MemAuditError("--k must be at least 1")


def reading_spec(setup: ReadingSetup) -> dict[str, Any]:
    """What decides rows once the stores are given."""
    return {
        "retriever": setup.retriever.name,
        "k": setup.k,
        "reader": setup.reader.name,
        "reads": setup.reader.about,
        "rules": {"answers": ANSWER_RULE, "current": CURRENT_RULE, "stale": SUPERSEDED_RULE},
        "versions": {"memaudit": VERSION, **{name: _version(name) for name in LIBRARIES}},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """One question at one store."""

    package: str
    store: str
    question: PackageQuestion
    retrieved: tuple[str, ...]
    reply: ReaderReply
    chains: tuple[UnitChain, ...]
    stage: EvidenceStage
    verdict: AnswerVerdict
    decision: OutcomeDecision
    why: tuple[str, ...]
    measures: Measures
    texts: Mapping[str, str]
    """The texts of the memories that the row names."""

    def to_json(self) -> dict[str, Any]:
        """The row, with exact numbers."""
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


def _chain(chain: UnitChain, question: PackageQuestion) -> dict[str, Any]:
    return {
        "unit": chain.unit,
        "says": question.says.get(chain.unit, ""),
        "supports": chain.unit in question.supports,
        "stage": chain.stage.value,
        "needs": plain(chain.needs),
        "written": plain(chain.written),
        "kept": plain(chain.kept),
        "retrieved": plain(chain.retrieved),
        "memories": [
            {"id": link.memory, "covers": plain(link.covers), "kept": link.kept, "rank": link.rank}
            for link in chain.links
        ],
    }


@dataclass(frozen=True, slots=True)
class RetrievedQuestions:
    """The questions of a package, and the memories of one store that were found for each."""

    package: str
    store: ServedStore
    questions: tuple[PackageQuestion, ...]
    rankings: tuple[Ranking, ...]
    words_kept: int
    """Words of everything that the store keeps."""

    @property
    def tasks(self) -> list[ReadingTask]:
        """What a reader is asked."""
        memories = {memory.id: memory for memory in self.store.kept}
        return [
            ReadingTask(self.package, question, tuple(memories[id] for id in ranking))
            for question, ranking in zip(self.questions, self.rankings, strict=True)
        ]


def retrieve(
    package: str, asked: Sequence[PackageQuestion], store: ServedStore, setup: ReadingSetup
) -> RetrievedQuestions:
    """The k memories for questions of a package."""
    rankings = setup.retriever.rank(store.kept, asked, setup.k)
    words_kept = sum(text_words(memory.text) for memory in store.kept)
    return RetrievedQuestions(package, store, tuple(asked), tuple(rankings), words_kept)


def question_results(
    retrieved: RetrievedQuestions, replies: Sequence[ReaderReply]
) -> Iterator[QuestionResult]:
    """What became of every question, in order."""
    for task, reply in zip(retrieved.tasks, replies, strict=True):
        yield _question_result(retrieved, task, reply)


def _question_result(
    retrieved: RetrievedQuestions, task: ReadingTask, reply: ReaderReply
) -> QuestionResult:
    question, memories, store = task.question, task.memories, retrieved.store
    ids = tuple(memory.id for memory in memories)
    evidence = chains(question, store, ids)
    stage = stage_of(question, evidence)
    graded = grade(question, reply, memories)
    decision = decide(stage, graded.verdict)
    return QuestionResult(
        package=retrieved.package,
        store=store.name,
        question=question,
        retrieved=ids,
        reply=reply,
        chains=evidence,
        stage=stage,
        verdict=graded.verdict,
        decision=decision,
        why=tuple(_why(store, question, memories, evidence, stage, reply, graded)),
        measures={
            **measures(question, evidence, memories, reply, graded, decision.outcome),
            "words_kept": Fraction(retrieved.words_kept),
        },
        texts=_texts(store, evidence, ids),
    )


def _texts(
    store: ServedStore, evidence: Sequence[UnitChain], retrieved: Sequence[str]
) -> dict[str, str]:
    """The texts of the memories that a row names, in order of writing."""
    named = {*retrieved, *(link.memory for chain in evidence for link in chain.links)}
    return {memory.id: memory.text for memory in store.written if memory.id in named}


def _why(
    store: ServedStore,
    question: PackageQuestion,
    retrieved: Sequence[StoredMemory],
    evidence: Sequence[UnitChain],
    stage: EvidenceStage,
    reply: ReaderReply,
    graded: Grade,
) -> Iterator[str]:
    """Remarks about the row: first the evidence, then the reply."""
    needed = [chain for chain in evidence if chain.unit in question.supports]
    if stage is EvidenceStage.NO_EVIDENCE:
        yield "question_without_evidence"
    if stage is EvidenceStage.NOTHING_NEEDED:
        yield "no_evidence_needed"
    if not store.written:
        yield "empty_store"
    elif not store.kept_ids:
        yield "nothing_kept"
    elif not retrieved:
        yield "retriever_returned_nothing"
    if any(0 < chain.written < chain.needs for chain in needed):
        yield "partly_written"
    if any(0 < chain.retrieved < chain.needs for chain in needed):
        yield "partly_retrieved"
    # One unit in full and another not: the reader had half of what the answer joins.
    if len({chain.retrieved >= chain.needs for chain in needed}) > 1:
        yield "partly_supported"
    if store.undecided & question.supports:
        yield "coverage_undecided"
    if graded.abstained:
        # Right to abstain, but because nothing was retrieved: it would have abstained on anything.
        lucky = graded.verdict is AnswerVerdict.RIGHT and stage in LOST
        yield "abstained_in_the_dark" if lucky else "abstained"
    elif reply.state is not ReplyState.ANSWERED:
        yield reply.state.value
    elif stage in LOST:
        yield "answered_anyway"
    if graded.note:
        yield graded.note
    yield from reply.notes
