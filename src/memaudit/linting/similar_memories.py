"""Pairs of memories worth comparing, clusters of those that say the same, and contradictions.

Pairs are found by rare words they share, never by comparing all of them: each memory looks up its
rarest words among the others.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from memaudit.building.passes.store_passes import find_pair_verdicts
from memaudit.kernel.io.store_file import ExportedStore, ExportWarning, Memory, export_warning
from memaudit.kernel.score.priced_store import PARTS_OF_ONE
from memaudit.kernel.words.text import content_key, counted
from memaudit.linting.cleanup_plan import same_words
from memaudit.linting.findings import Finding, quoted
from memaudit.linting.statement_pairs import PairVerdict, Statement, compare, pair_model, statement
from memaudit.models.session import ModelSession

Place = int
Pair = tuple[Place, Place]
"""Places of two memories in the order of writing, the earlier first."""

RAREST_WORDS = 10
"""Words of a memory by which others are looked up."""
MOST_HOLDERS = 150
"""Memories with one word. A word that more have says too little to look up by."""
LEAST_SHARED = 0.25
"""The weighted share of the shorter memory's words that both must have."""
MOST_PARTNERS = 12
"""Memories that one is compared with: those that share most."""
DOUBTFUL_FROM = 0.2
"""From this probability of either verdict by words, a model is asked about a pair."""


def pairs_to_compare(texts: Sequence[str]) -> list[Pair]:
    """Pairs that share rare words, in order; equal texts are left to their clusters."""
    said = [statement(text) for text in texts]
    having = Counter(term for memory in said for term in memory.terms)
    weight = {
        term: float(np.log((len(said) + 1) / number) + 0.1) for term, number in having.items()
    }
    holders: dict[str, list[int]] = {}
    for place, memory in enumerate(said):
        for term in memory.terms:
            if having[term] <= MOST_HOLDERS:
                holders.setdefault(term, []).append(place)
    arrays = {term: np.array(places) for term, places in holders.items() if len(places) > 1}
    total = np.array([sum(weight[term] for term in memory.terms) or 1.0 for memory in said])
    found: set[Pair] = set()
    for place, memory in enumerate(said):
        # All pairs of 100,000 memories would be five billion. Memories that say the same share a
        # rare word, mostly several.
        rare = sorted(
            (term for term in memory.terms if term in arrays), key=lambda term: having[term]
        )
        near = [arrays[term] for term in rare[:RAREST_WORDS]]
        if not near:
            continue
        others = np.unique(np.concatenate(near))
        others = others[others != place]
        shared = np.array([_shared(memory, said[other], weight) for other in others.tolist()])
        share = shared / np.minimum(total[place], total[others])
        for at in np.argsort(-share, kind="stable")[:MOST_PARTNERS].tolist():
            if share[at] >= LEAST_SHARED:
                other = int(others[at])
                found.add((min(place, other), max(place, other)))
    # Equal texts need no verdict.
    keys = [content_key(text) for text in texts]
    return sorted(pair for pair in found if keys[pair[0]] != keys[pair[1]])


def _shared(first: Statement, second: Statement, weight: Mapping[str, float]) -> float:
    return sum(weight[term] for term in first.terms & second.terms)


def equal_texts(texts: Sequence[str]) -> Iterator[tuple[Place, ...]]:
    """Places of texts that are the same but for case, spaces and full stops."""
    places: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        if key := content_key(text):
            places.setdefault(key, []).append(place)
    for together in places.values():
        if len(together) > 1:
            yield tuple(together)


def clusters(
    texts: Sequence[str], verdicts: Mapping[Pair, PairVerdict], threshold: float
) -> list[tuple[Place, ...]]:
    """Memories that say the same. All of a cluster say the same as its first one, so that a chain
    of small differences does not join what differs."""
    head: dict[Place, Place] = {}
    for together in equal_texts(texts):
        for place in together:
            head[place] = together[0]
    sure = sorted(
        (pair for pair, verdict in verdicts.items() if verdict.same >= threshold),
        key=lambda pair: (-verdicts[pair].same, pair),
    )
    for first, second in sure:
        head_of_first, other = head.get(first, first), head.get(second, second)
        if head_of_first == other:
            continue
        ends = min(head_of_first, other), max(head_of_first, other)
        known = verdicts.get(ends)
        # The ends of two clusters were never compared, or differ: joining them would chain small
        # differences.
        if (head_of_first, other) != (first, second) and (known is None or known.same < threshold):
            continue
        for place in [place for place, its in head.items() if its == ends[1]] + [ends[1]]:
            head[place] = ends[0]
        head[ends[0]] = ends[0]
    members: dict[Place, list[Place]] = {}
    for place, first in sorted(head.items()):
        members.setdefault(first, []).append(place)
    return [tuple(found) for found in members.values() if len(found) > 1]


def contradictions(
    verdicts: Mapping[Pair, PairVerdict], threshold: float, together: Sequence[tuple[Place, ...]]
) -> list[Pair]:
    """Pairs of which at most one holds, one per pair of clusters, the likeliest first."""
    cluster = {place: members[0] for members in together for place in members}
    found: dict[tuple[Place, Place], Pair] = {}
    for pair in sorted(verdicts, key=lambda pair: (-verdicts[pair].conflict, pair)):
        verdict = verdicts[pair]
        if verdict.conflict < threshold or verdict.same >= verdict.conflict:
            continue
        one, other = (cluster.get(place, place) for place in pair)
        if one != other:
            found.setdefault((min(one, other), max(one, other)), pair)
    return list(found.values())


def _owners(store: ExportedStore, memories: Sequence[Memory]) -> dict[tuple[str, str], list[int]]:
    """Places of memories by whose they are: two people may well differ."""
    owners: dict[tuple[str, str], list[int]] = {}
    for place, memory in enumerate(memories):
        user = "" if store.origin.format in PARTS_OF_ONE else memory.namespace or ""
        owners.setdefault((memory.example or "", user), []).append(place)
    return owners


def pair_findings(
    store: ExportedStore,
    memories: Sequence[Memory],
    cost: dict[str, Fraction],
    model: str | None,
    session: ModelSession | None,
    notes: list[str],
) -> Iterator[Finding]:
    """Duplicates and contradictions among the memories of each owner."""
    judged = "offline, an estimate by words" if model is None else f"model:{model}"
    notes.append(f"duplicates and contradictions: {judged}")
    ordered = ExportWarning.ORDER_UNKNOWN not in map(export_warning, store.warnings)
    for places in _owners(store, memories).values():
        own = [memories[place] for place in places]
        texts = [memory.text for memory in own]
        verdicts = _verdicts(texts, pairs_to_compare(texts), model, session, store.name)
        together = clusters(texts, verdicts, pair_model().same_from)
        for members in together:
            yield _duplicates([own[place] for place in members], cost)
        for first, second in contradictions(verdicts, pair_model().conflict_from, together):
            yield _contradiction(own[first], own[second], cost, ordered)


def _verdicts(
    texts: Sequence[str],
    pairs: Sequence[Pair],
    model: str | None,
    session: ModelSession | None,
    owner: str,
) -> dict[Pair, PairVerdict]:
    found = dict(zip(pairs, compare([(texts[a], texts[b]) for a, b in pairs]), strict=True))
    if model is None or session is None:
        return found
    doubtful = [
        pair
        for pair, verdict in found.items()
        if max(verdict.same, verdict.conflict) >= DOUBTFUL_FROM
    ]
    asked = [(texts[first], texts[second]) for first, second in doubtful]
    answers = find_pair_verdicts(asked, session, model, owner)
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
    others = sum((cost[memory.id] for memory in members if memory is not keep), Fraction(0))
    same = all(same_words(memory.text, keep.text) for memory in members)
    return Finding(
        "duplicates",
        tuple(memory.id for memory in members),
        f"{counted(len(members), 'memory')} with {'the same text' if same else 'the same content'};"
        f" keep {keep.id}",
        tuple(map(quoted, members)),
        others,
        keep.id,
    )


def _contradiction(
    first: Memory, second: Memory, cost: dict[str, Fraction], ordered: bool
) -> Finding:
    newer = _newer(first, second, ordered)
    what = "which is newer is not known" if newer is None else f"{newer.id} is newer"
    stale = [memory for memory in (first, second) if newer is not None and memory is not newer]
    return Finding(
        "contradictions",
        (first.id, second.id),
        f"they disagree; {what}",
        (quoted(first), quoted(second)),
        sum((cost[memory.id] for memory in stale), Fraction(0)),
        newer.id if newer is not None else None,
    )


def _newer(first: Memory, second: Memory, ordered: bool) -> Memory | None:
    """The one with the later time, compared at the precision both have. Without times, the one
    listed later, if the store lists memories in the order of writing."""
    early, late = (memory.updated_at or memory.created_at for memory in (first, second))
    if early is not None and late is not None:
        # A day and a time of that day do not say which is later.
        shown = min(len(early), len(late))
        if early[:shown] == late[:shown]:
            return None
        return second if early < late else first
    untimed = early is None and late is None
    return second if ordered and untimed and first.lines is None else None
