"""Where the salience of a store's memories comes from: the system, a file of calls, or a model.

Every store has sources of its own. Memory ids such as `m1` mean other memories in other stores, so
scores made for one store are never looked up for another.
"""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from memaudit.judges.salience_pass import find_salience
from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import NotJudged
from memaudit.kernel.score.salience_source import Salience, SalienceSource, Texts
from memaudit.kernel.words.text import counted
from memaudit.models.session import ModelSession
from memaudit.stores.published import memory_id, read_salience_calls

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
        known = {memory_id(example, memory.id) for memory in store.memories}
        if foreign := [id for id in scores if id not in known]:
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
        found = zip(texts, self._known[asked], strict=True)
        return {id: score for id, score in found if score is not None}


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
