"""Lists of seeds as text: 500, 7-9,12."""

import re
from itertools import chain

from memaudit.kernel.errors import MemAuditError

MAX_SEED = 100_000_000
_SEEDS = re.compile(r"([0-9]+)(?:-([0-9]+))?")


def seed_ranges(seeds: tuple[int, ...]) -> str:
    """Seeds as written on the command line: 0-499,900."""
    parts: list[list[int]] = []
    for seed in seeds:
        if parts and seed == parts[-1][1] + 1:
            parts[-1][1] = seed
        else:
            parts.append([seed, seed])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def parse_seeds(text: str) -> tuple[int, ...]:
    """`500` means the first 500 seeds, `7-9,12` those seeds, `7,` the one seed 7."""
    return tuple(chain.from_iterable(parse_seed_ranges(text)))


def parse_seed_ranges(text: str) -> list[range]:
    """The same as ranges, because a short text can name more seeds than fit into memory."""
    if _SEEDS.fullmatch(text) and "-" not in text:
        text = f"0-{_seed(text, text) - 1}" if _seed(text, text) else ""
    ranges: list[range] = []
    count = 0
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _SEEDS.fullmatch(part)
        if match is None:
            raise MemAuditError(
                f"cannot read seeds {text[:60]!r}; write a number of seeds such as 500, or 7-9,12"
            )
        start, end = _seed(match[1], text), _seed(match[2] or match[1], text)
        ranges.append(range(start, end + 1))
        count += len(ranges[-1])
        if max(end, count - 1) >= MAX_SEED:
            raise _too_many(text)
    return ranges


def _seed(digits: str, text: str) -> int:
    if len(digits) > len(str(MAX_SEED)):
        raise _too_many(text)
    return int(digits)


def _too_many(text: str) -> MemAuditError:
    return MemAuditError(f"seeds {text[:60]!r} are too many or too large; stay below {MAX_SEED}")
