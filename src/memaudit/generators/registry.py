"""Every distribution by name; a published one is a file in `tables/` and a line here."""

from memaudit.core.errors import MemAuditError
from memaudit.generators.protocol import Distribution
from memaudit.generators.published import Published

PUBLISHED = (
    "base",
    "update_chain",
    "temporal_interval",
    "density_trap",
    "scope_shift",
    "redundancy_heavy",
    "summary_tradeoff",
    "abstention_hard",
)
DISTRIBUTIONS: dict[str, Distribution] = {name: Published(name) for name in PUBLISHED}


def named_distribution(name: str) -> Distribution:
    """The distribution of that name, or an error that lists them."""
    if name not in DISTRIBUTIONS:
        known = ", ".join(DISTRIBUTIONS)
        raise MemAuditError(f"unknown distribution {name!r}; known distributions: {known}")
    return DISTRIBUTIONS[name]
