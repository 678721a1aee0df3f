"""Pairs of a memory and a unit as numbers: what the offline judge goes by.

The numbers of a pair depend on the memory, the unit and the package's other units, never on other
memories. So a text has the same cells in every store, whatever is stored beside it.

Length earns nothing: words count in the best passage of a memory, two sentences long at most, and
only names may stand elsewhere in it. Rare words of the package's units count more. Where the turn
that a unit comes from is known, words that a memory shares with it tell what the memory is about.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memaudit.kernel.words.text import Terms, numbers, sentences, stem, terms, times

Floats = NDArray[np.float32]

# Tables are units by passages by features: ten thousand memories at once would not fit into memory.
MEMORIES_AT_ONCE = 256
LITTLE = np.float32(1e-6)
"""Keeps divisions by the weight of a text without words defined."""


@dataclass(frozen=True, slots=True)
class StatedUnit:
    """A statement, the words it was taken from, and the turns they stand in."""

    text: str
    quote: str = ""
    turns: str = ""


_MONTHS = "january february march april may june july august september october november december"
MONTHS = _MONTHS.split()
# "May" is the same short and long, and a verb besides. Of the others only those before a number are
# read as months: "mar 3", not "mar".
_SHORT_MONTHS = {month[:3]: month for month in MONTHS if month != "may"} | {"sept": "september"}
_ISO = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_SHORT_MONTH = re.compile(rf"\b({'|'.join(_SHORT_MONTHS)})\b\.?(?=\s+\d)", re.IGNORECASE)
_ORDINAL = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")
# En and figure dashes: "9-10 June" in print is two numbers, not one word.
_RANGE = re.compile(r"(?<=\d)[\u2012\u2013](?=\d)")


_SMALL = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_LARGE = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL_NUMBERS = {word: number for number, word in enumerate(_SMALL.split(), start=1)}
_TENS = {word: 10 * number for number, word in enumerate(_LARGE.split(), start=2)}
_NUMBER_WORD = re.compile(
    rf"\b(?:({'|'.join(_TENS)})(?:[ -]({'|'.join(_SMALL.split()[:9])}))?|"
    rf"({'|'.join(_SMALL_NUMBERS)}))\b",
    re.IGNORECASE,
)
_HALF_PAST = re.compile(r"\bhalf past (\d{1,2})\b")
# Not of a time with seconds, whose parts belong together.
_CLOCK = re.compile(r"\b0?(\d{1,2}):([0-5]\d)(?![:\d])")


def with_plain_numbers(text: str) -> str:
    """The text with dates as `9 june 2024`, numbers in digits and clock times as `8:30` or `8`,
    however it writes them."""
    # The order matters: an ISO date has to lose its hyphens before ranges are split, and "half past
    # eight" needs its eight as a digit.
    text = _ISO.sub(_spelled, text)
    text = _SHORT_MONTH.sub(lambda match: _SHORT_MONTHS[match[1].lower()], text)
    text = _RANGE.sub(" ", _ORDINAL.sub(r"\1", text))
    text = _HALF_PAST.sub(r"\1:30", _NUMBER_WORD.sub(_digits, text))
    return _CLOCK.sub(
        lambda match: match[1] if match[2] == "00" else f"{match[1]}:{match[2]}", text
    )


def _digits(match: re.Match[str]) -> str:
    tens, unit, small = ((part or "").lower() for part in match.groups())
    return str(_TENS.get(tens, 0) + _SMALL_NUMBERS.get(unit or small, 0))


def _spelled(match: re.Match[str]) -> str:
    year, month, day = match.groups()
    if not 1 <= int(month) <= len(MONTHS):
        return match[0]
    return " ".join([*([str(int(day))] if day else []), MONTHS[int(month) - 1], year])


# Where the rule for sentences sees none: after a semicolon, after a number that ends a sentence
# (which may be an abbreviation elsewhere), and around a dash between words.
_CLAUSE = re.compile(r"(?<=;)\s+|(?<=\d\.)\s+(?=[A-Z])|(?<!\s)\s+[\u2014\u2013-]\s+")
_HEAD = re.compile(r"\s*(?:\[[^\]]{1,30}\]\s*)?(?:[^\s:][^:\n]{0,40}:\s+)+")
LEAST_TERMS = 3
"""A shorter clause goes with the next one."""
LONGEST_HEAD = 9
"""Words before a colon that are about everything after it: a heading, a speaker with a date."""


def passages(text: str) -> tuple[str, list[str]]:
    """The head of a text, which every passage has, and its sentences and clauses."""
    match = _HEAD.match(text)
    head = match[0] if match and len(match[0].split()) <= LONGEST_HEAD else ""
    rest = text[len(head) :]
    if not rest.strip():
        head, rest = "", text
    pieces: list[list[str]] = []
    held: Terms = frozenset()  # of the last piece, which may go on for the whole text
    # `held` are the terms of the last piece; a piece is open for more while it has fewer than
    # three, so that "Yes. On Monday." does not stand alone.
    for sentence in sentences(rest):
        for clause in _CLAUSE.split(sentence):
            new_terms = terms(clause)
            if not new_terms:
                continue
            if pieces and len(held) < LEAST_TERMS:
                pieces[-1].append(clause)
                held |= new_terms
            else:
                pieces.append([clause])
                held = new_terms
    return head, [" ".join(piece) for piece in pieces] or [rest]


NEGATION = re.compile(
    r"\b(?:no|not|never|without|neither|nor|none|nothing|nobody|cannot|stop(?:ped|s)?|cancel\w*|"
    r"quit|avoid\w*|refus\w*|dropped|gave up|given up|instead)\b|n['\u2019]t\b|[不没沒别別无未]",
    re.IGNORECASE,
)
INTENTION = re.compile(
    r"\b(?:plan(?:s|ning|ned)?|will|wants?|hop(?:es?|ing)|intends?|going to|would like|"
    r"thinking (?:of|about)|considering|wish(?:es)?|next|upcoming|booked|dreams?|"
    r"looking (?:into|forward))\b|打算|计划|准备|希望",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z][A-Za-z'\u2019]*")
_GENITIVE = re.compile(r"['\u2019]s?$")


def form_of(text: str) -> str:
    """How a memory is written: stores differ in that, and the judge errs with it."""
    if passages(text)[0]:
        return "under a heading"
    # Roughly the entries of profiles, single facts, and summaries.
    words = len(text.split())
    return "short" if words <= 12 else "sentence" if words <= 45 else "long"


def names_in(texts: Iterable[str]) -> Terms:
    """Words that are capitalised wherever they stand, and not only to begin a sentence."""
    inside, first, small = Counter[str](), Counter[str](), Counter[str]()
    for text in texts:
        for sentence in sentences(text):
            for place, word in enumerate(_WORD.findall(sentence)):
                bare = _GENITIVE.sub("", word)
                where = small if not bare[:1].isupper() else inside if place else first
                where[bare.casefold()] += 1
    # A word that begins sentences only counts from three times on: "Yesterday" does so once or
    # twice.
    capital = {
        word for word in inside | first if not small[word] and (inside[word] or first[word] >= 3)
    }
    stems = frozenset(stem(word) for word in capital if terms(word))
    return stems - times(stems)


# Stems of one word often differ (counselling, counsellor); longer prefixes miss those, and shorter
# ones join words that have nothing in common.
def _prefix(term: str) -> str:
    """Five letters: counsel, counselling and counsellor have one prefix."""
    return term if any(character.isdigit() for character in term) else term[:5]


def _is_time(term: str) -> bool:
    is_year = len(term) == 4 and term.isdigit() and term[:2] in ("19", "20")
    return is_year or bool(times(frozenset([term])))


def _rarity(sets: Sequence[Terms], vocabulary: Sequence[str], least: float) -> Floats:
    having = Counter(term for terms_of_one in sets for term in terms_of_one)
    number = len(sets) + 1
    raw = [np.log(number / (having[term] + 0.5)) for term in vocabulary]
    return np.maximum(np.array(raw, np.float32), np.float32(least))


def _table(sets: Sequence[Iterable[str]], place: dict[str, int]) -> Floats:
    """1 where a set has a term."""
    table = np.zeros((len(sets), len(place)), np.float32)
    for row, terms_of_one in enumerate(sets):
        table[row, [place[term] for term in terms_of_one if term in place]] = 1
    return table


def _share(wanted: Floats, weights: Floats, held: Floats) -> Floats:
    """Per row of `wanted` and of `held`, the weighted share of the wanted terms that are held."""
    weighted = wanted * weights
    shares: Floats = weighted @ held.T / np.maximum(weighted.sum(1, keepdims=True), LITTLE)
    return shares


def _precision(weighted: Floats, held: Floats, total: Floats) -> Floats:
    """The share of what is held that is wanted."""
    shares = weighted @ held.T / np.maximum(total, LITTLE)
    return shares.astype(np.float32)


class _Vocabulary:
    """Terms with their weights, as columns of tables."""

    def __init__(self, sets: Sequence[Terms], least: float, also: Iterable[str] = ()) -> None:
        # Sorted, here and below: sums of floats depend on their order, and the order of a set
        # changes from run to run.
        self.terms = sorted(set(also).union(*sets))
        self.place = {term: at for at, term in enumerate(self.terms)}
        self.weights = _rarity(sets, self.terms, least)
        # As rare as a word can be that no unit has, so that what a memory adds counts against its
        # precision.
        self.unseen = float(np.log((len(sets) + 1) / 0.5))

    def table(self, sets: Sequence[Iterable[str]]) -> Floats:
        return _table(sets, self.place)

    def total(self, sets: Sequence[Terms]) -> Floats:
        """The weight of all terms of each set, of those that no unit has too."""
        return np.array(
            [
                sum(
                    float(self.weights[self.place[term]]) if term in self.place else self.unseen
                    for term in sorted(terms_of_one)
                )
                for terms_of_one in sets
            ],
            np.float32,
        )


class _Passages:
    """The passages of some memories, as tables."""

    def __init__(self, memories: Sequence[str], words: _Vocabulary, is_name: NDArray[np.bool_]):
        self.whole = [terms(text) for text in memories]
        self.texts: list[str] = []
        self.has_head: list[bool] = []
        self.terms: list[Terms] = []
        owners: list[int] = []
        for place, text in enumerate(memories):
            head, pieces = passages(text)
            self.has_head.append(bool(head))
            self.texts += pieces
            self.terms += [terms(piece) | terms(head) for piece in pieces]
            owners += [place] * len(pieces)
        self.owner = np.array(owners)
        self.starts = np.searchsorted(self.owner, np.arange(len(memories)))
        self.memory = words.table(self.whole)
        self.said = words.table(self.terms)
        self.single, self.window = self.said.copy(), self.joined(self.said)
        for table in (self.single, self.window):  # a name may stand anywhere in the memory
            table[:, is_name] = self.memory[:, is_name][self.owner]

    def joined(self, table: Floats) -> Floats:
        """Every passage together with the next one of its memory."""
        follows = np.flatnonzero(self.owner[1:] == self.owner[:-1])
        window = table.copy()
        window[follows] = np.maximum(table[follows], table[follows + 1])
        return window

    def best(self, score: Floats) -> NDArray[np.int64]:
        """Per unit and memory, the passage with the highest score; the first of equals."""
        ends = np.append(self.starts[1:], len(self.owner))
        columns = [
            start + score[:, start:end].argmax(1)
            for start, end in zip(self.starts.tolist(), ends.tolist(), strict=True)
        ]
        return np.stack(columns, axis=1)


class PairFeatures:
    """The numbers of all pairs of memories with the units of one package."""

    def __init__(self, units: Sequence[StatedUnit]) -> None:
        self.units = tuple(units)
        self._said = [with_plain_numbers(unit.text) for unit in units]
        quotes = [with_plain_numbers(unit.quote or unit.text) for unit in units]
        self._terms = [terms(text) for text in self._said]
        self._words = words = _Vocabulary(self._terms, 0.3)
        self._wanted = words.table(self._terms)
        self._quoted = words.table([terms(text) for text in quotes])
        called = self._names = names_in([*self._said, *quotes])
        self._is_name = np.array([term in called for term in words.terms], bool)
        self._is_number = np.array([bool(numbers(frozenset([t]))) for t in words.terms], bool)
        self._is_time = np.array([_is_time(term) for term in words.terms], bool)
        beginnings = [frozenset(map(_prefix, known)) for known in self._terms]
        self._prefixes = _Vocabulary(beginnings, 0.3)
        self._wanted_prefixes = self._prefixes.table(beginnings)
        turns = [
            terms(with_plain_numbers(unit.turns or f"{unit.quote} {unit.text}")) for unit in units
        ]
        self._turn_words = _Vocabulary(turns, 0.2, words.terms)
        self._turns = self._turn_words.table(turns)
        self._subjects = self._first_names()

    def _first_names(self) -> list[str | None]:
        """Whom each unit is about: the first name in it, if several units begin with that one."""
        first = [
            next((name for word in _WORD.findall(text) if (name := _name(word)) in self._names), "")
            for text in self._said
        ]
        # The people of a conversation begin most of its units; whoever begins fewer is only
        # mentioned.
        often = max(2.0, 0.08 * len(first))
        return [name if name and first.count(name) >= often else None for name in first]

    def tables(self, memories: Sequence[str]) -> Iterator[tuple[slice, Floats]]:
        """Parts of the memories, and the numbers of their pairs: units by memories by features."""
        for start in range(0, len(memories), MEMORIES_AT_ONCE):
            part = slice(start, min(start + MEMORIES_AT_ONCE, len(memories)))
            texts = [with_plain_numbers(text) for text in memories[part]]
            numbers_of = self._features(texts)
            yield part, np.stack([numbers_of[name] for name in FEATURES], axis=-1)

    def _features(self, memories: Sequence[str]) -> dict[str, Floats]:
        words, wanted = self._words, self._wanted
        held = _Passages(memories, words, self._is_name)
        no_names = words.weights * ~self._is_name
        plain = no_names * ~(self._is_number | self._is_time)
        all_words = _share(wanted, words.weights, held.window)
        content = _share(wanted, no_names, held.window)
        single = _share(wanted, words.weights, held.single)
        # Names hardly choose the passage, since they may stand anywhere in the memory. The judge's
        # file was fitted to passages that were chosen by these weights; others need a new file.
        at = held.best(0.7 * content + 0.3 * _share(wanted, no_names, held.single) + 0.2 * single)

        def there(table: Floats) -> Floats:
            return np.take_along_axis(table, at, 1)

        shape = at.shape
        columns = {
            "content": there(content),
            "recall": there(all_words),
            "plain words": there(_share(wanted, plain, held.window)),
            "quote": there(_share(self._quoted, words.weights, held.joined(held.said))),
            "precision": there(
                _precision(wanted * words.weights, held.said, words.total(held.terms))
            ),
            "prefixes": there(self._prefixes_shared(held)),
            "unit size": _rows(np.log1p(wanted.sum(1)), shape),
            "has head": _columns(held.has_head, shape),
            "memory size": _columns([np.log1p(len(known)) for known in held.whole], shape),
            "passage size": np.array([np.log1p(len(known)) for known in held.terms])[at],
        }
        columns |= self._lost(held, at)
        columns |= self._special_terms(held, at)
        columns |= self._people(held, shape)
        for name, pattern in (("negation", NEGATION), ("intention", INTENTION)):
            mine = _rows([bool(pattern.search(unit.text)) for unit in self.units], shape) > 0
            theirs = np.array([bool(pattern.search(text)) for text in held.texts])[at]
            columns[f"{name} lost"], columns[f"{name} added"] = mine & ~theirs, ~mine & theirs
        score = 0.5 * all_words + 0.5 * content
        columns |= {name: there(table) for name, table in _rivals("passage", score).items()}
        columns |= self._turn_features(held, at)
        return {name: np.asarray(value, np.float32) for name, value in columns.items()}

    def _prefixes_shared(self, held: _Passages) -> Floats:
        words = self._prefixes
        window = held.joined(words.table([set(map(_prefix, known)) for known in held.terms]))
        return _share(self._wanted_prefixes, words.weights, window)

    def _lost(self, held: _Passages, at: NDArray[np.int64]) -> dict[str, Floats]:
        """The weights of the two rarest words of the unit that the passage lacks."""
        rarest, second = np.zeros(at.shape, np.float32), np.zeros(at.shape, np.float32)
        for unit, row in enumerate(self._wanted):
            own = np.flatnonzero(row)
            if not own.size:
                continue
            window = held.window[at[unit][:, None], own]
            lost = np.sort((1 - window) * self._words.weights[own], axis=1)
            rarest[unit] = lost[:, -1]
            if own.size > 1:
                second[unit] = lost[:, -2]
        top = max(self._words.unseen, 1e-6)
        return {"rarest lost": rarest / top, "second lost": second / top}

    def _special_terms(self, held: _Passages, at: NDArray[np.int64]) -> dict[str, Floats]:
        """Names, numbers and times: lost, all there, or others in their place."""
        kinds = (
            ("names", self._is_name, held.memory, [len(t & self._names) for t in held.whole]),
            ("numbers", self._is_number, held.window, [len(numbers(t)) for t in held.terms]),
            ("times", self._is_time, held.window, [len(times(t)) for t in held.terms]),
        )
        columns = {}
        for name, mask, table, counts in kinds:
            mine = self._wanted[:, mask]
            both = mine @ table[:, mask].T
            present_by_owner = np.array(counts, np.float32)
            if name == "names":
                present = _columns(present_by_owner, at.shape)
            else:
                both, present = np.take_along_axis(both, at, 1), present_by_owner[at]
            has = _rows(mine.sum(1), at.shape)
            # Capped, because the model is linear: a list of twenty dates would outweigh everything
            # else.
            columns[f"{name} wanted"] = np.minimum(has, 3)
            columns[f"{name} lost"] = np.minimum(has - both, 3)
            columns[f"{name} all there"] = (has > 0) & (both == has)
            columns[f"{name} differ"] = (has > both) & (present > both)
        return columns

    def _people(self, held: _Passages, shape: tuple[int, ...]) -> dict[str, Floats]:
        """Whether the memory names whom the unit is about, somebody else, or nobody."""
        people = sorted({name for name in self._subjects if name})
        named = {name: np.array([name in known for known in held.whole]) for name in people}
        anybody = np.any(list(named.values()), axis=0) if people else np.zeros(shape[1], bool)
        mine = np.array(
            [named[name] if name else np.ones(shape[1], bool) for name in self._subjects]
        )
        return {
            "subject named": mine,
            "nobody named": ~mine & ~anybody,
            "other named": ~mine & anybody,
        }

    def _turn_features(self, held: _Passages, at: NDArray[np.int64]) -> dict[str, Floats]:
        """How much of the passage stands in the turns that the unit comes from."""
        words = self._turn_words
        held_words, weighted = words.table(held.terms), self._turns * words.weights
        share = _precision(weighted, held_words, words.total(held.terms))
        weight = np.minimum(weighted @ held_words.T, 30).astype(np.float32) / np.float32(10)
        tables = {"turn share": share, "turn weight": weight, **_rivals("turn", share)}
        return {name: np.take_along_axis(table, at, 1) for name, table in tables.items()}


def _name(word: str) -> str:
    return stem(_GENITIVE.sub("", word).casefold())


def _rows(values: Iterable[float], shape: tuple[int, ...]) -> Floats:
    return np.broadcast_to(np.array(list(values), np.float32)[:, None], shape)


def _columns(values: Iterable[float], shape: tuple[int, ...]) -> Floats:
    return np.broadcast_to(np.array(list(values), np.float32)[None], shape)


def _margin_and_rank(score: Floats) -> tuple[Floats, Floats]:
    """By how much a unit beats the best other unit in its column, and its place there."""
    if len(score) < 2:
        return score.copy(), np.zeros_like(score)
    second, first = np.partition(score, -2, axis=0)[-2:]
    margin = np.where(score >= first, score - second, score - first)
    order = np.argsort(np.argsort(-score, axis=0, kind="stable"), axis=0, kind="stable")
    return margin, np.log1p(order).astype(np.float32)


def _rivals(name: str, score: Floats) -> dict[str, Floats]:
    """How a unit compares with the other units for the same passage or memory."""
    margin, rank = _margin_and_rank(score)
    # The small number keeps columns without any variation from being divided by 0.
    spread = (score - score.mean(0)) / (score.std(0) + np.float32(0.02))
    return {f"{name} margin": margin, f"{name} rank": rank, f"{name} spread": spread}


FEATURES = (
    *("content", "recall", "plain words", "quote", "precision", "prefixes"),
    *("unit size", "has head", "memory size", "passage size", "rarest lost", "second lost"),
    *(
        f"{special} {what}"
        for special in ("names", "numbers", "times")
        for what in ("wanted", "lost", "all there", "differ")
    ),
    *("subject named", "nobody named", "other named"),
    *("negation lost", "negation added", "intention lost", "intention added"),
    *("passage margin", "passage rank", "passage spread"),
    *("turn share", "turn weight", "turn margin", "turn rank", "turn spread"),
)
"""The columns in order. A judge's file names them: another order or set needs a new file."""
