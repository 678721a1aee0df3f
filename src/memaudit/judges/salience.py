"""The salience of a store's memories, by the system, a file of calls, or a model's pass.

Every store has sources of its own. Memory ids such as `m1` mean other memories in other stores, so
scores made for one store are never looked up for another.

The write-time pass sees the store in order of writing and no question. The query-aware pass sees
the questions too, which no memory system does when it writes: its scores are always shown apart.
A request holds memories in order of writing, up to 40 of them and 24,000 characters, and the last
ones written before them. Equal requests are answered from the cache.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from pydantic import model_validator

from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import NotJudged
from memaudit.kernel.score.priced_store import Salience, SalienceSource, Texts
from memaudit.kernel.words.text import counted
from memaudit.models.prompts import Quotable, StrictRow, pass_prompt, pass_request
from memaudit.models.request import ModelParameters, Request
from memaudit.models.session import ModelSession
from memaudit.stores.published import memory_id, read_salience_calls

# A score says how a memory compares with others, so a request should hold many of them.
MAX_MEMORIES, MAX_CHARACTERS = 40, 24_000
MAX_EARLIER = 20
"""Memories before those of a request that it shows."""

HIGHEST = 10
STAGE, QUERY_STAGE = "salience", "query_salience"


# The names and docstrings of reply types are part of every request's hash.
class SalienceRow(StrictRow):
    """The score of one memory."""

    memory: int
    salience: int
    reason: str


class SalienceReply(StrictRow):
    """The reply of this pass."""

    scores: list[SalienceRow]

    @model_validator(mode="after")
    def _once_each(self) -> "SalienceReply":
        if len({row.memory for row in self.scores}) < len(self.scores):
            raise ValueError("a memory appears twice")
        return self


@dataclass(frozen=True, slots=True)
class SalienceChunk:
    """Places of a request's memories in the order of writing, and those shown before them."""

    places: tuple[int, ...]
    earlier: tuple[int, ...]


def chunks(texts: Sequence[str], places: Sequence[int]) -> Iterator[SalienceChunk]:
    """The memories at these places, in order; a text that is too long has a request of its own."""
    together: list[int] = []
    for place in places:
        length = sum(len(texts[at]) for at in (*together, place))
        if together and (len(together) == MAX_MEMORIES or length > MAX_CHARACTERS):
            yield _chunk(texts, together)
            together = []
        together.append(place)
    if together:
        yield _chunk(texts, together)


def _chunk(texts: Sequence[str], places: Sequence[int]) -> SalienceChunk:
    earlier: list[int] = []
    left = MAX_CHARACTERS
    # From the nearest one back, as far as they fit: the last ones say most about what is new.
    for place in reversed(range(max(0, places[0] - MAX_EARLIER), places[0])):
        left -= len(texts[place])
        if left < 0:
            break
        earlier.insert(0, place)
    return SalienceChunk(tuple(places), tuple(earlier))


def salience_request(
    chunk: SalienceChunk,
    texts: Sequence[str],
    questions: Sequence[str],
    model: str,
    parameters: ModelParameters,
    second: bool = False,
) -> Request:
    blocks: dict[str, Quotable] = {
        "memories": [
            {"memory": number, "text": texts[place]}
            for number, place in enumerate(chunk.places, start=1)
        ]
    }
    if chunk.earlier:
        blocks["earlier"] = [texts[place] for place in chunk.earlier]
    if questions:
        blocks["questions"] = list(questions)
    if second:
        blocks["asked_before"] = "yes"
    prompt = pass_prompt(QUERY_STAGE if questions else STAGE)
    return pass_request(prompt, SalienceReply, model, parameters, **blocks)


def find_salience(
    texts: Sequence[str],
    session: ModelSession,
    model: str,
    owner: str,
    questions: Sequence[str] = (),
) -> list[Fraction | None]:
    """A score from 0 to 1 for each text, in order of writing; None where there was no answer.

    Memories without a score are asked about once more.
    """
    scores: list[Fraction | None] = [None] * len(texts)
    stage = QUERY_STAGE if questions else STAGE
    for second in (False, True):
        open_places = [place for place, score in enumerate(scores) if score is None]
        work = list(chunks(texts, open_places))
        requests = [
            (owner, salience_request(chunk, texts, questions, model, session.parameters, second))
            for chunk in work
        ]
        replies = session.ask(f"{stage} again" if second else stage, requests, SalienceReply)
        for chunk, reply in zip(work, replies, strict=True):
            for row in [] if reply is None else reply.scores:
                words = f"memory {row.memory}: {row.salience}"
                if not 1 <= row.memory <= len(chunk.places):
                    session.ledger.refuse(owner, stage, "score nobody asked for", words)
                    continue
                if not 0 <= row.salience <= HIGHEST:
                    session.ledger.refuse(owner, stage, f"score not from 0 to {HIGHEST}", words)
                    continue
                scores[chunk.places[row.memory - 1]] = Fraction(row.salience, HIGHEST)
    for text, score in zip(texts, scores, strict=True):
        if score is None:
            session.ledger.refuse(owner, stage, "memory without a score", text)
    return scores


MODEL = "model:"
QUERY = "query:"
"""Before a source that saw the questions."""


class SalienceCalls:
    """Scores by example and memory, as a file of calls gives them."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        calls = read_salience_calls(path)
        self.failed = len(calls.skipped)
        self._scores: dict[str, dict[str, Fraction]] = {name: {} for name in calls.examples}
        for row in calls.rows:
            self._scores[row.example][row.memory] = row.value

    def of(self, package: Package, store: ExportedStore, texts: Texts) -> dict[str, Fraction]:
        example = package.name
        if not texts:
            return {}
        if example not in self._scores:
            failed = f"; {counted(self.failed, 'call')} failed" if self.failed else ""
            raise NotJudged(f"{self.name}: has no salience of {example!r}{failed}")
        scores = self._scores[example]
        own_ids = {memory_id(example, memory.id) for memory in store.memories}
        # Ids such as m1 exist in every store. A file that scores memories which this store lacks
        # was made for another, and what does match matches by chance.
        if foreign := [id for id in scores if id not in own_ids]:
            raise MemAuditError(
                f"{self.name}: scores {counted(len(foreign), 'memory')} that the store "
                f"{store.name!r} does not have (the first is {foreign[0]!r}), so it was made for "
                "another store; give each store its own file: STORE=FILE"
            )
        return {id: scores[named] for id in texts if (named := memory_id(example, id)) in scores}


class ModelSalience:
    """Scores that a model gives, with the questions in sight or without."""

    failed = 0

    def __init__(self, session: ModelSession, model: str, query_aware: bool = False) -> None:
        self.name = f"{MODEL}{model}"
        self._session, self._model, self._query_aware = session, model, query_aware
        self._known: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Fraction | None]] = {}

    def of(self, package: Package, store: ExportedStore, texts: Texts) -> dict[str, Fraction]:
        questions = tuple(query.text for query in package.queries) if self._query_aware else ()
        if not texts or (self._query_aware and not questions):
            return {}
        asked = tuple(texts.values()), questions
        if asked not in self._known:
            owner = f"{store.name} on {package.name}"
            self._known[asked] = find_salience(
                asked[0], self._session, self._model, owner, questions
            )
        scored = zip(texts, self._known[asked], strict=True)
        return {id: score for id, score in scored if score is not None}


def named_salience(
    given: Sequence[str], stores: Sequence[str], session: ModelSession | None = None
) -> Salience:
    """Sources as commands name them: model:NAME, a file for the only store, or STORE=FILE.

    `query:` before a source says that the questions were in sight.
    """
    aware = [text.removeprefix(QUERY) for text in given if text.startswith(QUERY)]
    blind = [text for text in given if not text.startswith(QUERY)]
    return Salience(
        _sources("", blind, stores, session),
        _sources(QUERY, aware, stores, session),
    )


def salience_files(given: Sequence[str], stores: Sequence[str]) -> list[Path]:
    """The files among what commands name."""
    sources = (text.removeprefix(QUERY) for text in given)
    return [Path(_split(text, stores)[1]) for text in sources if not text.startswith(MODEL)]


def salience_model(source: str) -> str:
    """The model that a source asks, as model:NAME; empty for a file."""
    asked = source.removeprefix(QUERY)
    return asked if asked.startswith(MODEL) else ""


def _sources(
    prefix: str, given: Sequence[str], stores: Sequence[str], session: ModelSession | None
) -> dict[str, SalienceSource]:
    sources: dict[str, SalienceSource] = {}
    for text in given:
        if text.startswith(MODEL):
            if session is None:
                raise ParameterError("{salience} {text} needs a model session", text=prefix + text)
            model = ModelSalience(session, text.removeprefix(MODEL), prefix == QUERY)
            named: list[tuple[str, SalienceSource]] = [(store, model) for store in stores]
        else:
            store, file = _split(text, stores)
            if not store:
                raise ParameterError(
                    "{salience} {text} does not say which of {count} stores it was made for; write "
                    "{salience} {store}=FILE",
                    text=prefix + text,
                    count=len(stores),
                    store=prefix + stores[0],
                )
            named = [(store, SalienceCalls(Path(file)))]
        for store, source in named:
            if store in sources:
                raise ParameterError(
                    "{salience} is given twice for the store {store}",
                    store=repr(store) + (f" as {prefix}" if prefix else ""),
                )
            sources[store] = source
    return sources


def _split(text: str, stores: Sequence[str]) -> tuple[str, str]:
    """The store and the file of `STORE=FILE`, or of `FILE` for the only store."""
    store, equals, file = text.partition("=")
    if equals and store in stores:
        return store, file
    return (stores[0] if len(stores) == 1 else "", text)
