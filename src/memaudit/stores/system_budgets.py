"""Limits that memory systems put on what their reader sees, as budgets with a cost rule.

Every limit has its source and the month it was looked up. A rule measures what an entry takes in
the system's own file: its text, and the marks between entries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.score.result import ScoreResult, StoreScore


@dataclass(frozen=True, slots=True)
class Limit:
    """So much of a file of this name is read; an empty name is any file."""

    system: str
    file: str
    most: int
    unit: str
    rule: str
    """The cost rule that measures entries in this unit."""
    source: str
    looked_up: str

    @property
    def text(self) -> str:
        return f"{self.system}, {self.most:,} {self.unit}"


CLAUDE_CODE = "Claude Code, memory documentation: the first 200 lines or 25 KB of MEMORY.md"
HERMES = "hermes-agent, tools/memory_tool.py"
LIBRECHAT = "LibreChat, memory.tokenLimit in librechat.yaml; tokens of o200k_base"

LIMITS: Sequence[Limit] = (
    Limit("claude-code", "MEMORY.md", 200, "lines", "lines", CLAUDE_CODE, "autumn 2026"),
    Limit("claude-code", "MEMORY.md", 25 * 1024, "bytes", "utf8+3", CLAUDE_CODE, "autumn 2026"),
    Limit("hermes", "MEMORY.md", 2200, "characters", "characters+3", HERMES, "autumn 2026"),
    Limit("hermes-user", "USER.md", 1375, "characters", "characters+3", HERMES, "autumn 2026"),
    Limit(
        "openclaw",
        "",
        20_000,
        "characters",
        "characters+3",
        "OpenClaw, issue 45415: about 20,000",
        "autumn 2026",
    ),
    Limit(
        "letta-core",
        "",
        20_000,
        "characters",
        "characters+1",
        "letta 0.16.8, constants.py: CORE_MEMORY_HUMAN_CHAR_LIMIT",
        "2026-11",
    ),
)
TOKENS = "librechat"
"""Its limit is a setting: librechat:2000."""

SYSTEMS = (*dict.fromkeys(limit.system for limit in LIMITS), f"{TOKENS}:TOKENS")


def named_limits(name: str) -> list[Limit]:
    """The limits of a system."""
    system, colon, tokens = name.partition(":")
    if system == TOKENS:
        if not tokens.isdecimal() or not 0 < int(tokens) < 10**9:
            raise MemAuditError(f"{name!r}: write the tokenLimit behind it, such as {TOKENS}:2000")
        rule = "tokens:tiktoken/o200k_base"
        return [Limit(TOKENS, "", int(tokens), "tokens", rule, LIBRECHAT, "2026-11")]
    found = [] if colon else [limit for limit in LIMITS if limit.system == name]
    if not found:
        raise MemAuditError(f"no limits of {name!r} are known; known: {', '.join(SYSTEMS)}")
    return found


def is_limit(budget: str) -> bool:
    """Whether a budget is the name of a system: every other budget is a number or own."""
    system = budget.partition(":")[0]
    return system == TOKENS or any(limit.system == system for limit in LIMITS)


@dataclass(frozen=True, slots=True)
class UnderLimits:
    """One store under every limit of a system, each solved by itself."""

    store: str
    limits: tuple[Limit, ...]
    rows: tuple[StoreScore, ...]

    @property
    def score(self) -> Fraction | None:
        """What is kept under all limits, over the smallest optimum: at least the score under all
        of them together, since no store that meets all is worth more than any of the optima.

        A file is read from the top, so under several limits the shortest part counts.
        """
        # Without proof an optimum may be too low, and the score too high.
        if not all(row.optimum.certified and row.optimum.value for row in self.rows):
            return None
        kept = min(row.numbers.kept.worth.value for row in self.rows)
        return kept / min(row.optimum.value for row in self.rows)

    @property
    def tightest(self) -> int:
        """The place of the limit with the smallest optimum."""
        return min(range(len(self.rows)), key=lambda place: self.rows[place].optimum.value)


def under_limits(limits: Sequence[Limit], results: Sequence[ScoreResult]) -> list[UnderLimits]:
    """Per store, its rows under every limit."""
    stores = [row.store for row in results[0].rows]
    return [
        UnderLimits(store, tuple(limits), tuple(result.rows[at] for result in results))
        for at, store in enumerate(stores)
    ]


def better_file(result: ScoreResult, row: StoreScore) -> str:
    """The memories of the optimum as a list, in the order of the conversation."""
    package = result.union
    index = {experience.id: experience.index for experience in package.experiences}
    chosen = sorted(
        (package.candidate[id] for id in row.optimum.store),
        key=lambda candidate: (index[candidate.experience], candidate.id),
    )
    return "".join(f"- {' '.join(candidate.text.split())}\n" for candidate in chosen)
