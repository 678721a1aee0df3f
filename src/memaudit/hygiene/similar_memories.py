"""Pairs of memories worth comparing, clusters of those that say the same, and contradictions.

Pairs are found by rare words they share, never by comparing all of them: each memory looks up its
rarest words among the others.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from memaudit.core.text import content_key
from memaudit.hygiene.statement_pairs import PairVerdict, Statement, statement

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


def pairs_to_compare(texts: Sequence[str]) -> list[Pair]:
    """Pairs that share rare words, in order; equal texts are left to their clusters."""
    said = [statement(text) for text in texts]
    having = Counter(term for one in said for term in one.terms)
    weight = {
        term: float(np.log((len(said) + 1) / number) + 0.1) for term, number in having.items()
    }
    holders: dict[str, list[int]] = {}
    for place, one in enumerate(said):
        for term in one.terms:
            if having[term] <= MOST_HOLDERS:
                holders.setdefault(term, []).append(place)
    arrays = {term: np.array(places) for term, places in holders.items() if len(places) > 1}
    total = np.array([sum(weight[term] for term in one.terms) or 1.0 for one in said])
    found: set[Pair] = set()
    for place, one in enumerate(said):
        rare = sorted((term for term in one.terms if term in arrays), key=lambda term: having[term])
        near = [arrays[term] for term in rare[:RAREST_WORDS]]
        if not near:
            continue
        others = np.unique(np.concatenate(near))
        others = others[others != place]
        shared = np.array([_shared(one, said[other], weight) for other in others.tolist()])
        share = shared / np.minimum(total[place], total[others])
        for at in np.argsort(-share, kind="stable")[:MOST_PARTNERS].tolist():
            if share[at] >= LEAST_SHARED:
                other = int(others[at])
                found.add((min(place, other), max(place, other)))
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
        one, other = head.get(first, first), head.get(second, second)
        if one == other:
            continue
        ends = min(one, other), max(one, other)
        known = verdicts.get(ends)
        if (one, other) != (first, second) and (known is None or known.same < threshold):
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
