"""What was found out about one question: one row, with the whole chain of evidence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memaudit.core.exact import plain
from memaudit.downstream.chain import Link, Stage, UnitChain
from memaudit.downstream.measures import Measures
from memaudit.downstream.outcomes import Decision
from memaudit.downstream.question import Question
from memaudit.downstream.readers.protocol import Reply
from memaudit.downstream.verdict import Verdict

WHY = {
    "question_without_evidence": "the package names no evidence for it",
    "no_evidence_needed": "nothing is known about it: the right answer is to abstain",
    "empty_store": "the store holds no memory at all",
    "nothing_kept": "no memory fits the budget",
    "retriever_returned_nothing": "memories are kept, and the retriever found none",
    "partly_written": "some of a required unit was written, not all of it",
    "partly_retrieved": "some of a required unit was retrieved, not all of it",
    "partly_supported": "one required unit was retrieved in full, another was not",
    "coverage_undecided": "the judge of coverage gave no answer about a required unit",
    "answered_anyway": "the reader answered without the evidence",
    "abstained": "the reader abstained",
    "abstained_in_the_dark": "right to abstain, without the evidence that says so",
    "empty_answer": "the reader said it answers, and the answer is blank",
    "unparseable_reply": "the reply is not of the form asked for",
    "refused": "the model declined",
    "no_reply": "the server gave no reply",
    "no_gold_answer": "the package holds no answer to compare with",
    "answer_cannot_be_scored": "the answer is partly the gold answer: words cannot tell",
    "cites_unknown_memory": "the reader names a memory it was not shown",
    "quote_not_verbatim": "the reader quotes what its memory does not say",
}
"""Remarks that a row can carry; all are counted."""


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
